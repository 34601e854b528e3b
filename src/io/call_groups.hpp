#pragma once

#include "io/call_names.hpp"
#include "plan/call_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::io {

/// The largest number of ranks in a list of calls.
inline constexpr std::int64_t kMostCallRanks = 1 << 20;

/// Who is in the groups of a list of calls.
class CallGroups {
  public:
    CallGroups(plan::CallList& list, CallNames& names) : list_(list), names_(names) {}

    /// The members of the group of that name, as all ranks see them or, where another list is known, as
    /// `rank` does. `place`: for errors.
    void declare(const std::string& name, std::span<const std::int64_t> ranks, std::size_t rank,
                 const std::string& place);
    /// A group without a name, which is called by its members.
    std::uint32_t listed(std::span<const std::int64_t> ranks, const std::string& place);
    /// "world" is all ranks where nobody says otherwise. Throws InputError for a member without calls.
    void finish();

  private:
    /// Where a group got members, of which the largest is checked once all ranks are known.
    struct Declared {
        std::uint32_t group, largest;
        std::string place;
    };

    plan::CallList& list_;
    CallNames& names_;
    std::vector<Declared> declared_{};
};

}  // namespace tutti::io

#pragma once

#include "io/call_groups.hpp"
#include "io/call_list_place.hpp"
#include "io/call_names.hpp"
#include "io/json_text.hpp"
#include "plan/call_list.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tutti::io {

/// Reads the calls of a list, one after the other, and checks that each has the fields of its kind.
class CallReader {
  public:
    CallReader(plan::CallList& list, CallNames& names, CallGroups& groups, const CallListPlace& place)
        : list_(list), names_(names), groups_(groups), place_(place) {}

    /// A whole number at the current place.
    [[nodiscard]] std::int64_t integer(const Json& value, std::int64_t least, std::int64_t most) const;

    void begin();
    /// The value of the current field.
    void take(const Json& value);
    /// A number of the current field's list.
    [[nodiscard]] std::int64_t number_in_list(const Json& value) const;
    void end_list();
    /// Adds the call to the last rank.
    void end();

    /// By field of a call: which were there.
    std::uint32_t seen = 0;

  private:
    [[nodiscard]] plan::RankCalls& rank() { return list_.ranks.back(); }
    [[nodiscard]] std::string text(const Json& value) const;
    [[nodiscard]] plan::CallKind kind(const Json& value) const;
    [[nodiscard]] bool gives(CallField field) const {
        return (seen & (1U << static_cast<unsigned>(field))) != 0;
    }
    void need(CallField field, bool allowed, bool required) const;
    void check_fields() const;
    [[noreturn]] void refuse(const std::string& message) const;

    plan::CallList& list_;
    CallNames& names_;
    CallGroups& groups_;
    const CallListPlace& place_;
    plan::Call call_{};
    std::vector<std::int64_t> sent_{}, received_{};
    std::size_t all_calls_ = 0;
};

}  // namespace tutti::io

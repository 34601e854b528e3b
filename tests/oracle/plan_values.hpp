#pragma once

#include "plan/condition.hpp"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tutti::oracle {

/// The number of a sum: a multiset of contributions, or undefined, or something that poison went into.
using Value = std::uint16_t;

/// All sums that came up, each once, so that states compare by numbers.
class Values {
  public:
    static constexpr Value kNothing = 0, kUndefined = 1, kPoison = 2;

    Values();
    [[nodiscard]] Value of(std::int32_t rank, std::int64_t chunk);
    [[nodiscard]] Value of(const std::vector<plan::Contribution>& contributions);
    /// Undefined with anything is undefined; poison stays visible through everything.
    [[nodiscard]] Value sum(Value a, Value b);
    [[nodiscard]] bool poisoned(Value value) const;

  private:
    using Sum = std::map<plan::Contribution, std::uint64_t>;
    Value number_of(Sum sum);

    std::vector<Sum> sums_{};
    std::map<Sum, Value> numbers_{};
    std::map<std::pair<Value, Value>, Value> added_{};
};

}  // namespace tutti::oracle

#include "tests/oracle/plan_values.hpp"

#include <limits>
#include <stdexcept>

namespace tutti::oracle {
namespace {

constexpr plan::Contribution kUndefinedMark{Rank(0xFFFFFFFF), 0}, kPoisonMark{Rank(0xFFFFFFFE), 0};

}  // namespace

Values::Values() {
    number_of({});
    number_of({{kUndefinedMark, 1}});
    number_of({{kPoisonMark, 1}});
}

Value Values::of(std::int32_t rank, std::int64_t chunk) {
    return number_of({{{Rank(static_cast<std::size_t>(rank)), chunk}, 1}});
}

Value Values::of(const std::vector<plan::Contribution>& contributions) {
    Sum sum;
    for (const plan::Contribution& contribution : contributions) ++sum[contribution];
    return number_of(std::move(sum));
}

Value Values::sum(Value a, Value b) {
    if (a > b) std::swap(a, b);
    const auto known = added_.find({a, b});
    if (known != added_.end()) return known->second;
    Sum sum = sums_[a];
    for (const auto& [contribution, times] : sums_[b]) sum[contribution] += times;
    const bool is_undefined = sum.contains(kUndefinedMark), is_poisoned = sum.contains(kPoisonMark);
    if (is_undefined) sum.clear();
    if (is_undefined) sum[kUndefinedMark] = 1;
    if (is_poisoned) sum[kPoisonMark] = 1;
    const Value number = number_of(std::move(sum));
    added_[{a, b}] = number;
    return number;
}

bool Values::poisoned(Value value) const { return sums_[value].contains(kPoisonMark); }

Value Values::number_of(Sum sum) {
    const auto known = numbers_.find(sum);
    if (known != numbers_.end()) return known->second;
    if (sums_.size() >= std::numeric_limits<Value>::max()) throw std::length_error("too many values");
    const auto number = static_cast<Value>(sums_.size());
    sums_.push_back(sum);
    numbers_.emplace(std::move(sum), number);
    return number;
}

}  // namespace tutti::oracle

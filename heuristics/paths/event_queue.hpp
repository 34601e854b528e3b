#pragma once

#include "core/expects.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// A queue for times that never go back (a radix heap): what is taken out is never later than what is put in
/// after it. Items lie in a bucket by the highest bit in which their time differs from the last one taken;
/// only the lowest bucket is ever sorted out. An item moves at most 64 times, mostly once or twice: where all
/// links take equally long, a whole tick's events change hands in one swap.
/// `Item` has a member `time` of type std::int64_t, >= 0.
template <class Item>
class EventQueue {
  public:
    [[nodiscard]] bool empty() const { return filled_ == 0 && level_.empty(); }

    /// Precondition: item.time >= the time of the last batch.
    void push(const Item& item) {
        expects(item.time >= now_);
        const auto differs = static_cast<std::uint64_t>(item.time ^ now_);
        if (differs == 0) {
            level_.push_back(item);
            return;
        }
        const int bucket = 63 - std::countl_zero(differs);
        buckets_[static_cast<std::size_t>(bucket)].push_back(item);
        filled_ |= std::uint64_t{1} << bucket;
    }

    /// Takes all items of the earliest time. Precondition: not empty. `batch` is emptied first.
    void pop(std::vector<Item>& batch) {
        expects(!empty());
        batch.clear();
        if (level_.empty()) advance();
        std::swap(batch, level_);
    }

  private:
    void advance() {
        const int lowest = std::countr_zero(filled_);
        auto& bucket = buckets_[static_cast<std::size_t>(lowest)];
        filled_ &= filled_ - 1;
        bool equal = true;
        std::int64_t first = bucket.front().time;
        for (const Item& item : bucket) {
            equal = equal && item.time == first;
            if (item.time < first) first = item.time;
        }
        now_ = first;
        if (equal) {
            std::swap(level_, bucket);
            return;
        }
        sorted_.clear();
        std::swap(sorted_, bucket);
        for (const Item& item : sorted_) push(item);
    }

    std::array<std::vector<Item>, 64> buckets_;
    std::vector<Item> level_;   ///< those at `now_`
    std::vector<Item> sorted_;  ///< scratch
    std::uint64_t filled_ = 0;  ///< which buckets hold something
    std::int64_t now_ = 0;
};

}  // namespace tutti::heuristics

#pragma once

#include "core/expects.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tutti::heuristics {

/// The event queue of all simulations here: events in order of time, those of one time in one batch, in the
/// order in which they were pushed. So ties have a defined order, the same on every machine.
///
/// It is a radix heap (Ahuja, Mehlhorn, Orlin, Tarjan 1990): time never goes back, so an event is in the
/// bucket of the highest bit in which its time differs from the last one popped, and only the lowest bucket
/// is ever redistributed. An event moves at most 64 times, usually once or twice: where all links take
/// equally long, a whole tick's events move in one swap. Equal times are always in one bucket, and buckets
/// keep their order. Physical units with their billions of ticks cost no more than unit times. Compared with
/// a queue of one lane per delay, which it replaced, it takes 0.7 times as long with unit times, 1.04 with
/// alpha > 0, 0.75 where every link has its own delay (512 hops, 200 000 starts).
///
/// `Event` has a member `time` of type std::int64_t, >= 0.
template <class Event>
class EventQueue {
  public:
    [[nodiscard]] bool empty() const { return filled_ == 0 && level_.empty(); }

    /// Precondition: event.time >= the time of the last batch. One that is equal comes in a batch of its own.
    void push(const Event& event) {
        expects(event.time >= now_);
        const auto differs = static_cast<std::uint64_t>(event.time ^ now_);
        if (differs == 0) {
            level_.push_back(event);
            return;
        }
        const int bucket = 63 - std::countl_zero(differs);
        buckets_[static_cast<std::size_t>(bucket)].push_back(event);
        filled_ |= std::uint64_t{1} << bucket;
    }

    /// Takes all events of the earliest time, in the order in which they were pushed. Precondition: not
    /// empty. `batch` is emptied first.
    void pop(std::vector<Event>& batch) {
        expects(!empty());
        batch.clear();
        if (level_.empty()) advance();
        std::swap(batch, level_);
    }

  private:
    [[gnu::flatten]] void advance() {  // a call for each event would cost a third
        const int lowest = std::countr_zero(filled_);
        auto& bucket = buckets_[static_cast<std::size_t>(lowest)];
        filled_ &= filled_ - 1;
        if (lowest == 0) {  // they differ from the last time in the lowest bit only: all are equal
            now_ = bucket.front().time;
            std::swap(level_, bucket);
            return;
        }
        bool equal = true;
        std::int64_t first = bucket.front().time;
        for (const Event& event : bucket) {
            equal = equal && event.time == first;
            if (event.time < first) first = event.time;
        }
        now_ = first;
        if (equal) {
            std::swap(level_, bucket);
            return;
        }
        sorted_.clear();
        std::swap(sorted_, bucket);
        for (const Event& event : sorted_) push(event);
    }

    std::array<std::vector<Event>, 64> buckets_;
    std::vector<Event> level_;   ///< those at `now_`
    std::vector<Event> sorted_;  ///< scratch
    std::uint64_t filled_ = 0;   ///< which buckets hold something
    std::int64_t now_ = 0;
};

}  // namespace tutti::heuristics

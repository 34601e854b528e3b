#pragma once

#include "core/expects.hpp"
#include "core/rng.hpp"
#include "core/ticks.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace tutti::heuristics {

/// Events in order of time, those of one tick together. Many events share their tick, so the heap holds each
/// tick once and a hash table leads to its events: O(1) an event, O(log ticks) a tick.
template <class Event>
class EventTimes {
  public:
    [[nodiscard]] bool empty() const { return ticks_.empty(); }

    void push(Ticks when, const Event& event) {
        if (2 * (ticks_.size() + 1) > places_.size()) grow();
        Place& place = places_[find(when)];
        if (place.bucket == kNone) {
            place = {when, new_bucket()};
            ticks_.push_back(when);
            std::ranges::push_heap(ticks_, std::greater<>());
        }
        buckets_[place.bucket].push_back(event);
    }

    /// The first tick that has events, which it moves into `events`. Precondition: not empty().
    Ticks pop(std::vector<Event>& events) {
        expects(!empty());
        const Ticks when = ticks_.front();
        std::ranges::pop_heap(ticks_, std::greater<>());
        ticks_.pop_back();
        const std::size_t i = find(when);
        const std::uint32_t bucket = places_[i].bucket;
        events.clear();
        events.swap(buckets_[bucket]);
        spare_.push_back(bucket);
        erase(i);
        return when;
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    struct Place {
        Ticks when;
        std::uint32_t bucket = kNone;
    };

    [[nodiscard]] std::size_t home(Ticks when) const {
        return Rng(static_cast<std::uint64_t>(when.count())).next() & (places_.size() - 1);
    }
    [[nodiscard]] std::size_t find(Ticks when) const {
        std::size_t i = home(when);
        while (places_[i].bucket != kNone && places_[i].when != when) i = (i + 1) & (places_.size() - 1);
        return i;
    }
    /// Moves up what would no longer be found behind the hole.
    void erase(std::size_t hole) {
        const std::size_t mask = places_.size() - 1;
        places_[hole].bucket = kNone;
        for (std::size_t i = (hole + 1) & mask; places_[i].bucket != kNone; i = (i + 1) & mask) {
            if (((i - home(places_[i].when)) & mask) < ((i - hole) & mask)) continue;
            places_[hole] = places_[i];
            places_[i].bucket = kNone;
            hole = i;
        }
    }
    void grow() {
        std::vector<Place> old(std::max<std::size_t>(64, 2 * places_.size()));
        old.swap(places_);
        for (const Place& place : old) {
            if (place.bucket != kNone) places_[find(place.when)] = place;
        }
    }
    std::uint32_t new_bucket() {
        if (spare_.empty()) {
            buckets_.emplace_back();
            return static_cast<std::uint32_t>(buckets_.size() - 1);
        }
        const std::uint32_t bucket = spare_.back();
        spare_.pop_back();
        return bucket;
    }

    std::vector<Ticks> ticks_;   ///< a heap
    std::vector<Place> places_;  ///< a power of two, at most half full
    std::vector<std::vector<Event>> buckets_;
    std::vector<std::uint32_t> spare_;
};

}  // namespace tutti::heuristics

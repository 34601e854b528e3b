#pragma once

#include "core/expects.hpp"
#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <queue>
#include <span>
#include <vector>

namespace tutti::verify {

/// Sends in flight, for sends given in order of start. Those with equal transit time arrive in the order in
/// which they started, so each transit time has its own FIFO queue (lane), and nothing is sorted; a heap
/// holds the lanes by their first arrival. `Flight` has a member `start`.
template <class Flight>
class Lanes {
  public:
    /// `transits` must outlive the lanes.
    explicit Lanes(const std::vector<Ticks>& transits) : transits_(transits), lanes_(transits.size()) {}

    /// Precondition: starts do not decrease.
    [[gnu::always_inline]] void push(std::uint32_t lane_number, const Flight& flight) {
        Lane& lane = lanes_[lane_number];
        if (lane.end - lane.begin == lane.ring.size() || !lane.waiting) [[unlikely]]
            prepare(lane, flight.start + transits_[lane_number], lane_number);
        expects(lane.begin == lane.end || back(lane).start <= flight.start);
        lane.ring[lane.end++ & (lane.ring.size() - 1)] = flight;
    }

    /// Removes what arrives at `tick` or before and passes it to `act` as spans, with the transit time.
    /// Lanes, and so ticks, are in no particular order.
    template <class Act>
    void arrive_until(Ticks tick, Act&& act) {
        while (!heads_.empty() && heads_.top().first <= tick) {
            const std::uint32_t number = heads_.top().second;
            heads_.pop();
            Lane& lane = lanes_[number];
            const Ticks transit = transits_[number];
            while (lane.begin != lane.end) {
                const std::span<const Flight> piece = arrived(lane, tick - transit);
                if (piece.empty()) break;
                act(piece, transit);
                lane.begin += piece.size();
            }
            lane.waiting = lane.begin != lane.end;
            if (lane.waiting) heads_.emplace(front(lane).start + transit, number);
        }
    }

    /// Removes what started at `start`, the latest start of all, and passes it to `act`.
    template <class Act>
    void undo(Ticks start, Act&& act) {
        for (Lane& lane : lanes_) {
            while (lane.begin != lane.end && back(lane).start == start) {
                act(back(lane));
                --lane.end;
            }
        }
        // A lane that is now empty stays in the heap until its entry is popped.
    }

    /// Removes everything for which `wanted` is true.
    template <class Wanted>
    void remove_if(Wanted&& wanted) {
        for (std::size_t number = 0; number < lanes_.size(); ++number) {
            Lane& lane = lanes_[number];
            std::size_t kept = lane.begin;
            for (std::size_t i = lane.begin; i != lane.end; ++i) {
                const Flight& flight = lane.ring[i & (lane.ring.size() - 1)];
                if (!wanted(flight, transits_[number])) lane.ring[kept++ & (lane.ring.size() - 1)] = flight;
            }
            lane.end = kept;
        }
    }

  private:
    struct Lane {
        std::vector<Flight> ring;  ///< its size is zero or a power of two
        std::size_t begin = 0, end = 0;
        bool waiting = false;  ///< in heads_, perhaps earlier than its first flight
    };

    [[nodiscard]] static const Flight& front(const Lane& lane) {
        return lane.ring[lane.begin & (lane.ring.size() - 1)];
    }
    [[nodiscard]] static const Flight& back(const Lane& lane) {
        return lane.ring[(lane.end - 1) & (lane.ring.size() - 1)];
    }
    /// The first contiguous flights that started at `start` or before.
    [[nodiscard]] static std::span<const Flight> arrived(const Lane& lane, Ticks start) {
        const std::size_t from = lane.begin & (lane.ring.size() - 1);
        const std::size_t count = std::min(lane.end - lane.begin, lane.ring.size() - from);
        const auto piece = std::span(lane.ring).subspan(from, count);
        if (piece.back().start <= start) return piece;
        std::size_t some = 0;
        while (piece[some].start <= start) ++some;
        return piece.first(some);
    }
    /// Makes room for a flight, and adds the lane to the heap.
    [[gnu::noinline]] void prepare(Lane& lane, Ticks arrival, std::uint32_t number) {
        if (!lane.waiting) heads_.emplace(arrival, number);
        lane.waiting = true;
        if (lane.end - lane.begin == lane.ring.size()) grow(lane);
    }
    static void grow(Lane& lane) {
        std::vector<Flight> larger(std::max<std::size_t>(16, 2 * lane.ring.size()));
        for (std::size_t i = lane.begin; i != lane.end; ++i)
            larger[i & (larger.size() - 1)] = lane.ring[i & (lane.ring.size() - 1)];
        lane.ring = std::move(larger);
    }

    const std::vector<Ticks>& transits_;
    std::vector<Lane> lanes_;
    using Head = std::pair<Ticks, std::uint32_t>;
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads_;
};

}  // namespace tutti::verify

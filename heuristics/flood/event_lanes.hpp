#pragma once

#include "core/expects.hpp"
#include "core/ticks.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// Events in order of time, for a simulation whose delays are few. All events that happen the same delay
/// after they were caused share a **lane**: they are caused in order of time, so a lane is a plain queue, and
/// only the heads of the lanes that hold something are kept in a heap. Where many events fall on one tick the
/// heap costs nothing; with a tick of 1 ps and as many delays as links it is a heap of events.
template <class Event>
class EventLanes {
  public:
    explicit EventLanes(std::size_t lanes) : lanes_(lanes) { heads_.reserve(lanes); }

    [[nodiscard]] bool empty() const { return heads_.empty(); }
    /// Precondition: not empty.
    [[nodiscard]] Ticks next_tick() const {
        expects(!empty());
        return heads_.front().tick;
    }

    /// Precondition: no event of this lane is later.
    void push(std::size_t lane, Ticks tick, Event event) {
        Lane& queue = lanes_[lane];
        expects(queue.size == 0 || queue.last().tick <= tick);
        if (queue.size == 0) enter({tick, static_cast<std::uint32_t>(lane)});
        if (queue.size == queue.ring.size()) queue.grow();
        queue.ring[(queue.first + queue.size++) & (queue.ring.size() - 1)] = {tick, event};
    }

    /// Takes all events of the next tick and calls f(lane, event) for each. f must not push.
    template <class F>
    void take_tick(F&& f) {
        const Ticks now = next_tick();
        while (!heads_.empty() && heads_.front().tick == now) {
            std::pop_heap(heads_.begin(), heads_.end());
            const std::uint32_t lane = heads_.back().lane;
            heads_.pop_back();
            Lane& queue = lanes_[lane];
            do {
                f(lane, queue.ring[queue.first].event);
                queue.first = (queue.first + 1) & (queue.ring.size() - 1);
                --queue.size;
            } while (queue.size > 0 && queue.ring[queue.first].tick == now);
            if (queue.size > 0) enter({queue.ring[queue.first].tick, lane});
        }
    }

  private:
    struct Entry {
        Ticks tick;
        Event event;
    };
    struct Lane {
        std::vector<Entry> ring;  ///< a power of two of places
        std::size_t first = 0;
        std::size_t size = 0;

        [[nodiscard]] const Entry& last() const { return ring[(first + size - 1) & (ring.size() - 1)]; }
        void grow() {
            std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(first), ring.end());
            first = 0;
            ring.resize(std::max<std::size_t>(16, 2 * ring.size()));
        }
    };
    struct Head {
        Ticks tick;
        std::uint32_t lane;
        bool operator<(const Head& other) const {
            return tick != other.tick ? tick > other.tick : lane > other.lane;
        }
    };
    void enter(Head head) {
        heads_.push_back(head);
        std::push_heap(heads_.begin(), heads_.end());
    }

    std::vector<Lane> lanes_;
    std::vector<Head> heads_;
};

}  // namespace tutti::heuristics

#pragma once

#include "core/busy_intervals.hpp"
#include "core/topology.hpp"
#include "timing/router.hpp"

#include <cstdint>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace tutti::run {

/// The links of a topology, on which messages take the time that the contract says (docs/run.md). It knows no
/// plan and no clock: whoever emulates asks for a message when it has one, and hears what happened until a
/// tick. So a runtime whose computations take time of their own can use it with a clock of its own.
///
/// Data that a link takes at t has arrived at t + alpha + beta; links are first come, first served. Nodes
/// inside a route store and forward; a cut-through switch passes on alpha after the message began to come in.
/// O(log messages under way) for each link of a route.
class EmulatedLinks {
  public:
    using Message = std::uint32_t;  ///< the caller's number
    using RouteId = std::uint32_t;
    struct Event {
        enum class Kind : std::uint8_t { Start, Arrive } kind = Kind::Start;
        Message message = 0;
        Ticks at;
    };

    /// Precondition: the topology outlives this.
    explicit EmulatedLinks(const Topology& topology) : topology_(&topology), busy_(topology.links().size()) {}

    /// A route for messages of about that size; `turn` chooses among equally good ones. Throws InputError if
    /// there is none.
    [[nodiscard]] RouteId connect(NodeId from, NodeId to, std::uint32_t turn, Bytes size);
    /// The latencies of its links: what a signal takes, which keeps no link busy.
    [[nodiscard]] Ticks latency(RouteId route) const;

    /// A message has data to be sent from `now` on. Among several of one tick the lower number is first.
    void send(Message message, RouteId route, Bytes size, Ticks now);
    /// When the next thing happens. Nothing: no message is under way.
    [[nodiscard]] std::optional<Ticks> next() const;
    /// What happens next; nothing if it is only that a message gets on inside its route. Precondition:
    /// next().
    [[nodiscard]] std::optional<Event> advance();

  private:
    struct Item {
        enum class Kind : std::uint8_t { Start, Arrive, Request };
        Ticks time;
        Kind kind = Kind::Request;
        Message message = 0;
        RouteId route = 0;
        std::uint32_t hop = 0;
        Bytes size;
        /// The top of the queue is the largest, so "less" means later. At one tick requests come last.
        friend bool operator<(const Item& a, const Item& b) {
            if (a.time != b.time) return a.time > b.time;
            const bool a_asks = a.kind == Kind::Request, b_asks = b.kind == Kind::Request;
            if (a_asks != b_asks) return a_asks;
            if (a.message != b.message) return a.message > b.message;
            return a.kind > b.kind;
        }
    };

    [[nodiscard]] std::optional<Event> serve(const Item& item);
    [[nodiscard]] Ticks booked(Ticks pace, LinkId link) const;

    const Topology* topology_;
    std::vector<BusyIntervals<Ticks>> busy_;  ///< by link
    std::unordered_map<std::int64_t, timing::Router> routers_;
    std::vector<std::vector<LinkId>> routes_;
    std::priority_queue<Item> queue_;
};

}  // namespace tutti::run

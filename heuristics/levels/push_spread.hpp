#pragma once

#include "core/rng.hpp"
#include "heuristics/levels/level_plan.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// Who can send to whom, and over which ports: the tables of the pushes, shared by all their runs.
class PushPorts {
  public:
    using Direction = MessagePlacer::Direction;
    /// Between the NPUs that occur in the items.
    PushPorts(Cluster& cluster, Direction direction, std::span<const LevelItem> items);

    /// A pair of NPUs, in the placer's direction of time.
    struct Pair {
        std::uint32_t to;          ///< a place in npus()
        MessageRoutes::Ends ends;  ///< forwards
        LinkId last;               ///< the receiver's link
        Ticks lag;                 ///< from the start until that link is used
    };
    /// A link by which an NPU sends, and whom it reaches.
    struct Port {
        std::uint32_t npu;  ///< a place in npus()
        LinkId link;
        std::vector<Pair> pairs;
    };
    [[nodiscard]] const std::vector<NodeId>& npus() const { return npus_; }
    [[nodiscard]] const std::vector<Port>& ports() const { return ports_; }
    /// The ports of an NPU.
    [[nodiscard]] const std::vector<std::uint32_t>& ports_of(std::uint32_t npu) const { return of_[npu]; }
    [[nodiscard]] Cluster& cluster() const { return cluster_; }
    [[nodiscard]] Ticks longest() const { return longest_; }
    /// The longest message within a part of the level.
    [[nodiscard]] Ticks longest_within(std::size_t level) const { return within_[level]; }
    /// The part of each of npus().
    [[nodiscard]] const std::vector<std::uint32_t>& parts(std::size_t level) const { return parts_[level]; }
    [[nodiscard]] std::uint32_t place(NodeId npu) const { return place_[npu.index()]; }

  private:
    void add_ports(std::uint32_t from, Direction direction);

    Cluster& cluster_;
    std::vector<NodeId> npus_;
    std::vector<std::uint32_t> place_;  ///< by NPU
    std::vector<Port> ports_;
    std::vector<std::vector<std::uint32_t>> of_;
    Ticks longest_;                                  ///< of all messages
    std::vector<Ticks> within_;                      ///< by level
    std::vector<std::vector<std::uint32_t>> parts_;  ///< by level
};

/// What a push prefers; all are times.
struct PushWeights {
    std::int64_t common = 0;             ///< for each NPU that has the chunk already
    std::int64_t rich = 0;               ///< for each chunk that the target has
    std::vector<std::int64_t> premiums;  ///< by level: if nobody in the target's part has the chunk
    std::int64_t noise = 0;
    std::int64_t hold = 0;   ///< so long a port may wait for a chunk or a target
    std::int64_t delay = 0;  ///< for each tick that it waits, in 1/16
    /// By level: nothing is sent from another part that is later than this many inner messages after the
    /// chunk came to the part. Negative: no limit.
    std::vector<std::int64_t> patience;
};
/// `patience` 0: no limit.
[[nodiscard]] PushWeights usual_weights(const PushPorts& ports, std::int64_t patience);
[[nodiscard]] PushWeights random_weights(const PushPorts& ports, Rng& rng);
/// One of them anew.
[[nodiscard]] PushWeights changed_weights(const PushPorts& ports, const PushWeights& weights, Rng& rng);

/// A message of a push.
struct Pushed {
    std::uint32_t port, pair;  ///< places in PushPorts::ports() and Port::pairs
    std::uint32_t item;
    Ticks chosen;      ///< when the port chose it
    Ticks start, end;  ///< it may start later than that
};

/// Where a push begins and when it gives up.
struct PushLimits {
    const Stop& stop;
    Ticks makespan;  ///< no message may end later
    /// Of another push on the same base, or empty. Those chosen before `from` are sent first, and a push that
    /// falls behind these gives up.
    std::span<const Pushed> rival = {};
    Ticks from{};
};

struct PushResult {
    std::uint64_t work = 0;        ///< grows by the choices that a push looked at
    std::vector<Pushed> messages;  ///< of the last push that reached everybody
};

/// Spreads the items: whenever a port is free, its NPU sends what is worth most. False: somebody was not
/// reached, or it was stopped, or some message ends too late, or it fell behind its rival.
[[nodiscard]] bool push_spread(const PushPorts& ports, std::span<const LevelItem> items,
                               const PushWeights& weights, const PushLimits& limits, MessagePlacer& placer,
                               Rng& rng, PushResult& result);

}  // namespace tutti::heuristics

#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace tutti::models {

/// Times here are whole units: ticks divided by their common divisor, so that horizons are small numbers.
using Units64 = std::int64_t;

/// A link in use by a hop: the interval [start + offset, start + offset + busy) of the hop's own time.
struct Leg {
    LinkId link;
    Units64 offset = 0;
    Units64 busy = 0;
};

/// Where a hop ends, and how long after its start it is there.
struct HopEnd {
    NodeId node;
    Units64 after = 0;
};

/// A connection from one stop to the next without waiting: one link, a path through cut-through switches, or,
/// where such switches copy, a tree with several ends.
struct Hop {
    NodeId from;
    std::vector<HopEnd> ends;
    std::vector<Leg> legs;
};

/// What happens to a chunk at a stop.
enum class StopRule {
    Keeps,   ///< stores for good and sends as often as it likes: an NPU, or an unlimited switch that copies
    Passes,  ///< each copy that comes leaves once: a switch that does not copy
    Repeats  ///< a switch that copies but has a limited buffer: may send while it holds
};

/// The stops and hops for chunks of one size, one set of carriers and one direction.
struct Network {
    bool backwards = false;  ///< hops are turned round and time runs from the end
    bool has_trees = false;  ///< some hop has several ends
    std::vector<Hop> hops;
    std::vector<std::vector<std::uint32_t>> out,
        in;                      ///< per node: hops that leave it; hops with an end there
    std::vector<StopRule> rule;  ///< per node
    /// Switches that hops pass without stopping, with what the encodings must know of two hops of one chunk
    /// that pass one at the same time: `exclusive` (such a switch branches: one hop does for both) or, if
    /// not, that the lower numbered link in goes on by the lower numbered link out.
    struct Passage {
        NodeId node;
        LinkId in, out;   ///< in the network's direction
        Units64 due = 0;  ///< after the hop's start, in the network's own time
    };
    std::vector<std::vector<Passage>> passages;  ///< per hop
    std::vector<bool> exclusive;                 ///< per node
    /// Crossing hops are wrong: links differ in beta, values differ, or hops that branch might close circles.
    bool order_matters = false;
    std::string incomplete;  ///< why not every way through the network is here; empty if it is
};

/// Why networks and routings are incomplete that were stopped.
inline constexpr std::string_view kRoutingStopped = "the search was stopped before all paths were known";

/// What a network is for.
enum class Use {
    Branch,  ///< one chunk to many: switches may copy (backwards: reduce)
    Path,    ///< chunks for one node each
    Sum      ///< partial sums between NPUs; switches are passed without waiting
};

/// All stops and hops for the chunk, with times in units of `unit` ticks.
[[nodiscard]] Network network_for(const Instance& instance, ChunkId chunk, bool backwards, Use use,
                                  Units64 unit, const Stop& stop = {});

/// How a commodity moves.
enum class Moves {
    Spread,  ///< one chunk from its sources to all its targets (of a reduction with one receiver: backwards)
    Flow,    ///< unicast chunks of one source, not told apart until the end
    Sum      ///< a reduction with several receivers: contributions are tracked one by one
};

/// What must be moved. Times are in the commodity's direction: from tick 0, or back from the horizon.
struct Commodity {
    Moves moves = Moves::Spread;
    std::size_t network = 0;
    std::vector<ChunkId> chunks;  ///< one, or those of a flow
    std::vector<NodeId> sources;  ///< sorted; of a sum: the holders
    std::vector<NodeId>
        targets;        ///< sorted, none a source; of a flow: one for each chunk; of a sum: the receivers
    Units64 ready = 0;  ///< when the sources have it
    Units64 spare = 0;  ///< it must be done by horizon - spare
    /// Contributors to a reduction whose release is later, by node: of a sum a source's own `ready`, of a
    /// spread backwards a target's own `spare`.
    std::vector<std::pair<NodeId, Units64>> late;
};

/// When the source of a sum has its contribution. O(log late).
[[nodiscard]] Units64 ready_at(const Commodity& commodity, NodeId source);

/// How many ticks are a unit: the greatest common divisor of all times of the instance.
[[nodiscard]] Units64 unit_of(const Instance& instance);

/// An instance in the form that the encodings use.
class Routing {
  public:
    /// The instance must outlive this.
    /// Where the stop comes first it is incomplete, and says so.
    explicit Routing(const Instance& instance, const Stop& stop = {});

    [[nodiscard]] const Instance& instance() const { return *instance_; }
    [[nodiscard]] Units64 unit() const { return unit_; }  ///< ticks in one unit
    [[nodiscard]] const std::vector<Network>& networks() const { return networks_; }
    [[nodiscard]] const std::vector<Commodity>& commodities() const { return commodities_; }
    [[nodiscard]] const Network& network_of(const Commodity& c) const { return networks_[c.network]; }
    [[nodiscard]] bool has_sums() const;
    [[nodiscard]] bool has_limited_buffers() const { return limited_; }

    /// Why this routing cannot express every valid schedule; empty if it can. Where it cannot, "infeasible"
    /// proves nothing.
    [[nodiscard]] const std::string& incomplete() const { return incomplete_; }

    /// The largest horizon, in units, that is at most so many ticks; the ticks of a horizon.
    [[nodiscard]] Units64 units(Ticks ticks) const { return ticks.count() / unit_; }
    [[nodiscard]] Ticks ticks(Units64 units) const { return Ticks(unit_) * units; }

  private:
    [[nodiscard]] bool ties_matter() const;
    void add_commodities();
    /// Those whose release is later than the chunk's first, in order of node.
    [[nodiscard]] std::vector<std::pair<NodeId, Units64>> late_ones(const std::vector<NodeId>& holders,
                                                                    ChunkId chunk) const;
    void add_unicasts(const std::vector<ChunkId>& chunks);
    [[nodiscard]] std::size_t network(ChunkId chunk, bool backwards, Use use);

    const Instance* instance_;
    Stop stop_;
    Units64 unit_ = 1;
    bool limited_ = false;
    std::string incomplete_;
    std::vector<Network> networks_;
    using Key = std::tuple<std::uint64_t, Bytes, bool, Use>;  ///< carriers, size, direction, use
    std::vector<Key> keys_;                                   ///< of networks_
    std::vector<Commodity> commodities_;
};

/// A commodity takes a hop, starting at `start` of its own time. Of a sum, `op` says what happens at its end.
struct Transfer {
    std::size_t commodity = 0;
    std::uint32_t hop = 0;
    Units64 start = 0;
    Op op = Op::Copy;
};

/// The schedule of these transfers for that horizon. What serves no target is left out.
[[nodiscard]] Schedule schedule_of(const Routing& routing, Units64 horizon, std::vector<Transfer> transfers);

/// The transfers that a schedule makes, where it fits this routing: what serves as a hint. Times stay as they
/// are, so that for a shorter horizon some lie beyond it. Incomplete where the schedule does what the routing
/// cannot say.
[[nodiscard]] std::vector<Transfer> transfers_of(const Routing& routing, Units64 horizon,
                                                 const Schedule& schedule);

/// When a commodity can be at a node at the earliest, and when at the latest it must be there to be of use.
/// Own times.
struct Windows {
    static constexpr Units64 kNever = -1;
    std::vector<Units64> earliest;  ///< per node; kNever where it cannot get
    std::vector<Units64> latest;    ///< per node, for the horizon given; kNever where it is of no use
    /// The starts that make sense for a hop; none when first > last.
    [[nodiscard]] std::pair<Units64, Units64> starts(const Hop& hop, Units64 deadline) const;
};
[[nodiscard]] Windows windows_of(const Routing& routing, const Commodity& commodity, Units64 horizon);

}  // namespace tutti::models

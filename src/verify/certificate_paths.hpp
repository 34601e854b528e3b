#pragma once

#include "core/instance.hpp"

#include <functional>
#include <map>
#include <set>
#include <vector>

// Shared by the checks of all certificates: the needs of an instance, and shortest paths in its network.
// Independent of src/bounds, so that a mistake there is detected.

namespace tutti::verify {

/// Wide enough for every sum of ticks or lengths over a path, and for every sum of those over all chunks.
__extension__ using Wide = __int128;
/// Infinity (unreachable); larger than any such sum.
inline constexpr Wide kNever = Wide{1} << 120;

/// `count` chunks of one collective with the same size, holders and receivers; `chunk` is one of them.
struct Need {
    ChunkId chunk;
    std::uint64_t count = 1;
};

/// The chunks that must move at all; consecutive equal ones are counted together.
[[nodiscard]] std::vector<Need> needs_of(const Instance& instance);

/// Whether the chunks of this collective may use the link.
[[nodiscard]] bool may_use(const Instance& instance, LinkId link, CollectiveId collective);

/// One collective for all that everybody may carry, so that their paths need be searched only once; the
/// collective itself where only its group may.
[[nodiscard]] CollectiveId representative(const Instance& instance, CollectiveId collective);

/// Per node: whether it may hold chunks of any of the collectives.
[[nodiscard]] std::vector<bool> carriers(const Instance& instance, const std::set<CollectiveId>& collectives);

/// The least time from a start on the link to the next start of the same chunk beyond it, or to its arrival:
/// alpha + beta, but only alpha into a cut-through switch, because beta is paid once, on the last link.
[[nodiscard]] Ticks transit(const Instance& instance, LinkId link, ChunkId chunk);

/// The least time from a start on the link to the arrival at its end, also at a cut-through switch.
[[nodiscard]] Ticks arrival(const Instance& instance, LinkId link, ChunkId chunk);

/// The least time for which the link is busy with a chunk of that many bytes or more.
[[nodiscard]] Ticks busy(const Instance& instance, LinkId link, Bytes bytes);

enum class Direction { Forwards, Backwards };

using Price = std::function<Wide(LinkId)>;

/// Per node the least sum of prices (>= 0) of a path from a start (backwards: to one) that the collective's
/// chunks may take; `at` gives each node's price of starting there, kNever for none. Dijkstra.
[[nodiscard]] std::vector<Wide> shortest_paths(const Instance& instance, CollectiveId collective,
                                               Direction direction, std::vector<Wide> at, const Price& price);

/// Per node the least price for a chunk to get there from any of `starts`.
using PricesFrom = std::function<std::vector<Wide>(ChunkId chunk, std::span<const NodeId> starts)>;

/// A lower bound of the price per chunk of a need: for a plain chunk the price of its most expensive
/// receiver, for a reduction that of its most expensive contribution to its most expensive receiver (only
/// one, because contributions may merge). With a target only that receiver counts; 0 if it is none.
class MinimumPrices {
  public:
    MinimumPrices(const Instance& instance, PricesFrom prices_from, std::optional<NodeId> target = {})
        : instance_(instance), prices_from_(std::move(prices_from)), target_(target) {}
    [[nodiscard]] Wide of(const Need& need);

  private:
    const std::vector<Wide>& prices(ChunkId chunk, std::span<const NodeId> starts);
    const Instance& instance_;
    PricesFrom prices_from_;
    std::optional<NodeId> target_;
    std::map<std::tuple<CollectiveId, Bytes, std::vector<NodeId>>, std::vector<Wide>> known_;
    std::size_t entries_ = 0;  ///< in known_
};

/// When a link can carry the counted chunks: no start before `first`, none after T - `last`, one per `busy`
/// ticks.
struct LinkUse {
    Wide first = kNever;
    Wide last = kNever;
    Wide busy = 1;
    /// How many transfers of a schedule of makespan <= T the link can start.
    [[nodiscard]] Wide transfers_by(Wide makespan) const;
};

/// One or more chunks that travel from any of the nodes `from` to any of the nodes `to`.
struct Trip {
    ChunkId chunk;
    std::span<const NodeId> from, to;
};

/// For each need a trip from its holders to its receivers.
[[nodiscard]] std::vector<Trip> trips_of(const Instance& instance, const std::vector<Need>& needs);

/// Per link, for these trips (all of chunks of at least `bytes`): the first tick at which one can be at its
/// source, and the least time from a start on it to the trip's end and to the transfer's own arrival (the
/// makespan is not before either).
[[nodiscard]] std::vector<LinkUse> uses_of_links(const Instance& instance, const std::vector<Trip>& trips,
                                                 Bytes bytes);

/// Chunks that may share a computation: same collective, same size. Values are the positions in `needs`.
[[nodiscard]] std::map<std::pair<CollectiveId, Bytes>, std::vector<std::size_t>> by_kind(
    const Instance& instance, const std::vector<Need>& needs);

[[nodiscard]] std::string text_of(Wide number);

}  // namespace tutti::verify

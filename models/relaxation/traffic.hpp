#pragma once

#include "core/instance.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tutti::models {

/// Wide enough for sums over all chunks.
__extension__ using Wide = __int128;
/// Infinity; far from overflow.
inline constexpr std::int64_t kUnreachable = std::int64_t{1} << 61;

/// Chunks of one collective, size and release take the same links in the same times. `chunk` is any of them.
struct Kind {
    CollectiveId collective;
    Bytes bytes;
    Ticks release;  ///< of the holder that a trip is from, the first where it is from any
    ChunkId chunk;
    friend bool operator<(const Kind& a, const Kind& b) {
        return std::tie(a.collective, a.bytes, a.release) < std::tie(b.collective, b.bytes, b.release);
    }
};

/// What `count` chunks must at least do: get from one of the nodes `from` to the node `to`.
struct Trip {
    Kind kind;
    std::vector<NodeId> from;
    NodeId to;
    std::int64_t count = 1;
};

/// Which trips to look at: one for each chunk at the most, because copies are free and contributions merge.
struct Selection {
    std::optional<NodeId> target;  ///< only chunks that this node must receive, and these to it
    std::optional<NodeId> source;  ///< only reductions to which this node contributes, and these from it
};

/// The trips selected; where there is a choice, the one that takes longest. Equal trips are counted together.
[[nodiscard]] std::vector<Trip> trips_of(const Instance& instance, const Selection& selection);

/// Every selection worth looking at: all chunks, and, if some have several receivers or contributions, each
/// alone.
[[nodiscard]] std::vector<Selection> selections(const Instance& instance);

/// Trips that a flow need not tell apart: of one kind, all from the same nodes, or all to the same node.
struct Shipment {
    Kind kind;
    bool by_source = true;
    std::vector<const Trip*> trips;
};
/// By source or by target, whichever are fewer. The trips must outlive them.
[[nodiscard]] std::vector<Shipment> shipments(const std::vector<Trip>& trips);

/// The network for chunks of one kind, in units of `unit` ticks.
class KindNetwork {
  public:
    KindNetwork(const Instance& instance, const Kind& kind, std::int64_t unit);
    [[nodiscard]] bool usable(std::size_t link) const { return transit_[link] < kUnreachable; }
    /// From a start to the next start beyond: alpha + beta, or alpha into a cut-through switch. kUnreachable
    /// if not usable.
    [[nodiscard]] std::int64_t transit(std::size_t link) const { return transit_[link]; }
    /// From a start to the arrival itself.
    [[nodiscard]] std::int64_t arrival(std::size_t link) const { return arrival_[link]; }
    [[nodiscard]] std::int64_t release() const { return release_; }

    /// Per node the least time (or length, if given per link) from any of `from`.
    [[nodiscard]] std::vector<std::int64_t> from(const std::vector<NodeId>& from,
                                                 const std::vector<std::int64_t>* length = nullptr) const;
    /// … to any of `to`.
    [[nodiscard]] std::vector<std::int64_t> to(const std::vector<NodeId>& to,
                                               const std::vector<std::int64_t>* length = nullptr) const;

  private:
    [[nodiscard]] std::vector<std::int64_t> cheapest(const std::vector<NodeId>& start,
                                                     const std::vector<std::int64_t>* length,
                                                     bool forwards) const;
    const Topology& topology_;
    std::vector<std::int64_t> transit_, arrival_;
    std::int64_t release_;
};

/// The earliest tick by which every trip can be made, if each is alone, in units of `unit` ticks.
[[nodiscard]] std::int64_t longest_trip(const Instance& instance, const std::vector<Shipment>& shipments,
                                        std::int64_t unit);

/// Of a trip of a shipment, given the cheapest paths from its source (by source) or to its target (by
/// target).
[[nodiscard]] std::int64_t least(const Trip& trip, bool by_source, const std::vector<std::int64_t>& lengths);

/// The smallest chunk that counts under a selection: links are busy at least as long as with it.
[[nodiscard]] Bytes smallest(const Instance& instance, const Selection& selection);

/// The largest number that divides every time of the trips' chunks and of a chunk of that size.
[[nodiscard]] std::int64_t common_divisor(const Instance& instance, const std::vector<Trip>& trips,
                                          Bytes bytes);

}  // namespace tutti::models

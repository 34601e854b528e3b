#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// An ordered list of NPUs; the order is the rank order.
struct Group {
    std::string name;
    std::vector<NodeId> members;
};

/// What a collective does: what an instance demands, or what a plan is meant to achieve.
enum class CollectiveKind {
    Broadcast,
    Scatter,
    Gather,
    Reduce,
    AllGather,
    ReduceScatter,
    AllReduce,
    AllToAll,
    AllToAllV,
    AllToNext,
    Permute,
    Custom,
    SendRecv  ///< rank r gets the input of r-1, cyclic; plans know it by this name, instances write a permute
};

/// Which nodes may carry a collective's chunks: all nodes, or only the group's members and switches.
enum class Forwarding { Any, Group };

/// One demand of a custom collective, in NPU numbers.
struct CustomDemand {
    std::vector<NodeId> holders;
    std::vector<NodeId> receivers;
    bool reduction = false;
    std::optional<Bytes> bytes;  ///< the collective's chunk_bytes where not given
};

struct Collective {
    std::string id;
    CollectiveKind kind = CollectiveKind::AllGather;
    GroupId group;
    std::uint64_t chunks = 1;
    std::optional<Rank> root;  ///< broadcast, scatter, gather, reduce
    Bytes chunk_bytes;         ///< 0 where not given (abstract units only)
    Ticks release;             ///< when its data is there; with `releases` the first of them
    /// By rank: when what the rank holds or contributes is there. Empty where that is `release` for all;
    /// Instance makes it so where all are equal.
    std::vector<Ticks> releases;
    Forwarding forwarding = Forwarding::Any;
    std::vector<std::vector<std::uint64_t>> counts;  ///< all_to_all_v: chunks from rank i to rank j
    std::vector<std::pair<Rank, Rank>> pairs;        ///< permute: from, to
    std::vector<CustomDemand> demands;               ///< custom
};

/// "all_gather" and the like, as instances spell them.
[[nodiscard]] std::string_view name_of(CollectiveKind kind);
[[nodiscard]] std::optional<CollectiveKind> kind_named(std::string_view name);
/// All spellings, in the order of the enumeration.
[[nodiscard]] std::vector<std::string_view> collective_kind_names();
[[nodiscard]] bool has_root(CollectiveKind kind);
/// Gives all ranks this release.
void set_release(Collective& collective, Ticks release);
/// The last release of a rank, in an instance's collective.
[[nodiscard]] Ticks last_release(const Collective& collective);

/// "allgather", "reduce_scatter" and the like: the name used for plans. Plans name no counts, pairs or
/// demands, so all_to_all_v and permute are "custom" there.
[[nodiscard]] std::string_view plan_name_of(CollectiveKind kind);
/// Every spelling that a plan file may use (`all_reduce`, `allreduce`, `reduce_scatter`, `reducescatter`, …).
/// Custom for names that do not determine the result (custom, send, recv, alltoallv, test, none); nothing for
/// an unknown name.
[[nodiscard]] std::optional<CollectiveKind> kind_in_plan(std::string_view name);
/// The kind that a plan for such a collective can state: the kind itself, or Custom.
[[nodiscard]] CollectiveKind plan_kind_of(CollectiveKind kind);
/// The names of plan_name_of(), most common first.
[[nodiscard]] std::vector<std::string_view> plan_kind_names();

}  // namespace tutti

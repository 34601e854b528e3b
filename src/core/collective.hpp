#pragma once

#include "core/ids.hpp"
#include "core/ticks.hpp"

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
    Custom
};

/// Which nodes may carry a collective's chunks: everybody, or only the group's members and switches.
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
    Ticks release;
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

}  // namespace tutti

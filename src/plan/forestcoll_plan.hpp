#pragma once

#include "core/collective.hpp"
#include "plan/ids.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::plan {

struct TreeSend {
    PlanNode src{}, dst{};
    friend bool operator==(const TreeSend&, const TreeSend&) = default;
};

/// A tree that broadcasts `chunks` of its root's share.
struct ForestTree {
    PlanNode root{};
    std::int64_t index = 0;   ///< among the trees of its root
    std::int64_t chunks = 1;  ///< of the root's share
    std::int64_t height = 0;  ///< as the file claims it
    std::vector<TreeSend> sends{};
    friend bool operator==(const ForestTree&, const ForestTree&) = default;
};

/// Spanning trees of ForestColl, as in its XML (docs/step-formats.md): an all-gather, or with all sends
/// reversed a reduce-scatter, or both in sequence an all-reduce; the file does not say which.
struct ForestCollPlan {
    std::vector<std::string> node_names{};  ///< of all nodes, in the order in which the file names them
    std::vector<ForestTree> trees{};
    std::int64_t chunks_per_node = 0;
    std::int64_t busiest_link = 0;  ///< chunks over the busiest link, as far as the file gives paths
    friend bool operator==(const ForestCollPlan&, const ForestCollPlan&) = default;

    [[nodiscard]] std::int32_t nodes() const { return static_cast<std::int32_t>(node_names.size()); }
};

/// Whether such trees are that collective, in one of the three ways.
[[nodiscard]] constexpr bool trees_make(CollectiveKind goal) {
    return goal == CollectiveKind::AllGather || goal == CollectiveKind::ReduceScatter ||
           goal == CollectiveKind::AllReduce;
}

}  // namespace tutti::plan

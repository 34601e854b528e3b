#pragma once

#include "core/stop.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tutti::symmetry {

/// Where each index goes.
using Permutation = std::vector<std::uint32_t>;

/// What an automorphism keeps: the colours of nodes and the labels of arcs.
struct ColouredGraph {
    struct Arc {
        std::uint32_t src, dst, label;
    };
    std::vector<std::uint32_t> colours;  ///< per node
    std::vector<Arc> arcs;               ///< one for each pair of nodes at most
};

/// The search's question: a graph, and demands that its automorphisms may or may not respect.
struct SymmetryQuestion {
    ColouredGraph graph;
    /// What an automorphism does to the demands; nothing if it does not respect them. Those of a product is
    /// the product of those of its factors.
    std::function<std::optional<Permutation>(const Permutation& nodes)> on_demands;
    /// Per demand: how many alike stand behind it. The elements of a group that keep the demand take these to
    /// each other, none to itself: so the number of such elements must divide the number of copies.
    std::vector<std::uint64_t> copies;
    std::vector<bool> takes_part;  ///< per node: has a demand. Groups that move all of these are tried first.
    std::vector<bool> must_move;   ///< per node, among those: no element but the identity may keep it
};

struct Symmetry {
    Permutation nodes, demands;
};

/// A group of automorphisms that respects the demands and keeps no copy of one in its place, as large as a
/// limited search finds; the identity comes first. The same question has the same answer unless the stop is
/// requested.
[[nodiscard]] std::vector<Symmetry> free_group(const SymmetryQuestion& question, const Stop& stop);

/// Equal facts, equal numbers: the facts' places in their order.
template <class Fact>
[[nodiscard]] std::vector<std::uint32_t> ranked(const std::vector<Fact>& facts) {
    std::map<Fact, std::uint32_t> rank;
    for (const Fact& fact : facts) rank.emplace(fact, 0);
    std::uint32_t next = 0;
    for (auto& [fact, number] : rank) number = next++;
    std::vector<std::uint32_t> result;
    result.reserve(facts.size());
    for (const Fact& fact : facts) result.push_back(rank.at(fact));
    return result;
}

}  // namespace tutti::symmetry

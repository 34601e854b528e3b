#pragma once

#include "core/stop.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tutti::symmetry {

/// The image of each index.
using Permutation = std::vector<std::uint32_t>;

/// What an automorphism keeps: the colours of nodes and the labels of arcs.
struct ColouredGraph {
    struct Arc {
        std::uint32_t src, dst, label;
    };
    std::vector<std::uint32_t> colours;  ///< per node
    std::vector<Arc> arcs;               ///< one for each pair of nodes at most
};

/// The input of the search: a graph, and demands that its automorphisms must respect.
struct SymmetryQuestion {
    ColouredGraph graph;
    /// How an automorphism permutes the demands; nothing if it does not respect them. A homomorphism: the
    /// result for a product is the product of the results.
    std::function<std::optional<Permutation>(const Permutation& nodes)> on_demands;
    /// Per demand: how many equal copies it stands for. The group elements that fix the demand permute these
    /// copies freely, so the number of such elements must divide the number of copies.
    std::vector<std::uint64_t> copies;
    std::vector<bool> takes_part;  ///< per node: has a demand. Groups that move all of these are tried first.
    std::vector<bool> must_move;   ///< per node, among those: no element but the identity may keep it
};

struct Symmetry {
    Permutation nodes, demands;
};

/// The largest group found by a limited search whose automorphisms respect the demands and, but for the
/// identity, fix no copy of a demand. The identity comes first. Deterministic unless stopped.
[[nodiscard]] std::vector<Symmetry> free_group(const SymmetryQuestion& question, const Stop& stop);

/// The rank of each fact among the distinct sorted facts: equal facts get equal numbers.
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

#include "heuristics/exchange/textbook_trees.hpp"

#include <algorithm>
#include <bit>

namespace tutti::heuristics {

TreeEdges star_tree(std::span<const NodeId> order, std::size_t root) {
    TreeEdges edges;
    for (std::size_t i = 1; i < order.size(); ++i)
        edges.emplace_back(order[root], order[(root + i) % order.size()]);
    return edges;
}

TreeEdges ring_tree(std::span<const NodeId> order, std::size_t root) {
    TreeEdges edges;
    const std::size_t n = order.size(), cut = (root + n / 2) % n;
    for (std::size_t i = 0; i < n; ++i) {
        if (i != cut) edges.emplace_back(order[i], order[(i + 1) % n]);
    }
    return edges;
}

TreeEdges binomial_tree(std::span<const NodeId> order, std::size_t root, bool far_first) {
    TreeEdges edges;
    const std::size_t n = order.size();
    const auto at = [&](std::size_t i) { return order[std::has_single_bit(n) ? root ^ i : (root + i) % n]; };
    for (std::size_t i = 1; i < n; ++i) {
        const std::size_t parent = far_first ? i ^ std::bit_floor(i) : i & (i - 1);
        edges.emplace_back(at(parent), at(i));
    }
    return edges;
}

TreeEdges binary_tree(std::span<const NodeId> order, std::size_t root) {
    TreeEdges edges;
    const auto at = [&](std::size_t i) { return order[(root + i) % order.size()]; };
    const auto top_of = [](std::size_t first, std::size_t last) { return first + (last - first) / 2; };
    std::vector<std::pair<std::size_t, std::size_t>> ranges{{0, order.size() - 1}};
    while (!ranges.empty()) {
        const auto [first, last] = ranges.back();
        ranges.pop_back();
        const std::size_t top = top_of(first, last);
        if (top > first) {
            edges.emplace_back(at(top), at(top_of(first, top - 1)));
            ranges.emplace_back(first, top - 1);
        }
        if (top < last) {
            edges.emplace_back(at(top), at(top_of(top + 1, last)));
            ranges.emplace_back(top + 1, last);
        }
    }
    return edges;
}

TreeEdges two_level_tree(const Parts& parts, NodeId root, TreeOf inner, TreeOf outer) {
    std::size_t home = 0, place = 0;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto found = std::ranges::find(parts[p], root);
        if (found == parts[p].end()) continue;
        home = p;
        place = static_cast<std::size_t>(found - parts[p].begin());
    }
    TreeEdges edges;
    std::vector<NodeId> leaders;
    for (const auto& part : parts) {
        const std::size_t leader = place % part.size();
        leaders.push_back(part[leader]);
        const auto tree = inner(part, leader);
        edges.insert(edges.end(), tree.begin(), tree.end());
    }
    const auto tree = outer(leaders, home);
    edges.insert(edges.end(), tree.begin(), tree.end());
    return edges;
}

}  // namespace tutti::heuristics

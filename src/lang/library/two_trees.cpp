// Two trees: each of two binary trees carries half of the chunks; who is an inner node of one is a leaf of
// the other, so that everybody sends and receives about as much, and the whole bandwidth is used by a
// pipeline. Source: Sanders, Speck and Träff, Two-tree algorithms for full bandwidth broadcast, reduction and
// scan, Parallel Computing 2009.
//
// The first tree has the ranks in order (a search tree), the second is the same, shifted by one rank.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// Nodes in the order in which a node comes after its parent; parent[0] is itself.
struct Tree {
    std::vector<std::uint32_t> order, parent;
};

void grow(Tree& tree, std::uint32_t first, std::uint32_t end, std::uint32_t parent) {
    if (first >= end) return;
    const std::uint32_t middle = first + (end - first) / 2;
    tree.order.push_back(middle);
    tree.parent[middle] = tree.order.size() == 1 ? middle : parent;
    grow(tree, first, middle, middle);
    grow(tree, middle + 1, end, middle);
}

Tree tree_of(std::uint32_t ranks) {
    Tree tree{{}, std::vector<std::uint32_t>(ranks)};
    grow(tree, 0, ranks, 0);
    return tree;
}

void write_two_trees(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks();
    const Tree tree = tree_of(n);
    const Kind kind = settings.request.kind;
    for (std::uint32_t i = 0; i < p.shape().chunks; ++i) {
        const std::uint32_t shift = i % 2;
        const Directive on{.channel = static_cast<std::int32_t>(shift)};
        // Rooted ones are turned so that the tree's root is next to the root, to which it hands the data.
        const auto rank = [&](std::uint32_t node) { return (node + shift) % n; };
        const std::uint32_t top = rank(tree.order.front()), root = settings.request.root;
        if (kind != Kind::Broadcast) {
            for (std::size_t k = n; k-- > 1;) {
                const std::uint32_t node = tree.order[k];
                (void)writable(p, rank(tree.parent[node]), i).reduce(writable(p, rank(node), i), on);
            }
        }
        const std::uint32_t from = kind == Kind::Broadcast ? kInput : work_buffer(p);
        if (kind == Kind::Reduce) {
            (void)p.chunk(top, from, i).copy(root, kOutput, i, on);
            continue;
        }
        if (kind == Kind::Broadcast) {
            (void)p.chunk(root, kInput, i).copy(root, kOutput, i);
            if (top != root) (void)p.chunk(root, kOutput, i).copy(top, kOutput, i, on);
        } else {
            (void)p.chunk(top, from, i).copy(top, kOutput, i);
        }
        for (std::size_t k = 1; k < n; ++k) {
            const std::uint32_t node = tree.order[k];
            if (kind == Kind::Broadcast && rank(node) == root) continue;
            (void)p.chunk(rank(tree.parent[node]), kOutput, i).copy(rank(node), kOutput, i, on);
        }
    }
}

}  // namespace

Algorithm two_trees() {
    return {
        .name = "two-trees",
        .about = "two binary trees with half of the chunks each; inner nodes of one are leaves of the other",
        .source = "Sanders, Speck, Träff, Parallel Computing 2009",
        .kinds = {Kind::AllReduce, Kind::Broadcast, Kind::Reduce},
        .parameters = {{"chunks", "chunks that follow each other, on both trees together", 2, 1, 64}},
        .why_not = [](const Settings&) { return std::string(); },
        .chunks = [](const Settings& settings) { return settings["chunks"]; },
        .write = write_two_trees};
}

}  // namespace tutti::lang::library

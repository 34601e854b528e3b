// A binomial tree: in round i the 2^i ranks that have the data (counted from the root) send it to as many
// others. Sums go the other way; an all-reduce is a sum at the root and a broadcast from it. Chunks follow
// each other through the tree. In a scatter a rank is sent what is for itself and for those that it sends to
// later, which are its next neighbours; a gather is the same backwards.
// Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005, sections 3.1 to 3.4.

#include "lang/library/algorithms.hpp"

#include <algorithm>
#include <bit>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// Ranks counted from the root.
struct FromRoot {
    std::uint32_t ranks, root;
    [[nodiscard]] std::uint32_t rank(std::uint32_t number) const { return (number + root) % ranks; }
};

void sum_up(Program& p, const FromRoot& order, std::uint32_t i) {
    const std::uint32_t n = p.ranks();
    for (std::uint32_t bit = 1; bit < n; bit *= 2) {
        for (std::uint32_t v = 0; v + bit < n; v += 2 * bit) {
            (void)writable(p, order.rank(v), i).reduce(writable(p, order.rank(v + bit), i));
        }
    }
}

void spread(Program& p, const FromRoot& order, std::uint32_t i) {
    const std::uint32_t n = p.ranks();
    for (std::uint32_t bit = std::bit_ceil(n) / 2; bit > 0; bit /= 2) {
        for (std::uint32_t v = 0; v + bit < n; v += 2 * bit) {
            (void)p.chunk(order.rank(v), kOutput, i).copy(order.rank(v + bit), kOutput, i);
        }
    }
}

/// Scratch of number v: at d the block of number v + d. The root's blocks are where the collective has them.
void scatter(Program& p, const FromRoot& order) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, root = order.root;
    const std::uint32_t passing = p.scratch("scratch");
    for (std::uint32_t d = 0; d < n; ++d)
        (void)p.chunk(root, kInput, order.rank(d) * k, k).copy(root, passing, d * k);
    for (std::uint32_t bit = std::bit_ceil(n) / 2; bit > 0; bit /= 2) {
        for (std::uint32_t v = 0; v + bit < n; v += 2 * bit) {
            const std::uint32_t blocks = std::min(bit, n - v - bit);
            (void)p.chunk(order.rank(v), passing, bit * k, blocks * k).copy(order.rank(v + bit), passing, 0);
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, passing, 0, k).copy(r, kOutput, 0);
}

void gather(Program& p, const FromRoot& order) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks, root = order.root;
    const std::uint32_t passing = p.scratch("scratch");
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, kInput, 0, k).copy(r, passing, 0);
    for (std::uint32_t bit = 1; bit < n; bit *= 2) {
        for (std::uint32_t v = 0; v + bit < n; v += 2 * bit) {
            const std::uint32_t blocks = std::min(bit, n - v - bit);
            (void)p.chunk(order.rank(v + bit), passing, 0, blocks * k).copy(order.rank(v), passing, bit * k);
        }
    }
    for (std::uint32_t d = 0; d < n; ++d)
        (void)p.chunk(root, passing, d * k, k).copy(root, kOutput, order.rank(d) * k);
}

void write_binomial_tree(Program& p, const Settings& settings) {
    const Kind kind = settings.request.kind;
    const FromRoot order{p.ranks(), settings.request.root};
    if (kind == Kind::Scatter) return scatter(p, order);
    if (kind == Kind::Gather) return gather(p, order);
    for (std::uint32_t i = 0; i < p.shape().chunks; ++i) {
        if (kind != Kind::Broadcast) sum_up(p, order, i);
        const std::uint32_t from = kind == Kind::Broadcast ? kInput : work_buffer(p);
        (void)p.chunk(order.rank(0), from, i).copy(order.rank(0), kOutput, i);
        if (kind != Kind::Reduce) spread(p, order, i);
    }
}

}  // namespace

Algorithm binomial_tree() {
    return {.name = "binomial-tree",
            .about = "a tree in which those who have the data double in every round",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {Kind::AllReduce, Kind::Broadcast, Kind::Reduce, Kind::Gather, Kind::Scatter},
            .parameters = {{"chunks", "chunks that follow each other", 1, 1, 64}},
            .why_not = [](const Settings&) { return std::string(); },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_binomial_tree};
}

}  // namespace tutti::lang::library

// Which ranks should be partners.
//
// Recursive doubling pairs ranks whose numbers differ in one bit. Which NPUs get such numbers decides how far
// messages travel. The order is built like a tournament: first each NPU is paired with a near one, then pairs
// with near pairs so that both of their members are near, and so on. Two lists of 2^k members can be joined
// in 2^k ways that keep what is inside (xor with a number); the best of them counts.
//
// Networks of several levels show in the times of messages: below the time of a slow link only the members of
// one node reach each other. So the components for each threshold are the levels (single linkage).

#include "heuristics/exchange/rank_orders.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr Ticks kApart = Ticks::max();
constexpr std::size_t kMostPartitions = 4;

/// The time of a message, there and back.
Ticks distance(const MessageGraph& graph, NodeId a, NodeId b, ChunkId chunk) {
    if (!graph.joins(a, b) || !graph.joins(b, a)) return kApart;
    return std::max(graph.time(a, b, chunk), graph.time(b, a, chunk));
}

struct ListMatch {
    Ticks distance = kApart;
    std::size_t shift = 0;
};

ListMatch matched(const MessageGraph& graph, const std::vector<NodeId>& a, const std::vector<NodeId>& b,
                  ChunkId chunk) {
    ListMatch best;
    for (std::size_t shift = 0; shift < a.size(); ++shift) {
        Ticks farthest;
        for (std::size_t i = 0; i < a.size() && farthest < best.distance; ++i)
            farthest = std::max(farthest, distance(graph, a[i], b[i ^ shift], chunk));
        if (farthest < best.distance) best = {farthest, shift};
    }
    return best;
}

/// Joins lists in pairs, each with the nearest that is left. False: one has no partner.
bool join_pairs(const MessageGraph& graph, std::vector<std::vector<NodeId>>& lists, ChunkId chunk) {
    std::vector<std::vector<NodeId>> joined;
    std::vector<bool> taken(lists.size());
    for (std::size_t a = 0; a < lists.size(); ++a) {
        if (taken[a]) continue;
        ListMatch best;
        std::size_t partner = a;
        for (std::size_t b = a + 1; b < lists.size(); ++b) {
            if (taken[b]) continue;
            const ListMatch found = matched(graph, lists[a], lists[b], chunk);
            if (found.distance >= best.distance) continue;
            best = found;
            partner = b;
        }
        if (partner == a) return false;
        taken[partner] = true;
        auto list = lists[a];
        for (std::size_t i = 0; i < lists[a].size(); ++i) list.push_back(lists[partner][i ^ best.shift]);
        joined.push_back(std::move(list));
    }
    lists = std::move(joined);
    return true;
}

/// The root of the tree of a component.
std::size_t component_of(std::vector<std::size_t>& up, std::size_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

/// Orders the other parts so that their members are near those of the first at the same place.
void align(const MessageGraph& graph, Parts& parts, ChunkId chunk) {
    for (std::size_t p = 1; p < parts.size(); ++p) {
        auto& part = parts[p];
        for (std::size_t i = 0; i < part.size() && i < parts[0].size(); ++i) {
            const auto nearest = std::ranges::min_element(
                part.begin() + static_cast<std::ptrdiff_t>(i), part.end(), {},
                [&](NodeId node) { return distance(graph, parts[0][i], node, chunk); });
            std::rotate(part.begin() + static_cast<std::ptrdiff_t>(i), nearest, nearest + 1);
        }
    }
}

}  // namespace

std::optional<std::vector<NodeId>> doubling_order(const MessageGraph& graph,
                                                  const std::vector<NodeId>& members, ChunkId chunk) {
    const std::size_t count = std::bit_floor(members.size());
    std::vector<std::vector<NodeId>> lists;
    for (std::size_t i = 0; i < count; ++i) lists.push_back({members[i]});
    while (lists.size() > 1) {
        if (!join_pairs(graph, lists, chunk)) return std::nullopt;
    }
    auto order = std::move(lists.front());
    order.insert(order.end(), members.begin() + static_cast<std::ptrdiff_t>(count), members.end());
    return order;
}

std::vector<Parts> partitions(const MessageGraph& graph, const std::vector<NodeId>& members, ChunkId chunk) {
    struct Pair {
        Ticks distance;
        std::size_t a, b;
    };
    std::vector<Pair> pairs;
    for (std::size_t a = 0; a < members.size(); ++a) {
        for (std::size_t b = a + 1; b < members.size(); ++b) {
            const Ticks apart = distance(graph, members[a], members[b], chunk);
            if (apart != kApart) pairs.push_back({apart, a, b});
        }
    }
    std::ranges::stable_sort(pairs, {}, &Pair::distance);
    std::vector<std::size_t> up(members.size());
    std::iota(up.begin(), up.end(), std::size_t{0});
    std::vector<Parts> found;
    std::size_t components = members.size();
    for (std::size_t i = 0; i < pairs.size() && found.size() < kMostPartitions;) {
        const std::size_t before = components;
        const Ticks threshold = pairs[i].distance;
        for (; i < pairs.size() && pairs[i].distance == threshold; ++i) {
            const std::size_t a = component_of(up, pairs[i].a), b = component_of(up, pairs[i].b);
            if (a == b) continue;
            up[std::max(a, b)] = std::min(a, b);
            --components;
        }
        if (components == before) continue;
        if (components == 1) break;
        Parts parts;
        std::vector<std::size_t> number(members.size(), members.size());
        for (std::size_t m = 0; m < members.size(); ++m) {
            std::size_t& part = number[component_of(up, m)];
            if (part == members.size()) {
                part = parts.size();
                parts.emplace_back();
            }
            parts[part].push_back(members[m]);
        }
        align(graph, parts, chunk);
        found.push_back(std::move(parts));
    }
    return found;
}

}  // namespace tutti::heuristics

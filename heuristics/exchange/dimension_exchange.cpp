// All-reduce in as many hops as the network is wide: dimension by dimension of a torus, a mesh or a
// hypercube.
//
// A tree needs the time of its diameter, on a ring of n nodes n - 1 hops; halving and doubling send over 1,
// 2, 4, ... hops, which is n - 1 as well. Here a ring of n = 2^k takes n / 2 hops, which is how far its nodes
// are apart. In hop h neighbours meet in pairs, in turn over the even and the odd edges of the ring, and each
// sends the other what it has. If h is a power of two both add what they get; else they take it in place of
// their own. So sums travel past each other, and no node ever has to hold two of them:
//
//   After hop h = 2^i both nodes of each pair that met have the sum of the 2h nodes around them. Such windows
//   lie at every other edge. In the next h - 1 hops every value moves on in the direction in which it was
//   sent last, one node a hop, and then meets the value of the next window, which touches its own: they are
//   added.
//
// Rings of other lengths are cut open, and a line of m nodes takes m - 1 hops: sums go to the middle from
// both ends, are exchanged there, and come back. Dimensions follow each other, and chunks take them in
// different orders, so that all links have work. That is for small chunks: each link carries every chunk
// about n / 4 times.
//
// 1 KB on a ring of 8 and 32, 500 ns, 50 GB/s: 2.02 and 8.02 us, with trees 3.52 and 15.5; a 4x8 torus: 3.01,
// with trees 5.0. (One-step, which is no schedule because nodes hold several sums, takes 2.14, 8.64
// and 3.39.)
//
// Plans are simulated before they are scheduled, because the dimensions that are found need not be a product.

#include "heuristics/compaction.hpp"
#include "heuristics/exchange/estimates.hpp"
#include "heuristics/exchange/exchanges.hpp"
#include "heuristics/exchange/factors.hpp"

#include <boost/dynamic_bitset.hpp>

#include <algorithm>
#include <bit>
#include <map>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostSimulated = std::size_t{1} << 17;  ///< members * rounds of a plan
constexpr std::size_t kMostSides = 8;                         ///< where a ring is cut open

/// Adds the meeting to the round, which may be the first of its number.
void enter(RoundPlan& plan, std::size_t round, Meeting meeting) {
    if (plan.size() <= round) plan.resize(round + 1);
    plan[round].push_back(std::move(meeting));
}

/// A ring of 2^k nodes, beginning with the even or the odd edges.
void enter_ring(RoundPlan& plan, std::size_t first, std::span<const NodeId> ring, std::size_t side) {
    for (std::size_t hop = 1; hop <= ring.size() / 2; ++hop) {
        for (std::size_t i = (side + hop + 1) % 2; i < ring.size(); i += 2) {
            const NodeId a = ring[i], b = ring[(i + 1) % ring.size()];
            enter(plan, first + hop - 1, {{{a, b}, {b, a}}, !std::has_single_bit(hop)});
        }
    }
}

/// Sums go to the middle, and come back.
void enter_line(RoundPlan& plan, std::size_t first, std::span<const NodeId> line) {
    const std::size_t side = (line.size() - 1) / 2, last = line.size() - 1;
    for (std::size_t i = 0; i < side; ++i) {
        const std::size_t back = first + line.size() - 2 - i;
        const std::pair left(line[i], line[i + 1]), right(line[last - i], line[last - i - 1]);
        const std::pair to_left(left.second, left.first), to_right(right.second, right.first);
        if (left.second == right.second) {  // the middle
            enter(plan, first + i, {{left, right}});
            enter(plan, back, {{to_left, to_right}, true});
            continue;
        }
        enter(plan, first + i, {{left}});
        enter(plan, first + i, {{right}});
        enter(plan, back, {{to_left}, true});
        enter(plan, back, {{to_right}, true});
    }
    if (line.size() % 2 == 0)
        enter(plan, first + side, {{{line[side], line[side + 1]}, {line[side + 1], line[side]}}});
}

/// Where the ring is cut: sides are far from each other.
std::size_t cut_at(std::size_t side, std::size_t length) {
    const std::size_t sides = std::min(length, kMostSides);
    return side % sides * length / sides;
}

/// One dimension after the other, from the turn-th on.
RoundPlan plan_of(const std::vector<Factor>& factors, std::size_t turn) {
    RoundPlan plan;
    for (std::size_t f = 0; f < factors.size(); ++f) {
        const std::size_t first = plan.size(), side = turn / factors.size();
        for (const FactorLine& line : factors[(turn + f) % factors.size()]) {
            if (line.is_ring && std::has_single_bit(line.nodes.size())) {
                enter_ring(plan, first, line.nodes, side % 2);
                continue;
            }
            std::vector<NodeId> open = line.nodes;
            if (line.is_ring)
                std::ranges::rotate(open,
                                    open.begin() + static_cast<std::ptrdiff_t>(cut_at(side, open.size())));
            enter_line(plan, first, open);
        }
    }
    return plan;
}

/// Whether everybody ends with the sum of all, and nothing is added twice.
bool is_right(const RoundPlan& plan, const std::vector<NodeId>& members) {
    if (members.size() * plan.size() > kMostSimulated) return false;
    std::map<NodeId, boost::dynamic_bitset<>> has;
    for (const NodeId member : members) {
        const std::size_t number = has.size();
        has.emplace(member, boost::dynamic_bitset<>(members.size())).first->second.set(number);
    }
    for (const Round& round : plan) {
        for (const Meeting& meeting : round) {
            std::vector<boost::dynamic_bitset<>> sent;
            for (const auto& [from, to] : meeting.messages) sent.push_back(has.at(from));
            for (std::size_t m = 0; m < sent.size(); ++m) {
                auto& target = has.at(meeting.messages[m].second);
                if (!meeting.copies && target.intersects(sent[m])) return false;
                target = meeting.copies ? sent[m] : target | sent[m];
            }
        }
    }
    return std::ranges::all_of(has, [](const auto& entry) { return entry.second.all(); });
}

/// The plans of a set's chunks, in turn; none: the set is no product of lines and rings, or has chunks that
/// not all members hold and want.
std::optional<std::vector<RoundPlan>> plans_of(const Exchanges& exchanges, const Exchanges::Set& set) {
    const std::vector<NodeId>& members = set.members;
    for (const ChunkId chunk : set.chunks) {
        const Demand demand = exchanges.instance().demand(chunk);
        if (!std::ranges::equal(demand.holders, members) || !std::ranges::equal(demand.receivers, members))
            return std::nullopt;
    }
    const auto factors = factors_of(exchanges.graph(), members);
    if (!factors) return std::nullopt;
    std::size_t sides = 2;  // that make different plans
    for (const Factor& factor : *factors) {
        for (const FactorLine& line : factor) {
            if (line.is_ring && !std::has_single_bit(line.nodes.size()))
                sides = std::max(sides, std::min(line.nodes.size(), kMostSides));
        }
    }
    std::vector<RoundPlan> plans;
    for (std::size_t i = 0; i < std::min(set.chunks.size(), sides * factors->size()); ++i)
        plans.push_back(plan_of(*factors, i));
    if (!std::ranges::all_of(plans, [&](const RoundPlan& plan) { return is_right(plan, members); }))
        return std::nullopt;
    return plans;
}

std::optional<std::vector<std::vector<RoundPlan>>> all_plans(const Exchanges& exchanges) {
    std::vector<std::vector<RoundPlan>> plans;  // by set
    if (!exchanges.graph().hops().is_direct()) return std::nullopt;
    for (const Exchanges::Set& set : exchanges.sets()) {
        auto own = plans_of(exchanges, set);
        if (!own) return std::nullopt;
        plans.push_back(std::move(*own));
    }
    return plans;
}

std::size_t messages_of(const RoundPlan& plan) {
    std::size_t messages = 0;
    for (const Round& round : plan) {
        for (const Meeting& meeting : round) messages += meeting.messages.size();
    }
    return messages;
}

}  // namespace

std::optional<Schedule> dimension_exchange(const Exchanges& exchanges, Ticks, const Stop& stop) {
    const auto plans = all_plans(exchanges);
    if (!plans) return std::nullopt;
    std::vector<RoundSum> sums;
    std::size_t messages = 0;
    for (std::size_t s = 0; s < plans->size(); ++s) {
        const auto& own = (*plans)[s];
        const auto& chunks = exchanges.sets()[s].chunks;
        for (std::size_t i = 0; i < chunks.size(); ++i) {
            sums.push_back({chunks[i], &own[i % own.size()]});
            messages += messages_of(*sums.back().plan);
        }
    }
    if (messages > Exchanges::kMostMessages) return std::nullopt;
    const auto moves = schedule_rounds(exchanges.graph(), sums, stop);
    return moves ? std::optional(schedule_of(exchanges.instance(), *moves)) : std::nullopt;
}

Ticks estimate_dimensions(const Exchanges& exchanges) {
    const auto plans = all_plans(exchanges);
    if (!plans) return Ticks::max();
    const MessageGraph& graph = exchanges.graph();
    LoadEstimate loads(graph);
    Ticks latency;
    for (std::size_t s = 0; s < plans->size(); ++s) {
        const auto& own = (*plans)[s];
        const auto& chunks = exchanges.sets()[s].chunks;
        for (std::size_t p = 0; p < own.size(); ++p) {
            Ticks rounds;
            for (const Round& round : own[p]) {
                Ticks slowest;
                for (const Meeting& meeting : round) {
                    for (const auto& [from, to] : meeting.messages) {
                        slowest = std::max(slowest, graph.time(from, to, chunks.front()));
                        loads.add(from, to, chunks.front(),
                                  (chunks.size() + own.size() - 1 - p) / own.size());
                    }
                }
                rounds += slowest;
            }
            latency = std::max(latency, rounds);
        }
    }
    return latency + loads.fullest();
}

}  // namespace tutti::heuristics

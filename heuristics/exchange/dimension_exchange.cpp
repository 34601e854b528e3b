// All-reduce in as many hops as the network is wide: dimension by dimension of a torus, a mesh or a
// hypercube.
//
// A tree needs the time of its diameter, on a ring of n nodes n - 1 hops; halving and doubling send over 1,
// 2, 4, ... hops, which is n - 1 as well. Here a ring of an even n takes n / 2 hops, which is how far its
// nodes are apart. In hop h neighbours meet in pairs, in turn over the even and the odd edges of the ring,
// and each sends the other what it has. So half of the values move right, one node a hop, the others left,
// and they pass each other; no node ever has to hold two. A value is the sum of a window of nodes that are
// next to each other. Where two windows touch as their values meet, each node either adds what it gets or
// takes it in place of its own; else it takes it. For n = 2^k all add in hops 1, 2, 4, 8, ...: windows of 2,
// 4, 8, 16 nodes. In general the sizes are those of a chain of sums, and a search over the hops finds one for
// every even n (6 = 4 + 2: in hop 2 only the values that move left are added).
//
// Odd rings are cut open, and a line of m nodes takes m - 1 hops: sums go to the middle from
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
#include <map>
#include <utility>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostSimulated = std::size_t{1} << 17;  ///< members * rounds of a plan
constexpr std::size_t kMostSides = 8;                         ///< where a ring is cut open

/// Adds the meeting to the round, which may be the first of its number.
void enter(RoundPlan& plan, std::size_t round, Meeting meeting) {
    if (plan.size() <= round) plan.resize(round + 1);
    plan[round].push_back(std::move(meeting));
}

/// Which of the values that meet in a hop are added to what they meet.
struct HopSums {
    bool to_right = false, to_left = false;
};

/// Finds the hops of a ring. Windows of values that move right have `right` nodes and reach `ahead` nodes
/// further than the value has come; those that move left likewise.
class HopSearch {
  public:
    explicit HopSearch(std::size_t nodes) : nodes_(static_cast<std::int64_t>(nodes)) {}

    /// Empty: there are none.
    std::vector<HopSums> run() {
        if (!go_on({1, 0}, {1, 0})) hops_.clear();
        return std::move(hops_);
    }

  private:
    struct Window {
        std::int64_t size, ahead;
    };

    // NOLINTNEXTLINE(misc-no-recursion): as deep as there are hops
    bool go_on(Window right, Window left) {
        const std::int64_t apart = right.ahead + left.ahead;  // how much they overlap
        const auto hops = static_cast<std::int64_t>(hops_.size());
        if (apart < 0 || hops >= nodes_ / 2) return false;
        if (apart > 0) return take({}, {right.size, right.ahead - 1}, {left.size, left.ahead - 1});
        const std::int64_t sum = right.size + left.size;
        if (sum == nodes_) {
            hops_.push_back({true, true});
            return true;
        }
        if (sum > nodes_) return false;
        const Window more_right{sum, left.size - 1 - left.ahead}, same_right{right.size, right.ahead - 1};
        const Window more_left{sum, right.size - 1 - right.ahead}, same_left{left.size, left.ahead - 1};
        return take({true, true}, more_right, more_left) || take({false, true}, same_right, more_left) ||
               take({true, false}, more_right, same_left);
    }
    // NOLINTNEXTLINE(misc-no-recursion)
    bool take(HopSums sums, Window right, Window left) {
        hops_.push_back(sums);
        if (go_on(right, left)) return true;
        hops_.pop_back();
        return false;
    }

    const std::int64_t nodes_;
    std::vector<HopSums> hops_;
};

Meeting meeting_of(NodeId left, NodeId right, HopSums sums) {
    const std::pair there(left, right), back(right, left);
    if (sums.to_right == sums.to_left) return {{there, back}, !sums.to_right};
    return {sums.to_right ? std::vector{there, back} : std::vector{back, there}, false, true};
}

/// A ring of an even number of nodes, beginning with the even or the odd edges.
void enter_ring(RoundPlan& plan, std::size_t first, std::span<const NodeId> ring, std::size_t side,
                std::span<const HopSums> hops) {
    for (std::size_t hop = 0; hop < hops.size(); ++hop) {
        for (std::size_t i = (side + hop) % 2; i < ring.size(); i += 2)
            enter(plan, first + hop, meeting_of(ring[i], ring[(i + 1) % ring.size()], hops[hop]));
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
    std::map<std::size_t, std::vector<HopSums>> rings;  // by length
    for (std::size_t f = 0; f < factors.size(); ++f) {
        const std::size_t first = plan.size(), side = turn / factors.size();
        for (const FactorLine& line : factors[(turn + f) % factors.size()]) {
            if (line.is_ring && line.nodes.size() % 2 == 0) {
                const auto [hops, is_new] = rings.try_emplace(line.nodes.size());
                if (is_new) hops->second = HopSearch(line.nodes.size()).run();
                enter_ring(plan, first, line.nodes, side % 2, hops->second);
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
                const bool replaces = meeting.copies || (meeting.one_adds && m == 1);
                if (!replaces && target.intersects(sent[m])) return false;
                target = replaces ? sent[m] : target | sent[m];
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
            if (line.is_ring && line.nodes.size() % 2 == 1)
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

std::optional<Schedule> dimension_exchange(const Exchanges& exchanges, Ticks, const ExchangeTurn& turn) {
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
    const auto moves = schedule_rounds(exchanges.graph(), sums, turn.first);
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

// Dijkstra over arrival times: a hop entered at tick t starts in its first gap from t on. Waiting never makes
// an arrival earlier, so the first arrival found is the best. A target that is settled joins the tree with
// all relays on its path; these can then forward the chunk without extra cost, so they are labelled again
// without penalties. Labels of nodes outside the tree may then be outdated: when a path is taken, its starts
// are recomputed from the tree on. Where every node is a target this is plain Dijkstra.

#include "heuristics/trees/tree_growth.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kFine = 256;

/// A number below kFine for each hop, different each turn.
std::int64_t noise(std::uint64_t turn, std::uint32_t hop) {
    return static_cast<std::int64_t>(((turn ^ (hop * 0x9E3779B97F4A7C15ULL)) * 0xBF58476D1CE4E5B9ULL) >> 56U);
}

}  // namespace

TreeGrowth::TreeGrowth(const SpreadProblem& problem, const FloodNetwork& network,
                       std::span<const OwnedIntervals> busy)
    : problem_(problem),
      net_(network),
      busy_(busy),
      has_bookings_(problem.calendar.horizon() > Ticks(0)),
      labels_(network.nodes()),
      places_(network.nodes()),
      wanted_(network.nodes(), 0) {}

bool TreeGrowth::grow(std::size_t spread, Penalties penalties, Rng& rng, std::vector<TreeSend>& tree) {
    const Spread& goal = problem_.spreads[spread];
    tree.clear();
    heap_.clear();
    std::ranges::fill(places_, Place::Unseen);
    std::ranges::fill(wanted_, std::uint8_t{0});
    std::size_t missing = 0;
    for (const NodeId target : goal.targets) {
        missing += wanted_[target.index()] == 0 ? 1U : 0U;
        wanted_[target.index()] = 1;
    }
    for (const NodeId source : goal.sources) {
        const std::uint32_t node = source.value();
        if (places_[node] == Place::Tree) continue;
        missing -= wanted_[node];
        labels_[node] = {goal.ready, goal.ready, Ticks(0), Ticks(0), 0};
        places_[node] = Place::Tree;
        heap_.push_back({goal.ready, node});
    }
    std::make_heap(heap_.begin(), heap_.end());
    const std::uint64_t turn = rng.next();
    while (missing > 0) {
        if (heap_.empty()) return false;
        std::pop_heap(heap_.begin(), heap_.end());
        const auto [cost, node] = heap_.back();
        heap_.pop_back();
        if (cost != labels_[node].cost) continue;
        if (wanted_[node] != 0 && places_[node] != Place::Tree) {
            join(node, spread, tree);
            --missing;
        }
        look_from(node, spread, penalties, turn);
    }
    return true;
}

void TreeGrowth::enter(std::uint32_t node, const Label& label) {
    labels_[node] = label;
    heap_.push_back({label.cost, node});
    std::push_heap(heap_.begin(), heap_.end());
}

void TreeGrowth::look_from(std::uint32_t node, std::size_t spread, Penalties penalties, std::uint64_t turn) {
    const Instance& instance = problem_.graph.instance();
    const CollectiveId collective = instance.demand(problem_.spreads[spread].chunk).collective;
    const Label from = labels_[node];
    const auto out = net_.out(node);
    const std::size_t first = ((turn >> (node % 32U)) & UINT32_MAX) * out.size() >> 32U;
    for (std::size_t i = 0; i < out.size(); ++i) {
        const HopEnd& next = out[first + i < out.size() ? first + i : first + i - out.size()];
        const std::uint32_t hop = next.hop.value();
        const std::uint32_t to = next.node.value();
        if (places_[to] == Place::Tree) continue;
        const FloodNetwork::Times& times = net_.times(net_.size_of[spread], hop);
        const bool is_seen = places_[to] == Place::Seen;
        if (is_seen && from.cost + times.transit >= labels_[to].cost) continue;
        const bool is_relay = wanted_[to] == 0;
        if (is_relay && !instance.may_carry(NodeId(to), collective)) continue;
        const Ticks start = earliest(hop, spread, from.arrival);
        const Ticks arrival = start + times.transit;
        std::int64_t tenths = is_relay ? penalties.relay * kFine : 0;
        if (penalties.noise > 0) tenths += penalties.noise * noise(turn, hop);
        const Ticks penalty = from.penalties + Ticks(times.busy.count() * tenths / (10 * kFine));
        const Ticks cost = arrival + penalty;
        if (is_seen && cost >= labels_[to].cost) continue;
        places_[to] = Place::Seen;
        enter(to, {cost, arrival, penalty, start, hop});
    }
}

/// Adds the path to a target to the tree.
void TreeGrowth::join(std::uint32_t node, std::size_t spread, std::vector<TreeSend>& tree) {
    path_.clear();
    for (; places_[node] != Place::Tree; node = net_.from(labels_[node].hop)) path_.push_back(node);
    for (std::size_t i = path_.size(); i-- > 0;) {
        Label& label = labels_[path_[i]];
        const Ticks ready = labels_[net_.from(label.hop)].arrival;
        if (path_.size() > 1) {
            label.start = earliest(label.hop, spread, ready);
            label.arrival = label.start + net_.times(net_.size_of[spread], label.hop).transit;
        }
        label.penalties = Ticks(0);
        label.cost = label.arrival;
        places_[path_[i]] = Place::Tree;
        tree.push_back({label.hop, label.start});
        if (i > 0) enter(path_[i], Label(label));
    }
}

Ticks TreeGrowth::earliest(std::size_t hop, std::size_t spread, Ticks ready) const {
    const Ticks busy = net_.times(net_.size_of[spread], hop).busy;
    Ticks start = busy_[hop].earliest(ready, busy);
    if (!has_bookings_) return start;
    // Until both agree.
    for (;;) {
        const Ticks free =
            problem_.calendar.earliest(problem_.graph, HopId(hop), problem_.spreads[spread].chunk, start);
        start = busy_[hop].earliest(free, busy);
        if (start == free) return start;
    }
}

}  // namespace tutti::heuristics

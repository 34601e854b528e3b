// Exchange of time slots.
//
// When trees have been cut at a deadline and grown again, a few targets may not be reachable through gaps:
// the links into them are free only before the chunk can be there. But the slot that the chunk needs may be
// used by a transfer of another chunk that has other paths. So for each hop into the target from a node that
// has the chunk, and each transfer on it that is late enough, in random order: remove that transfer and its
// descendants from its tree, put this chunk's transfer in its slot, and grow the other tree again through the
// remaining gaps. If that misses a target, the same is tried for it, with fewer tries at each depth; if all
// fails, everything is undone from the journal and the next slot is tried.

#include "heuristics/trees/tree_exchange.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <array>

namespace tutti::heuristics {
namespace {

/// How many slots are tried for one target, by depth of the chain of exchanges.
constexpr std::array<std::size_t, 3> kTreeTries{48, 6, 3};

}  // namespace

TreeExchange::TreeExchange(const SpreadProblem& problem, TimedForest& forest, Ticks deadline, Rng& rng,
                           const Stop& stop)
    : problem_(problem),
      forest_(forest),
      deadline_(deadline),
      rng_(rng),
      stop_(stop),
      tries_left_(problem.options.exchange_tries),
      occupants_(problem.graph.hops()),
      in_tree_(problem.graph.nodes(), 0),
      arrivals_(problem.graph.nodes()) {
    for (std::size_t i = 0; i < forest.trees.size(); ++i) {
        for (const Transfer& transfer : forest.trees[i]) {
            occupants_[transfer.hop.index()].push_back({static_cast<std::uint32_t>(i), transfer.start});
        }
    }
}

bool TreeExchange::complete(std::uint32_t spread, unsigned depth) {
    if (depth == 0) journal_.clear();
    const std::size_t mark = journal_.size();
    while (const auto target = missing_target(spread)) {
        if (depth == kTreeTries.size() || !bring(spread, *target, depth)) {
            roll_back(mark);
            return false;
        }
    }
    return true;
}

bool TreeExchange::bring(std::uint32_t spread, NodeId target, unsigned depth) {
    const auto in = problem_.graph.in(target);
    std::vector<HopEnd> hops(in.begin(), in.end());
    rng_.shuffle(hops);
    std::size_t tries = kTreeTries[depth];
    for (const auto& [from, hop] : hops) {
        const std::size_t mark = journal_.size();
        missing_target(spread);  // other trees were processed since
        if (in_tree_[from.index()] != look_ && !extend(spread, from)) continue;
        for (const Place& place : places_on(hop, spread)) {
            if (tries-- == 0) break;
            if (take(place, spread, depth)) return true;
        }
        roll_back(mark);
        if (tries == 0) break;
    }
    return false;
}

/// Grows the tree to a node that may help.
bool TreeExchange::extend(std::uint32_t spread, NodeId node) {
    const Spread& given = problem_.spreads[spread];
    if (!problem_.graph.instance().may_carry(node,
                                             problem_.graph.instance().demand(given.chunk).collective)) {
        return false;
    }
    return regrow({given.chunk, given.sources, given.ready, {&node, 1}}, spread, forest_.trees[spread]);
}

/// Replaces the tree by `rest`, grown to the targets of `goal`. It is booked even if it misses some.
bool TreeExchange::regrow(const Spread& goal, std::uint32_t spread, std::vector<Transfer> rest) {
    replace(spread, std::move(rest));
    std::vector<Transfer> added;
    auto& tree = forest_.trees[spread];
    const bool grown = forest_.growth.grow(goal, tree, deadline_, stop_, added);
    for (const Transfer& transfer : added) {
        occupants_[transfer.hop.index()].push_back({spread, transfer.start});
        tree.push_back(transfer);
    }
    return grown;
}

std::optional<NodeId> TreeExchange::missing_target(std::uint32_t spread) {
    const Spread& given = problem_.spreads[spread];
    ++look_;
    const auto see = [&](NodeId node, Ticks arrival) {
        in_tree_[node.index()] = look_;
        arrivals_[node.index()] = arrival;
    };
    for (const NodeId source : given.sources) see(source, given.ready);
    for (const auto& [hop, chunk, start] : forest_.trees[spread]) {
        see(problem_.graph.hop(hop).to, start + problem_.graph.transit(hop, chunk));
    }
    for (const NodeId target : given.targets) {
        if (in_tree_[target.index()] != look_) return target;
    }
    return std::nullopt;
}

/// The transfers on the hop at times when the spread could use it, in random order.
std::vector<TreeExchange::Place> TreeExchange::places_on(HopId hop, std::uint32_t spread) {
    const HopGraph& graph = problem_.graph;
    const Ticks transit = graph.transit(hop, problem_.spreads[spread].chunk);
    missing_target(spread);
    const Ticks ready = arrivals_[graph.hop(hop).from.index()];
    std::vector<Place> places;
    for (const Occupant& occupant : occupants_[hop.index()]) {
        if (occupant.start < ready || occupant.start + transit > deadline_) continue;
        // Only a transfer that takes at least as long frees a large enough slot.
        if (graph.transit(hop, problem_.spreads[occupant.spread].chunk) < transit) continue;
        places.push_back({hop, occupant});
    }
    rng_.shuffle(places);
    return places;
}

/// Gives the slot to the spread if the tree that loses it can be completed.
bool TreeExchange::take(const Place& place, std::uint32_t spread, unsigned depth) {
    if (tries_left_ == 0 || stop_.requested()) return false;
    --tries_left_;
    const std::size_t mark = journal_.size();
    const HopGraph& graph = problem_.graph;
    const std::uint32_t other = place.occupant.spread;

    std::vector<Transfer> rest;
    std::vector<NodeId> lost;
    for (const Transfer& transfer : forest_.trees[other]) {
        const Hop hop = graph.hop(transfer.hop);
        if (transfer.hop == place.hop || std::ranges::find(lost, hop.from) != lost.end()) {
            lost.push_back(hop.to);
        } else {
            rest.push_back(transfer);
        }
    }
    replace(other, rest);
    auto ours = forest_.trees[spread];
    ours.push_back({place.hop, problem_.spreads[spread].chunk, place.occupant.start});
    replace(spread, std::move(ours));
    if (regrow(problem_.spreads[other], other, std::move(rest)) || complete(other, depth + 1)) return true;
    roll_back(mark);
    return false;
}

void TreeExchange::replace(std::uint32_t spread, std::vector<Transfer> tree) {
    journal_.push_back({spread, forest_.trees[spread]});
    clear(spread);
    set(spread, std::move(tree));
}

void TreeExchange::clear(std::uint32_t spread) {
    auto& tree = forest_.trees[spread];
    forest_.growth.release(tree);
    for (const Transfer& transfer : tree) {
        auto& occupants = occupants_[transfer.hop.index()];
        *std::ranges::find(occupants, spread, &Occupant::spread) = occupants.back();
        occupants.pop_back();
    }
    tree.clear();
}

/// Precondition: the tree is clear.
void TreeExchange::set(std::uint32_t spread, std::vector<Transfer> tree) {
    expects(forest_.trees[spread].empty());
    forest_.growth.book(tree);
    for (const Transfer& transfer : tree) {
        occupants_[transfer.hop.index()].push_back({spread, transfer.start});
    }
    forest_.trees[spread] = std::move(tree);
}

void TreeExchange::roll_back(std::size_t mark) {
    // All slots are freed before any is booked again; the oldest snapshot of a tree counts.
    for (std::size_t i = mark; i < journal_.size(); ++i) clear(journal_[i].spread);
    for (std::size_t i = mark; i < journal_.size(); ++i) {
        const auto older = journal_.begin() + static_cast<std::ptrdiff_t>(mark);
        const auto here = journal_.begin() + static_cast<std::ptrdiff_t>(i);
        const bool first =
            std::none_of(older, here, [&](const Snapshot& s) { return s.spread == here->spread; });
        if (first) set(here->spread, std::move(here->tree));
    }
    journal_.resize(mark);
}

}  // namespace tutti::heuristics

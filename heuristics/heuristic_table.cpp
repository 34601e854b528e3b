// The table of heuristics. A new one is a file of its own and a row here. Most solve one phase of an
// instance: the row then has a function that solves a SpreadProblem, one that explains why it cannot, and one
// that says when the portfolio tries it. README.md lists the files. Heuristics are tried in the order of the
// rows; another order means other random numbers and so other schedules.

#include "heuristics/flood/flood_search.hpp"
#include "heuristics/heuristic.hpp"
#include "heuristics/levels/broadcast.hpp"
#include "heuristics/levels/last_rank.hpp"
#include "heuristics/levels/level_rounds.hpp"
#include "heuristics/levels/message_orders.hpp"
#include "heuristics/levels/packed_rounds.hpp"
#include "heuristics/levels/two_levels.hpp"
#include "heuristics/lockstep/lockstep.hpp"
#include "heuristics/paths/negotiated_paths.hpp"
#include "heuristics/paths/priced_paths.hpp"
#include "heuristics/ring/ring.hpp"
#include "heuristics/switches/switch_flood.hpp"
#include "heuristics/symmetry/quotient.hpp"
#include "heuristics/trees/packed_trees.hpp"
#include "heuristics/trees/repair.hpp"
#include "heuristics/trees/steiner_trees.hpp"
#include "heuristics/trees/tree_insertion.hpp"

#include <algorithm>
#include <array>

namespace tutti::heuristics {
namespace {

/// The best of several tries of a heuristic that makes one solution per call.
template <SpreadHeuristic kHeuristic>
std::optional<SpreadSolution> best_try(const SpreadProblem& problem, Rng& rng, const Stop& stop,
                                       std::size_t tries) {
    std::optional<SpreadSolution> best;
    for (std::size_t i = 0; i < tries && !stop.requested(); ++i) {
        if (best && best->makespan <= problem.target) break;
        auto tried = kHeuristic(problem, rng, stop);
        if (tried && (!best || tried->makespan < best->makespan)) best = std::move(tried);
    }
    return best;
}

std::string always(const SpreadProblem&) { return {}; }
bool has_switches(const Instance& instance) { return instance.topology().switches() > 0; }
bool has_broadcasts(const Instance& instance) { return why_no_broadcast_rounds(instance).empty(); }
bool has_unicasts(const Instance& instance) { return why_no_packed_rounds(instance).empty(); }
bool has_last_rank(const Instance& instance) { return why_no_last_rank(instance).empty(); }
/// It is tried in other places (src/synth).
bool never(const Instance&) { return false; }

using Traits = SpreadTraits;
using Options = SearchOptions;

const std::array kTable{
    Heuristic{kSymmetry,
              "schedule one chunk of each orbit under shifts of the network, translate it to the others",
              OrbitHeuristic{why_no_symmetry, quotient_synthesis}},
    Heuristic{kSymmetricTrees,
              "all-reduce: one tree of sums for each orbit under shifts of the network, by local search",
              OrbitHeuristic{why_no_symmetric_trees, symmetric_trees}},
    Heuristic{
        "priced-paths",
        "a path for each chunk under prices of full links, then list scheduling; one receiver per chunk",
        PhaseHeuristic{why_no_paths, [](const Traits& traits, const Options&) { return traits.unicast; }, 8,
                       best_try<route_paths>}},
    Heuristic{"negotiated-paths",
              "paths and times at once: chunks negotiate for slots of links; one receiver per chunk",
              PhaseHeuristic{why_no_negotiation,
                             [](const Traits& traits, const Options& options) {
                                 return traits.unicast && traits.sends <= options.slow_sends;
                             },
                             8, best_try<negotiate_paths>}},
    Heuristic{
        "port-matching", "each free port of an NPU pulls a chunk that it lacks through free switches",
        PhaseHeuristic{why_no_switch_flood,
                       [](const Traits& traits, const Options&) { return !traits.unicast && !traits.direct; },
                       2, best_try<flood_switched>}},
    Heuristic{kSynchronousSteps,
              "all links send in equal steps; for all-gathers of thousands of NPUs on equal links",
              PhaseHeuristic{why_no_lockstep,
                             [](const Traits& traits, const Options& options) {
                                 return !traits.unicast && traits.direct && traits.whole &&
                                        traits.nodes >= options.many_npus;
                             },
                             kOneTry, best_try<lockstep>}},
    Heuristic{
        "link-matching", "each free link takes the chunk that is rarest around its destination",
        PhaseHeuristic{why_no_flood,
                       [](const Traits& traits, const Options&) { return !traits.unicast && traits.direct; },
                       1, flood_search}},
    Heuristic{"packed-trees",
              "broadcasts: trees that share no link, each with a part of the chunks, one after the other",
              PhaseHeuristic{why_no_packed_trees,
                             [](const Traits& traits, const Options&) {
                                 return !traits.unicast && traits.direct && traits.whole && traits.alike;
                             },
                             1, packed_trees}},
    Heuristic{
        "steiner-trees",
        "a tree for each chunk under prices of full links, then list scheduling and trimming of what is late",
        PhaseHeuristic{always,
                       [](const Traits& traits, const Options& options) {
                           const bool few = traits.sends <= options.slow_sends;
                           return !traits.unicast && (!traits.whole || (few && !traits.direct));
                       },
                       16, best_try<plan_trees>}},
    Heuristic{kTreeInsertion, "chunk by chunk a tree of earliest arrivals through the gaps that others left",
              PhaseHeuristic{always,
                             [](const Traits& traits, const Options& options) {
                                 return traits.sends <= options.slow_sends;
                             },
                             8, best_try<insert_trees>}},
    Heuristic{kRuinAndRecreate, "take a few trees out of the best schedule and grow them again, many times",
              Improvement{why_no_repair, improve}},
    Heuristic{kPipelinedAllReduce, "early sums are distributed while late ones are still made",
              FlowHeuristic{pipeline_all_reduce}},
    Heuristic{
        kRing,
        "each chunk is passed around a ring of NPUs, first come, first served; the first schedule where "
        "time is short",
        DirectHeuristic{why_no_ring, never, ring_schedule}},
    Heuristic{"two-levels",
              "between the nodes of a cluster in waves, then within them in rounds; rails, fat trees",
              DirectHeuristic{why_no_two_levels, has_switches, two_levels}},
    Heuristic{"crossbar-rounds",
              "each chunk straight to every receiver, in rounds in which every NPU sends and receives once",
              DirectHeuristic{why_no_crossbar_rounds, has_switches, crossbar_rounds}},
    Heuristic{kLevelRounds,
              "all-gather, reduce-scatter, all-reduce: level by level in rounds; for schedules too large to "
              "hold",
              DirectHeuristic{why_no_level_rounds, never, level_rounds}},
    Heuristic{
        "packed-rounds",
        "chunks with one receiver, in rounds of messages that share no link and leave no full link idle",
        DirectHeuristic{why_no_packed_rounds, has_unicasts, packed_rounds}},
    Heuristic{kMessageOrders,
              "all-gathers and reduce-scatters through switches: local search on the order of messages",
              DirectHeuristic{why_no_message_orders, never, message_orders}},
    Heuristic{kBroadcastRounds,
              "broadcasts, and reductions to one NPU, in the rounds of a crossbar or pushed in time",
              DirectHeuristic{why_no_broadcast_rounds, has_broadcasts, broadcast_rounds}},
    Heuristic{"last-rank",
              "all-reduce with a rank that is released last: the others sum first, then exchange with it",
              DirectHeuristic{why_no_last_rank, has_last_rank, last_rank}},
    Heuristic{kSwitchSums, "switches add what arrives at one tick, and copy it to all who want it",
              ExchangeHeuristic{why_no_switch_sums, switch_sums}},
    Heuristic{"recursive-doubling", "all-reduce: pairs exchange their sums, in log n rounds",
              ExchangeHeuristic{why_no_rounds, recursive_doubling, estimate_doubling}},
    Heuristic{"recursive-multiplying", "all-reduce: larger sets exchange their sums, in fewer rounds",
              ExchangeHeuristic{why_no_rounds, recursive_multiplying, estimate_multiplying}},
    Heuristic{"folded-exchange",
              "all-reduce: sums go to keepers, who exchange them in rounds and hand them back",
              ExchangeHeuristic{why_no_rounds, folded_exchange, estimate_folded}},
    Heuristic{"dimension-exchange",
              "all-reduce: dimension by dimension of a torus or mesh, in as many hops as it is wide",
              ExchangeHeuristic{why_no_rounds, dimension_exchange, estimate_dimensions}},
    Heuristic{"all-pairs", "all-reduce: everybody sends all it has to everybody at once, in one round",
              ExchangeHeuristic{why_no_rounds, all_pairs, estimate_pairs}},
    Heuristic{"direct-exchange", "each chunk is summed up at its root and returned to all, without relays",
              ExchangeHeuristic{why_no_sum_trees, direct_exchange, estimate_direct}},
    Heuristic{"halving-doubling", "each chunk is exchanged along a binomial tree",
              ExchangeHeuristic{why_no_sum_trees, halving_doubling, estimate_halving}},
    Heuristic{"two-way-ring", "each chunk is exchanged around a ring, both ways",
              ExchangeHeuristic{why_no_sum_trees, two_way_ring, estimate_ring}},
    Heuristic{"double-trees", "each chunk is exchanged along a balanced binary tree",
              ExchangeHeuristic{why_no_sum_trees, double_trees, estimate_double_trees}},
    Heuristic{"two-level-trees", "each chunk is exchanged along a tree in each part and one over the parts",
              ExchangeHeuristic{why_no_sum_trees, two_level_trees, estimate_two_levels}},
    Heuristic{kGrownTrees, "each chunk is exchanged along a tree that avoids full links; local search",
              ExchangeHeuristic{why_no_sum_trees, grown_trees}},
};

}  // namespace

std::span<const Heuristic> heuristics() { return kTable; }

const Heuristic* find_heuristic(std::string_view name) {
    const auto found = std::ranges::find(kTable, name, &Heuristic::name);
    return found == kTable.end() ? nullptr : &*found;
}

SpreadTraits traits_of(const SpreadProblem& problem) {
    SpreadTraits traits;
    traits.nodes = problem.graph.nodes();
    traits.direct = problem.graph.is_direct();
    traits.alike = problem.spreads.size() > 1;
    const std::size_t npus = problem.graph.instance().topology().npus();
    for (const Spread& spread : problem.spreads) {
        traits.sends += spread.targets.size();
        traits.unicast = traits.unicast && spread.targets.size() == 1;
        traits.alike = traits.alike && std::ranges::equal(spread.sources, problem.spreads.front().sources);
        traits.whole = traits.whole && spread.targets.size() == npus;
    }
    return traits;
}

}  // namespace tutti::heuristics

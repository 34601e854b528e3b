// The order of the heuristics. Those that need no search come first, and each ends the matter if it meets the
// bound: symmetric schedules, which are made from one chunk of each orbit; constructions that know the shape
// of the network, after which the bounds of bounded work are computed, because they often meet them; a ring,
// so that every time limit yields a schedule (first of all where the constructions may take longer than there
// is time: 512 NPUs on a fat tree in 2 s); textbook all-reduces, in the order of what they promise. Then the
// portfolio searches (heuristics/greedy). With a time limit, symmetry, the trees of sums and the portfolio go
// on until it.

#include "synth/heuristic_search.hpp"

#include "core/stoppable_source.hpp"
#include "heuristics/exchange/annealed_trees.hpp"
#include "heuristics/exchange/grown_trees.hpp"
#include "heuristics/levels/broadcast.hpp"
#include "heuristics/levels/level_rounds.hpp"
#include "heuristics/lockstep/lockstep.hpp"
#include "heuristics/paths/path_stream.hpp"
#include "heuristics/ring/ring.hpp"
#include "heuristics/symmetry/quotient.hpp"
#include "synth/composition.hpp"
#include "synth/judge.hpp"
#include "verify/schedule_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::synth {
namespace {

constexpr const char* kGreedy = "greedy";
const std::string kSymmetry(heuristics::kSymmetry);
constexpr std::uint64_t kTreesEffort = 16;       ///< a message of a tree is tried faster than a flood's
constexpr std::size_t kManyPaths = 500'000;      ///< fewer chunks hardly take too many sends to hold
constexpr double kSecondsOfPath = 1e-6;          ///< what planning and verifying a send of a path takes
constexpr double kSecondsOfConstruction = 1e-6;  ///< what a send takes in a construction
constexpr double kSafety = 4;                    ///< so much longer may a construction take
constexpr const char* kNoScheduleYet = "stopped by the limits or an interrupt before there was a schedule";

/// Whether every message passes a switch.
bool is_all_switched(const Topology& topology) {
    return std::ranges::none_of(topology.links(), [&](const Link& link) {
        return topology.is_npu(link.src) && topology.is_npu(link.dst);
    });
}

/// The number of required arrivals, of two sends each if they come through switches: about the least number
/// of sends of a schedule.
std::uint64_t least_sends(const Instance& instance) {
    std::uint64_t sends = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        sends += demand.receivers.size() + (demand.reduction ? demand.holders.size() : 0);
    }
    return is_all_switched(instance.topology()) ? 2 * sends : sends;
}

/// Whether there are sums that several NPUs want.
bool has_shared_sums(const Instance& instance) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (demand.reduction && demand.receivers.size() > 1) return true;
    }
    return false;
}

bool has_able_switches(const Instance& instance) {
    return std::ranges::any_of(instance.topology().parts().switches,
                               [](const SwitchRule& rule) { return rule.copy || rule.reduce; });
}

using Estimated = std::pair<Ticks, const heuristics::Heuristic*>;

/// Those that promise to be the shortest first; before them those without an estimate, except for the local
/// search, which takes all the time it gets.
std::vector<Estimated> in_order(const std::vector<const heuristics::Heuristic*>& chosen,
                                const heuristics::Exchanges& exchanges, const Stop& stop) {
    std::vector<Estimated> sorted;
    for (const heuristics::Heuristic* heuristic : chosen) {
        const auto* exchange = heuristic->as<heuristics::ExchangeHeuristic>();
        Ticks estimate = heuristic->name == heuristics::kGrownTrees ? Ticks::max() : Ticks(0);
        if (exchange->estimate != nullptr && !stop.requested() &&
            exchange->why_not(exchanges.instance()).empty())
            estimate = exchange->estimate(exchanges);
        sorted.emplace_back(estimate, heuristic);
    }
    std::ranges::stable_sort(sorted, {}, &Estimated::first);
    return sorted;
}

/// "steiner-trees 15, pipelined-all-reduce 14; reduction: link-matching none, steiner-trees 7; ...": the
/// whole first. Repairs that gained nothing are left out.
std::string candidates_text(const std::vector<Candidate>& candidates) {
    std::vector<std::pair<std::string, std::string>> parts{{"", ""}};
    for (const Candidate& candidate : candidates) {
        if (!candidate.makespan && candidate.heuristic == heuristics::kRuinAndRecreate) continue;
        auto part = std::ranges::find_if(parts, [&](const auto& p) { return p.first == candidate.part; });
        if (part == parts.end()) part = parts.insert(parts.end(), {candidate.part, ""});
        if (!part->second.empty()) part->second += ", ";
        part->second += fmt::format(
            "{} {}", candidate.heuristic,
            candidate.makespan ? std::to_string(candidate.makespan->count()) : std::string("none"));
    }
    std::string line;
    for (const auto& [part, list] : parts) {
        if (list.empty()) continue;
        if (!line.empty()) line += "; ";
        line += part.empty() ? list : part + ": " + list;
    }
    return line;
}

}  // namespace

HeuristicSearch::HeuristicSearch(const Instance& instance, const Request& request, const Stop& stop,
                                 BestSoFar& best, Bounding& bounding)
    : instance_(instance),
      request_(request),
      options_(request.options),
      alone_(heuristics::find_heuristic(request.heuristic)),
      stop_(stop),
      sends_wanted_(least_sends(instance)),
      best_(best),
      bounding_(bounding) {}

void HeuristicSearch::search_quickly() {
    if (has_turn<heuristics::OrbitHeuristic>()) {
        if (search_by_symmetry(options_.symmetry_effort, stop_)) return;
        if (search_by_symmetric_trees(options_.symmetry_effort * kTreesEffort, stop_)) return;
        if (is_over_for_one_alone()) return;
    }
    if (alone_ == nullptr || alone_->name == heuristics::kSynchronousSteps) {
        if (search_in_lockstep()) return;
    }
    if (alone_ == nullptr && search_by_streamed_paths()) return;
    if (has_turn<heuristics::DirectHeuristic>()) {
        const bool is_ring = alone_ != nullptr && alone_->name == heuristics::kRing;
        const bool is_by_levels = alone_ != nullptr && alone_->name == heuristics::kLevelRounds;
        if (is_by_levels && is_too_large_to_hold() && search_by_levels()) return;
        const bool is_ring_first = is_ring || (alone_ == nullptr && is_time_short());
        if (is_ring_first && search_by_rings()) return;
        if (!is_ring) construct();
        if (alone_ == nullptr) improve_orders(options_.order_work);
        if (!is_ring_first && alone_ == nullptr && best_.wants_better() && search_by_rings()) return;
        if (is_over_for_one_alone() || !best_.wants_better()) return;
    }
    if (has_turn<heuristics::ExchangeHeuristic>()) {
        search_by_textbook();
        finish_textbook(options_.textbook_share);
        if (is_over_for_one_alone() || !best_.wants_better()) return;
    }
    search_greedily(heuristics::Effort::Quick);
}

/// Whether the constructions may take longer than there is time, so that a ring must come first.
bool HeuristicSearch::is_time_short() const {
    const auto left = stop_.remaining();
    return left && !best_.has_schedule() &&
           left->count() < kSafety * kSecondsOfConstruction * static_cast<double>(sends_wanted_);
}

/// The one heuristic that was asked for has had its turn. Throws LimitError if it found nothing.
bool HeuristicSearch::is_over_for_one_alone() const {
    if (alone_ != nullptr && !best_.has_schedule()) throw LimitError(why_nothing());
    return alone_ != nullptr;
}

void HeuristicSearch::search_until_stopped() {
    const auto left = stop_.remaining();
    if (!left || best_.result().schedule.sends.empty()) return;
    if (is_alone<heuristics::DirectHeuristic>() || is_alone<heuristics::ExchangeHeuristic>())
        return;  // it would only do the same again
    const bool symmetry_alone = is_alone<heuristics::OrbitHeuristic>();
    if (has_symmetry_) {
        const Stop its = symmetry_alone ? stop_ : stop_.within(*left * options_.symmetry_share);
        if (!search_by_symmetry(UINT64_MAX,
                                symmetry_alone ? its : its.within(*left * options_.symmetry_share / 2)))
            (void)search_by_symmetric_trees(UINT64_MAX, its);
    }
    if (!symmetry_alone) {
        // They have had no turn if symmetry ended the quick search, with a gap that is small but not zero.
        if (!has_tried_textbook_ && best_.has_gap()) search_by_textbook();
        finish_textbook(options_.tree_share);
        improve_trees();
        improve_broadcasts();
        improve_orders(UINT64_MAX);
        if (best_.has_gap() && !stop_.requested()) search_greedily(heuristics::Effort::Anytime);
    }
    if (!best_.has_gap())
        best_.conclude(
            fmt::format("{} meets the bound ({})", best_.result().method, best_.result().bound.kind));
}

std::string HeuristicSearch::why_nothing() const {
    if (alone_ == nullptr || stop_.requested()) return kNoScheduleYet;
    return fmt::format("the heuristic {} found no schedule", alone_->name);
}

/// What a heuristic made of the whole instance, as a candidate; it is taken if it is the best so far.
Candidate HeuristicSearch::offered(std::string_view heuristic, double begin, std::optional<Schedule> schedule,
                                   std::string why_none) {
    Candidate candidate{.heuristic = std::string(heuristic)};
    if (schedule) {
        candidate.makespan = schedule->makespan;
        candidate.sends = schedule->sends.size();
        (void)best_.offer(std::move(*schedule), kGreedy, heuristic);
    } else {
        candidate.why_none = stop_.requested() ? "stopped" : std::move(why_none);
    }
    candidate.seconds = best_.seconds() - begin;
    return candidate;
}

/// For all-reduces: a lower bound of every reduce-scatter followed by an all-gather.
std::optional<Ticks> HeuristicSearch::least_composition() const {
    const auto halves = halves_of(instance_);
    if (!halves) return std::nullopt;
    // A goal of the search, not a bound that anybody is told.
    return bounds::simple_bounds(halves->reduce_scatter, stop_).front().value +
           bounds::simple_bounds(halves->all_gather, stop_).front().value;
}

/// One chunk of each orbit stands for all. True: nothing else need be tried.
bool HeuristicSearch::search_by_symmetry(std::uint64_t effort, const Stop& stop) {
    if (alone_ != nullptr && alone_->name != heuristics::kSymmetry) return false;
    Rng rng(request_.seed);
    // What symmetry makes of an all-reduce is a reduce-scatter and an all-gather.
    const auto composition = least_composition();
    const Ticks target = std::max(best_.bound().value, composition.value_or(Ticks(0)));
    const double begin = best_.seconds();
    const Offer offer = offer_symmetric(kSymmetry, begin,
                                        heuristics::quotient_synthesis(instance_, target, rng, stop, effort));
    if (offer != Offer::Taken) return offer == Offer::TakenUnheld;
    if (composition && best_.makespan() <= *composition) {
        best_.set_composed(*composition);
        if (best_.relative_gap() <= options_.small_gap) return true;  // no other composition is shorter
    }
    return !best_.has_gap();
}

/// All-reduces that are no composition. True: nothing else need be tried.
bool HeuristicSearch::search_by_symmetric_trees(std::uint64_t effort, const Stop& stop) {
    if (alone_ != nullptr && alone_->name != heuristics::kSymmetricTrees) return false;
    Rng rng(request_.seed);
    const double begin = best_.seconds();
    auto schedule = heuristics::symmetric_trees(instance_, best_.bound().value, rng, stop, effort);
    const Offer offer = offer_symmetric(heuristics::kSymmetricTrees, begin, std::move(schedule));
    return offer == Offer::TakenUnheld || (offer == Offer::Taken && !best_.has_gap());
}

HeuristicSearch::Offer HeuristicSearch::offer_symmetric(std::string_view heuristic, double begin,
                                                        std::optional<symmetry::SymmetricSchedule> schedule) {
    if (!schedule) return Offer::NotTaken;
    has_symmetry_ = true;
    Candidate candidate{std::string(heuristic), {}, schedule->makespan, {}, best_.seconds() - begin};
    candidate.sends = schedule->sends.size();
    for (const auto& generator : schedule->generators) candidate.sends *= generator.order;
    best_.enter({std::move(candidate)});
    if (!best_.is_improved_by(schedule->makespan)) return Offer::NotTaken;
    const Verdict verdict = judge(best_.instance(), *schedule, best_.bound(), kSymmetry);
    best_.tell(fmt::format("{:8} {} in {} sends, {:.3f} s", heuristic, verdict.makespan.count(),
                           verdict.sends, best_.seconds()));
    if (verdict.sends > kMostSendsHeld) {
        best_.take_unheld(verdict, kSymmetry, heuristic, std::move(schedule));
        return Offer::TakenUnheld;
    }
    best_.offer(expanded(instance_, *schedule), kSymmetry, heuristic);
    return Offer::Taken;
}

/// Takes a schedule that is verified while it is made, and never held.
template <class Source>
void HeuristicSearch::take_streamed(Source& made, std::string_view heuristic, double begin) {
    StoppableSource until(made, stop_);
    const auto tapped = request_.tap ? request_.tap(until) : nullptr;
    const Verdict verdict = verify::verify(best_.instance(), tapped ? *tapped : until);
    if (!made.is_complete()) throw LimitError(kNoScheduleYet);
    judge(verdict, best_.bound(), std::string(heuristic));
    best_.take_unheld(verdict, kGreedy, heuristic);
    best_.enter({{std::string(heuristic), {}, verdict.makespan, {}, best_.seconds() - begin, verdict.sends}});
    best_.tell(fmt::format("greedy   {} in {} sends, {:.3f} s", verdict.makespan.count(), verdict.sends,
                           best_.seconds()));
}

/// False: it does not apply.
bool HeuristicSearch::search_in_lockstep() {
    if (!is_too_large_to_hold() || !heuristics::fits_lockstep(instance_)) return false;
    const double begin = best_.seconds();
    heuristics::LockstepGather made(instance_, request_.seed, stop_);
    take_streamed(made, heuristics::kSynchronousSteps, begin);
    return true;
}

/// Paths of single chunks, if they are too many sends to hold. False: it does not apply, or the time is
/// short.
bool HeuristicSearch::search_by_streamed_paths() {
    if (is_too_large_to_hold() || instance_.chunks() < kManyPaths) return false;
    const std::uint64_t sends = heuristics::sends_of_shortest_paths(instance_);
    if (sends <= kMostSendsHeld) return false;
    const auto left = stop_.remaining();
    if (left && left->count() < kSecondsOfPath * static_cast<double>(sends)) return false;
    const double begin = best_.seconds();
    heuristics::PathStream made(instance_, best_.bound().value, options_, request_.seed, stop_);
    if (!made.why_none().empty()) return false;
    take_streamed(made, "priced-paths", begin);
    return true;
}

/// A first schedule in linear time. True: it is not held, and nothing else is tried.
bool HeuristicSearch::search_by_rings() {
    const bool unheld = is_too_large_to_hold();
    // Without a limit the others find better schedules, if they can hold them.
    const bool is_last_resort = unheld && instance_.topology().switches() > 0;
    if (alone_ == nullptr && !stop_.remaining() && !is_last_resort) return false;
    const double begin = best_.seconds();
    std::optional<Schedule> schedule;
    std::string why_none = "an NPU has no path to the next one";
    if (unheld) {
        if (alone_ == nullptr && search_by_levels()) return true;
        heuristics::RingSchedule made(instance_, stop_);
        if (made.why_none().empty()) {
            take_streamed(made, heuristics::kRing, begin);
            return true;
        }
        why_none = made.why_none();
    } else {
        schedule = heuristics::ring_schedule(instance_, stop_);
    }
    Candidate candidate = offered(heuristics::kRing, begin, std::move(schedule), std::move(why_none));
    if (candidate.makespan)
        best_.tell(fmt::format("ring     {} in {} sends, {:.3f} s", candidate.makespan->count(),
                               candidate.sends, best_.seconds()));
    best_.enter({std::move(candidate)});
    return false;
}

/// Level by level, not held. False: it does not apply.
bool HeuristicSearch::search_by_levels() {
    const double begin = best_.seconds();
    heuristics::LevelRounds made(instance_, stop_);
    if (!made.why_none().empty()) {
        best_.enter(
            {{std::string(heuristics::kLevelRounds), {}, {}, made.why_none(), best_.seconds() - begin}});
        return false;
    }
    take_streamed(made, heuristics::kLevelRounds, begin);
    return true;
}

/// The constructions that take a whole instance at once: a good first schedule in little time. Bounds of
/// bounded work may then show that it is optimal, and nothing need be searched.
void HeuristicSearch::construct() {
    if (is_too_large_to_hold()) return;
    for (const auto& heuristic : heuristics::heuristics()) {
        const auto* direct = heuristic.as<heuristics::DirectHeuristic>();
        const bool is_asked =
            alone_ == nullptr ? direct != nullptr && direct->is_tried(instance_) : alone_ == &heuristic;
        if (is_asked && best_.wants_better() && !stop_.requested()) construct_by(heuristic, *direct);
    }
    if (!best_.has_schedule() || !best_.has_gap()) return;
    bounding_.go_on_quickly(best_.makespan(), bounding_.share_of(stop_));
    best_.raise(bounding_.best());
}

void HeuristicSearch::construct_by(const heuristics::Heuristic& heuristic,
                                   const heuristics::DirectHeuristic& direct) {
    const double begin = best_.seconds();
    auto schedule = direct.run(instance_, stop_);
    std::string why_none = schedule ? "" : direct.why_not(instance_);
    if (why_none.empty()) why_none = "it found no path";
    Candidate candidate = offered(heuristic.name, begin, std::move(schedule), std::move(why_none));
    if (candidate.makespan)
        best_.tell(fmt::format("{} {} in {} sends, {:.3f} s", heuristic.name, candidate.makespan->count(),
                               candidate.sends, best_.seconds()));
    best_.enter({std::move(candidate)});
}

/// The textbook algorithms, where there are all-reduces, switches that copy or reduce, or one is asked for.
void HeuristicSearch::search_by_textbook() {
    const bool all = alone_ == nullptr;
    if (best_.has_schedule() && stop_.requested()) return;
    has_tried_textbook_ = true;
    const bool sums = has_shared_sums(instance_);
    if (!heuristics::Exchanges::why_not(instance_).empty()) return;
    if (all && !sums && !has_able_switches(instance_)) return;
    std::vector<const heuristics::Heuristic*> chosen;
    for (const heuristics::Heuristic& heuristic : heuristics::heuristics()) {
        if (heuristic.as<heuristics::ExchangeHeuristic>() == nullptr) continue;
        if (all ? sums || heuristic.name == heuristics::kSwitchSums : alone_ == &heuristic)
            chosen.push_back(&heuristic);
    }
    const auto left = stop_.remaining();
    run_textbook(chosen, all && left ? stop_.within(*left * options_.textbook_share) : stop_, !all);
}

/// Those that had not enough time, once more, for a share of the time that is left.
void HeuristicSearch::finish_textbook(double share) {
    const auto left = stop_.remaining();
    if (alone_ != nullptr || unfinished_.empty() || !left || !best_.wants_better() || stop_.requested())
        return;
    run_textbook(std::exchange(unfinished_, {}), stop_.within(*left * share), true);
}

/// Each gets a third of the time that the ones before have left, the last ones equal parts. The first try of
/// one that promises to be shorter than what is known has more time: on a busy machine all would be stopped
/// within their first tries otherwise.
void HeuristicSearch::run_textbook(const std::vector<const heuristics::Heuristic*>& chosen, const Stop& stop,
                                   bool is_in_order) {
    const auto half_of_all = [&] {
        const auto left = stop_.remaining();
        return left ? stop_.within(*left / 2) : stop_;
    };
    const heuristics::Exchanges exchanges(instance_, half_of_all());
    std::vector<Estimated> entries;
    if (is_in_order) {
        for (const heuristics::Heuristic* heuristic : chosen) entries.emplace_back(Ticks::max(), heuristic);
    } else {
        entries = in_order(chosen, exchanges, half_of_all());
    }
    std::vector<const heuristics::Heuristic*> known;  // they found something, but had no time for all
    std::vector<Candidate> tried;
    for (std::size_t i = 0; i < entries.size() && best_.wants_better(); ++i) {
        const auto& [estimate, heuristic] = entries[i];
        const double begin = best_.seconds();
        const auto* exchange = heuristic->as<heuristics::ExchangeHeuristic>();
        const auto left = stop.remaining();
        const Stop turn =
            left ? stop.within(*left / std::min(3.0, static_cast<double>(entries.size() - i))) : stop;
        const bool promises = !best_.has_schedule() || best_.is_improved_by(Ticks(estimate.count() / 4 * 3));
        std::string why_none = exchange->why_not(instance_);
        const bool suits = why_none.empty();
        auto schedule = suits ? exchange->run(exchanges, best_.bound().value,
                                              {turn, promises && left ? half_of_all() : turn})
                              : std::nullopt;
        if (suits) why_none = turn.requested() ? "stopped" : "the network does not fit it";
        // Trees are improved anyway (improve_trees).
        if (suits && turn.requested() && heuristic->name != heuristics::kGrownTrees)
            (schedule ? known : unfinished_).push_back(heuristic);
        tried.push_back(offered(heuristic->name, begin, std::move(schedule), std::move(why_none)));
    }
    unfinished_.insert(unfinished_.end(), known.begin(), known.end());
    if (best_.has_schedule())
        best_.tell(fmt::format("textbook {}, {:.3f} s", candidates_text(tried), best_.seconds()));
    best_.enter(std::move(tried));
}

/// Local search on the trees of sums, for a part of the time that is left.
void HeuristicSearch::improve_trees() {
    const auto left = stop_.remaining();
    if (alone_ != nullptr || !best_.has_gap() || !left || stop_.requested() || !has_shared_sums(instance_) ||
        !heuristics::Exchanges::why_not(instance_).empty())
        return;
    const double begin = best_.seconds();
    const Stop stop = stop_.within(*left * options_.tree_share);
    const heuristics::Exchanges exchanges(instance_, stop);
    auto schedule =
        heuristics::grow_exchange(exchanges, best_.bound().value, ~request_.seed, UINT64_MAX, stop);
    if (schedule) offer_improved(heuristics::kGrownTrees, "grown   ", begin, std::move(*schedule));
    const double again = best_.seconds();
    const auto rest = stop_.remaining();
    if (!best_.has_gap() || !rest || stop_.requested()) return;
    auto annealed = heuristics::anneal_exchange(exchanges, best_.bound().value, ~request_.seed, UINT64_MAX,
                                                stop_.within(*rest * (1 + options_.tree_share) / 2));
    if (annealed) offer_improved(heuristics::kGrownTrees, "annealed", again, std::move(*annealed));
}

/// More pushes of broadcasts, for a part of the time that is left.
void HeuristicSearch::improve_broadcasts() {
    const auto left = stop_.remaining();
    if (alone_ != nullptr || !best_.has_gap() || !left || stop_.requested()) return;
    const double begin = best_.seconds();
    auto schedule = heuristics::search_broadcasts(instance_, best_.bound().value, ~request_.seed,
                                                  stop_.within(*left * options_.tree_share));
    if (schedule) offer_improved(heuristics::kBroadcastRounds, "pushed  ", begin, std::move(*schedule));
}

/// Local search on the order of messages, for a part of the time that is left.
void HeuristicSearch::improve_orders(std::uint64_t work) {
    if (alone_ != nullptr || !best_.has_schedule() || !best_.wants_better() || stop_.requested()) return;
    if (is_too_large_to_hold()) return;
    const auto left = stop_.remaining();
    const double begin = best_.seconds();
    const Stop stop = left ? stop_.within(*left * options_.tree_share) : stop_;
    if (!orders_) orders_ = std::make_unique<heuristics::MessageOrders>(instance_, request_.seed, stop);
    orders_->improve(best_.bound().value, work, stop);
    auto schedule = orders_->schedule();
    if (schedule) offer_improved(heuristics::kMessageOrders, "ordered ", begin, std::move(*schedule));
}

void HeuristicSearch::offer_improved(std::string_view heuristic, std::string_view line, double begin,
                                     Schedule schedule) {
    const bool better = best_.is_improved_by(schedule.makespan);
    Candidate candidate = offered(heuristic, begin, std::move(schedule), {});
    if (better)
        best_.tell(fmt::format("{} {} in {} sends, {:.3f} s", line, candidate.makespan->count(),
                               candidate.sends, best_.seconds()));
    best_.enter({std::move(candidate)});
}

/// The quick search leaves time for the other bounds, if there is a schedule already.
Stop HeuristicSearch::stop_of(heuristics::Effort effort) const {
    const auto left = stop_.remaining();
    if (effort != heuristics::Effort::Quick || !left || !best_.has_schedule()) return stop_;
    return stop_.within(*left * (1 - options_.bound_share));
}

/// The portfolio.
void HeuristicSearch::search_greedily(heuristics::Effort effort) {
    // Another seed than the quick search had, or it would only do the same again.
    const std::uint64_t seed = effort == heuristics::Effort::Quick ? request_.seed : ~request_.seed;
    heuristics::GreedyResult found = heuristics::greedy_search(
        instance_, {best_.bound().value, effort, seed, request_.threads, stop_of(effort), options_, alone_});
    auto& schedule = found.schedule;
    if (!schedule && !best_.has_schedule()) throw LimitError(why_nothing());
    const std::string tried = candidates_text(found.candidates);
    best_.enter(std::move(found.candidates));
    if (!schedule) return;
    const auto [makespan, sends] = std::pair(schedule->makespan, schedule->sends.size());
    (void)best_.offer(std::move(*schedule), kGreedy, found.heuristic);
    best_.tell(fmt::format("greedy   {} in {} sends, {:.3f} s", makespan.count(), sends, best_.seconds()));
    if (!tried.empty()) best_.tell("tried    " + tried);
}

}  // namespace tutti::synth

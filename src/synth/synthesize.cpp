// The order of `auto`: near-linear bounds, then greedy; if greedy meets the bound, that is the proof and no
// solver is run. Where a construction takes the whole instance, the bounds of bounded work follow it at once:
// it often meets them, and nothing need be searched. Otherwise the other bounds (synth/bounding), then exact
// synthesis if the model fits. An all-reduce is first solved as its two halves, each exactly: that gives a
// good schedule, and the direct model then decides whether the composition can be beaten.

#include "synth/synthesize.hpp"

#include "core/stoppable_source.hpp"
#include "heuristics/exchange/grown_trees.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/lockstep/lockstep.hpp"
#include "heuristics/portfolio.hpp"
#include "heuristics/ring/ring.hpp"
#include "models/exact.hpp"
#include "synth/bounding.hpp"
#include "synth/composition.hpp"
#include "synth/judge.hpp"
#include "synth/memory_watch.hpp"
#include "synth/reachability.hpp"
#include "verify/schedule_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

namespace tutti::synth {
namespace {

constexpr std::array<Method, 6> kMethods{{
    {"auto", "greedy, and where it does not meet the bound an exact method, if the model fits"},
    {"greedy", "match chunks to free links in time; polynomial, any size"},
    {"exact", "all solvers side by side until the schedule is proven optimal"},
    {"cpsat", "exact, with OR-Tools CP-SAT alone"},
    {"highs", "exact, with HiGHS alone (mixed-integer programs)"},
    {"z3", "exact, with Z3 alone (satisfiability modulo theories)"},
}};

/// The share of the remaining time for the textbook algorithms; they rarely need it.
constexpr double kExchangeShare = 0.2;
/// And for trees of sums that are improved until then; the rest is for the other heuristics.
constexpr double kGrowthShare = 0.5;
constexpr const char* kGreedy = "greedy";
const std::string kSymmetry(heuristics::kSymmetry);
constexpr const char* kStoppedBeforeProof =
    "no proof before the search was stopped; a longer one may find it";
constexpr const char* kNoTime = "stopped by the limits or an interrupt before there was a schedule";

class Clock {
  public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

  private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The number of required arrivals: about the least number of sends of a schedule.
std::uint64_t least_sends(const Instance& instance) {
    std::uint64_t sends = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        sends += demand.receivers.size() + (demand.reduction ? demand.holders.size() : 0);
    }
    return sends;
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

class Synthesis {
  public:
    Synthesis(const Instance& instance, const Request& request, const Stop& stop)
        : instance_(instance),
          request_(request),
          options_(request.options),
          alone_(heuristics::find_heuristic(request.heuristic)),
          stop_(stop),
          sends_wanted_(least_sends(instance)),
          bounding_(instance, request.options) {}

    Result run() {
        if (const auto who = unreachable(instance_)) throw InfeasibleError(*who);
        bounding_.begin(stop_);
        raise(bounding_.best());
        search_quickly();
        bound_further();
        if (!gap()) {
            conclude(fmt::format("{} meets the bound ({}): no solver is needed", result_.method,
                                 result_.bound.kind));
            tell("choice   " + result_.proof);
        } else if (is_greedy()) {
            search_until_stopped();
        } else {
            search_exactly();
        }
        return finished();
    }

  private:
    void conclude(std::string proof) { result_.proof = std::move(proof); }

    /// Whether there is no schedule yet, or one that does not meet the bound.
    [[nodiscard]] bool gap_left() const { return result_.method.empty() || gap(); }
    [[nodiscard]] bool gap() const { return result_.schedule.makespan > result_.bound.value; }
    [[nodiscard]] Stop part_for_bounds() const {
        const auto left = stop_.remaining();
        return left ? stop_.within(*left * options_.bound_share) : stop_;
    }
    /// The bounds that take longer, as far as they are needed and there is time.
    void bound_further() {
        bounding_.go_on(result_.schedule.makespan, part_for_bounds());
        raise(bounding_.best());
    }
    /// Those whose work is bounded: they may show that a construction is optimal, and nothing need be
    /// searched.
    void bound_quickly() {
        if (result_.method.empty() || !gap()) return;
        bounding_.go_on_quickly(result_.schedule.makespan, part_for_bounds());
        raise(bounding_.best());
    }
    [[nodiscard]] double relative_gap() const {
        return tutti::gap(result_.schedule.makespan, result_.bound.value).value_or(1);
    }
    [[nodiscard]] bool is_greedy() const { return request_.method == kGreedy || alone_ != nullptr; }
    [[nodiscard]] bool is_auto() const { return request_.method == "auto" && alone_ == nullptr; }
    void tell(const std::string& line) const {
        if (request_.story) request_.story(line);
    }

    void raise(Bound bound) {
        if (!result_.bound.kind.empty() && bound.value <= result_.bound.value) return;
        result_.bound = std::move(bound);
        tell(fmt::format("bound    {} ({}), {:.3f} s", result_.bound.value.count(), result_.bound.kind,
                         clock_.seconds()));
        report_found();
    }
    void report_found() const {
        if (!request_.found) return;
        const bool any = !result_.method.empty();
        request_.found(any ? std::optional(result_.schedule.makespan) : std::nullopt, result_.bound.value);
    }

    /// `heuristic`: which one it was, if it was one.
    void accept(Schedule schedule, const Verdict& verdict, const std::string& who,
                const std::string& heuristic = {}) {
        result_.schedule = std::move(schedule);
        result_.finish = verdict.finish;
        result_.method = who;
        result_.heuristic = heuristic;
        report_found();
    }
    /// Accepts a schedule whose sends are not held in memory.
    void accept_unheld(const Verdict& verdict, const std::string& who, std::string_view heuristic,
                       std::optional<symmetry::SymmetricSchedule> symmetric) {
        result_.schedule = {instance_.name(), verdict.makespan, {}};
        result_.method = who;
        result_.heuristic = heuristic;
        result_.finish = verdict.finish;
        result_.sends = verdict.sends;
        result_.symmetric = std::move(symmetric);
        report_found();
    }

    [[nodiscard]] bool is_too_large_to_hold() const { return sends_wanted_ > kMostSendsHeld; }

    /// For all-reduces: a lower bound of every reduce-scatter followed by an all-gather.
    [[nodiscard]] std::optional<Ticks> least_composition() const {
        const auto halves = halves_of(instance_);
        if (!halves) return std::nullopt;
        // A goal of the search, not a bound that anybody is told.
        return bounds::simple_bounds(halves->reduce_scatter, stop_).front().value +
               bounds::simple_bounds(halves->all_gather, stop_).front().value;
    }

    /// One chunk of each orbit stands for all. True: nothing else need be tried.
    bool search_by_symmetry(std::uint64_t effort, const Stop& stop) {
        Rng rng(request_.seed);
        // What symmetry makes of an all-reduce is a reduce-scatter and an all-gather.
        const auto composition = least_composition();
        const Ticks target = std::max(result_.bound.value, composition.value_or(Ticks(0)));
        const double begin = clock_.seconds();
        const auto* orbits =
            heuristics::find_heuristic(heuristics::kSymmetry)->as<heuristics::OrbitHeuristic>();
        auto schedule = orbits->run(instance_, target, rng, stop, effort);
        if (!schedule) return false;
        has_symmetry_ = true;
        Candidate candidate{kSymmetry, {}, schedule->makespan, {}, clock_.seconds() - begin};
        candidate.sends = schedule->sends.size();
        for (const auto& generator : schedule->generators) candidate.sends *= generator.order;
        enter({std::move(candidate)});
        if (!result_.method.empty() && schedule->makespan >= result_.schedule.makespan) return false;
        const Verdict verdict = judge(instance_, *schedule, result_.bound, kSymmetry);
        tell(fmt::format("symmetry {} in {} sends, {:.3f} s", verdict.makespan.count(), verdict.sends,
                         clock_.seconds()));
        if (verdict.sends > kMostSendsHeld) {
            accept_unheld(verdict, kSymmetry, kSymmetry, std::move(schedule));
            return true;
        }
        Schedule all = expanded(instance_, *schedule);
        const Verdict written_out = judge(instance_, all, result_.bound, kSymmetry);
        accept(std::move(all), written_out, kSymmetry, kSymmetry);
        if (composition && result_.schedule.makespan <= *composition) {
            result_.composed = composition;
            if (relative_gap() <= options_.small_gap) return true;  // no other composition is shorter
        }
        return !gap();
    }

    /// Takes a schedule that is verified while it is made, and never held.
    template <class Source>
    void take_streamed(Source& made, std::string_view heuristic, double begin) {
        StoppableSource until(made, stop_);
        const auto tapped = request_.tap ? request_.tap(until) : nullptr;
        const Verdict verdict = verify::verify(instance_, tapped ? *tapped : until);
        if (!made.is_complete()) throw LimitError(kNoTime);
        judge(verdict, result_.bound, kGreedy);
        accept_unheld(verdict, kGreedy, heuristic, {});
        enter({{std::string(heuristic), {}, verdict.makespan, {}, clock_.seconds() - begin, verdict.sends}});
        tell(fmt::format("greedy   {} in {} sends, {:.3f} s", verdict.makespan.count(), verdict.sends,
                         clock_.seconds()));
    }

    /// False: it does not apply.
    bool search_in_lockstep() {
        if (!is_too_large_to_hold() || !heuristics::fits_lockstep(instance_)) return false;
        const double begin = clock_.seconds();
        heuristics::LockstepGather made(instance_, request_.seed, stop_);
        take_streamed(made, heuristics::kSynchronousSteps, begin);
        return true;
    }

    /// A first schedule in linear time, so that every time limit yields one. True: it is not held, and
    /// nothing else is tried.
    bool search_by_rings() {
        const bool unheld = is_too_large_to_hold();
        // Without a limit the others find better schedules, if they can hold them.
        const bool is_last_resort = unheld && instance_.topology().switches() > 0;
        if (alone_ == nullptr && !stop_.remaining() && !is_last_resort) return false;
        const double begin = clock_.seconds();
        Candidate candidate{.heuristic = std::string(heuristics::kRing)};
        if (unheld) {
            heuristics::RingSchedule made(instance_, stop_);
            candidate.why_none = made.why_none();
            if (candidate.why_none.empty()) {
                take_streamed(made, heuristics::kRing, begin);
                return true;
            }
        } else if (auto schedule = heuristics::ring_schedule(instance_, stop_)) {
            const Verdict verdict = judge(instance_, *schedule, result_.bound, kGreedy);
            candidate.makespan = schedule->makespan;
            candidate.sends = schedule->sends.size();
            tell(fmt::format("ring     {} in {} sends, {:.3f} s", schedule->makespan.count(),
                             schedule->sends.size(), clock_.seconds()));
            if (result_.method.empty() || schedule->makespan < result_.schedule.makespan)
                accept(std::move(*schedule), verdict, kGreedy, candidate.heuristic);
        } else {
            candidate.why_none = stop_.requested() ? "stopped" : "an NPU has no path to the next one";
        }
        candidate.seconds = clock_.seconds() - begin;
        enter({std::move(candidate)});
        return false;
    }

    /// The constructions that take a whole instance at once: a good first schedule in little time.
    void construct() {
        if (is_too_large_to_hold()) return;
        for (const auto& heuristic : heuristics::heuristics()) {
            const auto* direct = heuristic.as<heuristics::DirectHeuristic>();
            const bool is_asked =
                alone_ == nullptr ? direct != nullptr && direct->is_tried(instance_) : alone_ == &heuristic;
            if (is_asked && gap_left() && !stop_.requested()) construct_by(heuristic, *direct);
        }
        bound_quickly();
    }
    void construct_by(const heuristics::Heuristic& heuristic, const heuristics::DirectHeuristic& direct) {
        const double begin = clock_.seconds();
        Candidate candidate{.heuristic = std::string(heuristic.name)};
        auto schedule = direct.run(instance_, stop_);
        candidate.seconds = clock_.seconds() - begin;
        if (!schedule) {
            candidate.why_none = direct.why_not(instance_);
            if (candidate.why_none.empty())
                candidate.why_none = stop_.requested() ? "stopped" : "it found no path";
            return enter({std::move(candidate)});
        }
        const Verdict verdict = judge(instance_, *schedule, result_.bound, kGreedy);
        candidate.makespan = schedule->makespan;
        candidate.sends = schedule->sends.size();
        tell(fmt::format("{} {} in {} sends, {:.3f} s", heuristic.name, schedule->makespan.count(),
                         schedule->sends.size(), clock_.seconds()));
        if (result_.method.empty() || schedule->makespan < result_.schedule.makespan)
            accept(std::move(*schedule), verdict, kGreedy, candidate.heuristic);
        enter({std::move(candidate)});
    }

    /// The textbook algorithms, where there are all-reduces, switches that copy or reduce, or one is asked
    /// for.
    void search_by_exchanges() {
        const auto left = stop_.remaining();
        const bool all = alone_ == nullptr;
        if (!result_.method.empty() && stop_.requested()) return;
        const bool sums = has_shared_sums(instance_);
        if (!heuristics::Exchanges::why_not(instance_).empty()) return;
        if (all && !sums && !has_able_switches(instance_)) return;
        const Stop stop = all && left ? stop_.within(*left * kExchangeShare) : stop_;
        const heuristics::Exchanges exchanges(instance_, stop);
        std::vector<Candidate> tried;
        for (const heuristics::Heuristic& heuristic : heuristics::heuristics()) {
            const auto* exchange = heuristic.as<heuristics::ExchangeHeuristic>();
            if (exchange == nullptr || (alone_ != nullptr && alone_ != &heuristic)) continue;
            if (all && !sums && heuristic.name != heuristics::kSwitchSums) continue;
            if (!gap_left()) break;
            const double begin = clock_.seconds();
            Candidate candidate{.heuristic = std::string(heuristic.name)};
            candidate.why_none = exchange->why_not(instance_);
            auto schedule = candidate.why_none.empty() ? exchange->run(exchanges, result_.bound.value, stop)
                                                       : std::nullopt;
            if (schedule) {
                candidate.makespan = schedule->makespan;
                candidate.sends = schedule->sends.size();
                if (result_.method.empty() || schedule->makespan < result_.schedule.makespan) {
                    const Verdict verdict = judge(instance_, *schedule, result_.bound, candidate.heuristic);
                    accept(std::move(*schedule), verdict, kGreedy, candidate.heuristic);
                }
            } else if (candidate.why_none.empty()) {
                candidate.why_none = stop.requested() ? "stopped" : "the network does not fit it";
            }
            candidate.seconds = clock_.seconds() - begin;
            tried.push_back(std::move(candidate));
        }
        if (!result_.method.empty())
            tell(fmt::format("textbook {}, {:.3f} s", candidates_text(tried), clock_.seconds()));
        enter(std::move(tried));
    }

    /// Where there is a time limit, it is used.
    void search_until_stopped() {
        const auto left = stop_.remaining();
        if (!left || result_.schedule.sends.empty()) return;
        if (is_alone<heuristics::DirectHeuristic>() || is_alone<heuristics::ExchangeHeuristic>())
            return;  // it would only do the same again
        const bool symmetry_alone = is_alone<heuristics::OrbitHeuristic>();
        if (has_symmetry_)
            (void)search_by_symmetry(UINT64_MAX,
                                     symmetry_alone ? stop_ : stop_.within(*left * options_.symmetry_share));
        if (!symmetry_alone) grow_exchange();
        if (gap() && !stop_.requested() && !symmetry_alone) search_greedily(heuristics::Effort::Anytime);
        if (!gap()) conclude(fmt::format("{} meets the bound ({})", result_.method, result_.bound.kind));
    }

    /// Local search on the trees of sums, for a part of the time that is left.
    void grow_exchange() {
        const auto left = stop_.remaining();
        if (alone_ != nullptr || !gap() || !left || stop_.requested() || !has_shared_sums(instance_) ||
            !heuristics::Exchanges::why_not(instance_).empty())
            return;
        const double begin = clock_.seconds();
        const Stop stop = stop_.within(*left * kGrowthShare);
        const heuristics::Exchanges exchanges(instance_, stop);
        auto schedule =
            heuristics::grow_exchange(exchanges, result_.bound.value, ~request_.seed, UINT64_MAX, stop);
        if (!schedule) return;
        Candidate candidate{.heuristic = std::string(heuristics::kGrownTrees),
                            .makespan = schedule->makespan};
        candidate.seconds = clock_.seconds() - begin;
        candidate.sends = schedule->sends.size();
        if (schedule->makespan < result_.schedule.makespan) {
            const Verdict verdict = judge(instance_, *schedule, result_.bound, candidate.heuristic);
            tell(fmt::format("grown    {} in {} sends, {:.3f} s", schedule->makespan.count(),
                             schedule->sends.size(), clock_.seconds()));
            accept(std::move(*schedule), verdict, kGreedy, candidate.heuristic);
        }
        enter({std::move(candidate)});
    }

    template <class How>
    [[nodiscard]] bool is_alone() const {
        return alone_ != nullptr && alone_->as<How>() != nullptr;
    }

    /// The first schedule.
    void search_quickly() {
        if (alone_ == nullptr || is_alone<heuristics::OrbitHeuristic>()) {
            if (search_by_symmetry(options_.symmetry_effort, stop_)) return;
            if (alone_ != nullptr && result_.method.empty()) throw LimitError(why_nothing());
            if (alone_ != nullptr) return;
        }
        if (alone_ == nullptr || alone_->name == heuristics::kSynchronousSteps) {
            if (search_in_lockstep()) return;
        }
        if (alone_ == nullptr || is_alone<heuristics::DirectHeuristic>()) {
            const bool is_ring = alone_ != nullptr && alone_->name == heuristics::kRing;
            if (!is_ring) construct();
            if (is_ring || (alone_ == nullptr && gap_left())) {
                if (search_by_rings()) return;
            }
            if (alone_ != nullptr && result_.method.empty()) throw LimitError(why_nothing());
            if (alone_ != nullptr || !gap_left()) return;
        }
        if (alone_ == nullptr || is_alone<heuristics::ExchangeHeuristic>()) {
            search_by_exchanges();
            if (alone_ != nullptr && result_.method.empty()) throw LimitError(why_nothing());
            if (alone_ != nullptr || !gap_left()) return;
        }
        search_greedily(heuristics::Effort::Quick);
    }

    [[nodiscard]] std::string why_nothing() const {
        if (alone_ == nullptr || stop_.requested()) return kNoTime;
        return fmt::format("the heuristic {} found no schedule", alone_->name);
    }

    void enter(std::vector<Candidate> candidates) {
        for (Candidate& candidate : candidates) heuristics::enter(result_.candidates, std::move(candidate));
    }

    /// "steiner-trees 15, pipelined-all-reduce 14; reduction: link-matching none, steiner-trees 7; ...": the
    /// whole first. Repairs that gained nothing are left out.
    [[nodiscard]] static std::string candidates_text(const std::vector<Candidate>& candidates) {
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

    /// The quick search leaves time for the other bounds, if there is a schedule already.
    [[nodiscard]] Stop stop_of(heuristics::Effort effort) const {
        const auto left = stop_.remaining();
        if (effort != heuristics::Effort::Quick || !left || result_.method.empty()) return stop_;
        return stop_.within(*left * (1 - options_.bound_share));
    }

    void search_greedily(heuristics::Effort effort) {
        // Another seed than the quick search had, or it would only do the same again.
        const std::uint64_t seed = effort == heuristics::Effort::Quick ? request_.seed : ~request_.seed;
        heuristics::GreedyResult found = heuristics::greedy_search(
            instance_,
            {result_.bound.value, effort, seed, request_.threads, stop_of(effort), options_, alone_});
        auto& schedule = found.schedule;
        if (!schedule && result_.method.empty()) throw LimitError(why_nothing());
        const std::string tried = candidates_text(found.candidates);
        enter(std::move(found.candidates));
        if (!schedule) return;
        const Verdict verdict = judge(instance_, *schedule, result_.bound, kGreedy);
        const bool better = result_.method.empty() || schedule->makespan < result_.schedule.makespan;
        const auto [makespan, sends] = std::pair(schedule->makespan, schedule->sends.size());
        if (better) accept(std::move(*schedule), verdict, kGreedy, found.heuristic);
        tell(fmt::format("greedy   {} in {} sends, {:.3f} s", makespan.count(), sends, clock_.seconds()));
        if (!tried.empty()) tell("tried    " + tried);
    }

    void search_exactly() {
        const std::vector<std::string> backends = is_auto() || request_.method == "exact"
                                                      ? std::vector<std::string>{}
                                                      : std::vector{request_.method};
        if (const std::string missing = models::why_no_solver(backends); !missing.empty()) {
            conclude(missing);
            tell("choice   greedy and bounds only: " + missing);
            return;
        }
        const std::uint64_t most = is_auto() ? options_.exact_size_auto : options_.exact_size;
        if (is_too_large_to_hold() || instance_.chunks() * instance_.topology().links().size() > most) {
            conclude(fmt::format("no proof: {} chunks on {} links are too many for exact methods",
                                 instance_.chunks(), instance_.topology().links().size()));
            tell("choice   greedy and bounds only: " + result_.proof);
            search_until_stopped();
            return;
        }
        if (!stop_.requested()) compose();
        if (!gap()) {
            conclude(fmt::format("the composition meets the bound ({})", result_.bound.kind));
            tell("choice   exact: " + result_.proof);
            return;
        }
        const Stop stop = is_auto() ? stop_.within(exact_time()) : stop_;
        models::HorizonRequest request{instance_,
                                       result_.bound,
                                       result_.schedule,
                                       backends,
                                       request_.threads,
                                       request_.seed,
                                       request_.memory_bytes,
                                       stop,
                                       [this](const std::string& line) { tell(line); },
                                       [this](const Schedule& schedule, const std::string& who) {
                                           judge(instance_, schedule, result_.bound, who);
                                       },
                                       request_.found,
                                       options_};
        models::HorizonResult found = models::search_horizons(request);
        if (!found.found_by.empty()) {
            const Verdict verdict = judge(instance_, found.schedule, result_.bound, found.found_by);
            accept(std::move(found.schedule), verdict, found.found_by);
        }
        result_.solver_versions = std::move(found.versions);
        if (found.bound.value > result_.bound.value) {
            result_.bound = std::move(found.bound);
            prefer_checkable_proof(stop);
        }
        gave_up_ = found.stopped;
        if (gap()) {
            conclude(!found.obstacle.empty() ? "no proof: " + found.obstacle
                                             : std::string(kStoppedBeforeProof));
        } else if (found.refuted_by.empty()) {
            conclude(fmt::format("{} found a schedule that meets the bound ({})", result_.method,
                                 result_.bound.kind));
        } else {
            conclude(fmt::format("{} proved that no schedule is shorter", found.refuted_by));
        }
        tell("choice   exact: " + result_.proof);
        if (gap() && !stop_.requested()) search_until_stopped();
    }

    /// Of `auto`: a part is left for what greedy finds with time, so that it is never the worse choice.
    [[nodiscard]] Stop::Seconds exact_time() const {
        const auto left = stop_.remaining();
        return left ? *left * options_.exact_share : Stop::Seconds(options_.auto_seconds);
    }

    /// A dual of a linear program is shorter to check than a solver's word.
    void prefer_checkable_proof(const Stop& stop) {
        auto better =
            checkable_proof(instance_, result_.bound.value, stop, Stop::Seconds(options_.proof_seconds));
        if (!better) return;
        judge(instance_, *better);
        result_.bound = std::move(*better);
    }

    /// The best reduce-scatter followed by the best all-gather.
    void compose() {
        const auto halves = halves_of(instance_);
        if (!halves) return;
        Request request = request_;
        request.found = {};  // a half's makespan is not the whole's
        const auto solve = [&](const Instance& half, const char* name) {
            request.story = [this, name](const std::string& line) {
                if (line.starts_with("horizon")) tell(fmt::format("{} ({})", line, name));
            };
            const auto left = stop_.remaining().value_or(Stop::Seconds(options_.auto_seconds));
            return Synthesis(half, request, stop_.within(left * options_.composition_share)).run();
        };
        Result first, second;
        try {
            first = solve(halves->reduce_scatter, "reduce-scatter");
            second = solve(halves->all_gather, "all-gather");
        } catch (const LimitError&) {
            return;  // no time for one of them
        }
        Schedule composition = joined(instance_, first.schedule, second.schedule);
        const Verdict verdict = judge(instance_, composition, result_.bound, "the composition");
        if (first.status == Status::Optimal && second.status == Status::Optimal) {
            result_.composed = composition.makespan;
            tell(fmt::format(
                "composed {} is the best reduce-scatter followed by the best all-gather (proven), {:.3f} s",
                composition.makespan.count(), clock_.seconds()));
        }
        if (composition.makespan < result_.schedule.makespan)
            accept(std::move(composition), verdict, "composition");
    }

    Result finished() {
        if (!result_.schedule.sends.empty()) result_.sends = result_.schedule.sends.size();
        result_.status = gap() ? Status::Feasible : Status::Optimal;
        judge(result_.schedule.makespan, result_.bound, result_.method);
        result_.skipped = bounding_.skipped();
        result_.stopped = gap() && (gave_up_ || stop_.requested());
        result_.seconds = clock_.seconds();
        tell(fmt::format("verified{}, {:.3f} s", gap() ? "" : " and optimal: the makespan meets the bound",
                         result_.seconds));
        return std::move(result_);
    }

    const Instance& instance_;
    const Request& request_;
    const SearchOptions& options_;
    const heuristics::Heuristic* const alone_;  ///< the one that is asked for, or null
    const Stop stop_;
    const Clock clock_;
    const std::uint64_t sends_wanted_;
    Bounding bounding_;
    Result result_;
    bool has_symmetry_ = false;
    bool gave_up_ = false;
};

/// Throws InputError if there is no such heuristic, or it does not go with the method or the instance.
void check_heuristic(const Instance& instance, const Request& request) {
    if (request.heuristic.empty()) return;
    const auto* heuristic = heuristics::find_heuristic(request.heuristic);
    if (heuristic == nullptr) {
        std::string names;
        for (const auto& known : heuristics::heuristics())
            names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
        throw InputError(fmt::format("unknown heuristic '{}'; there are {}", request.heuristic, names));
    }
    if (request.method != "auto" && request.method != kGreedy) {
        throw InputError(
            fmt::format("the method {} asks solvers, and a heuristic runs alone", request.method));
    }
    if (const auto who = unreachable(instance)) throw InfeasibleError(*who);
    if (const std::string why = heuristics::why_not(instance, *heuristic); !why.empty()) {
        throw InputError(fmt::format("the heuristic {} does not apply: {}", heuristic->name, why));
    }
}

}  // namespace

std::span<const Method> methods() { return kMethods; }

std::vector<Method> heuristics() {
    std::vector<Method> all;
    for (const auto& heuristic : tutti::heuristics::heuristics())
        all.push_back({heuristic.name, heuristic.help});
    return all;
}

Result synthesize(const Instance& instance, const Request& request) {
    if (std::ranges::find(kMethods, request.method, &Method::name) == kMethods.end()) {
        throw InputError(fmt::format("unknown method '{}'", request.method));
    }
    check_heuristic(instance, request);
    const bool needs_solver = request.method != "auto" && request.method != "greedy";
    if (needs_solver) {
        const std::string missing = models::why_no_solver(
            request.method == "exact" ? std::vector<std::string>{} : std::vector{request.method});
        if (!missing.empty()) throw LimitError(missing);
    }
    const MemoryWatch memory(request.memory_bytes);
    const Stop stop = request.stop.within(std::nullopt, memory.flag());
    return Synthesis(instance, request, stop).run();
}

}  // namespace tutti::synth

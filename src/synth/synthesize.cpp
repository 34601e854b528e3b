// The order of `auto`: near-linear bounds, then the heuristics (synth/heuristic_search); if one meets the
// bound, that is the proof and no solver is run. Otherwise the other bounds (synth/bounding), then exact
// synthesis if the model fits. An all-reduce is first solved as its two halves, each exactly: that gives a
// good schedule, and the direct model then decides whether the composition can be beaten.

#include "synth/synthesize.hpp"

#include "core/useful_rules.hpp"
#include "heuristics/greedy.hpp"
#include "models/exact.hpp"
#include "models/neighbourhoods.hpp"
#include "models/routing.hpp"
#include "models/small_search.hpp"
#include "models/small_times.hpp"
#include "synth/best_so_far.hpp"
#include "synth/bounding.hpp"
#include "synth/composition.hpp"
#include "synth/heuristic_search.hpp"
#include "synth/judge.hpp"
#include "synth/memory_watch.hpp"
#include "synth/reachability.hpp"
#include "verify/schedule_verifier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// Of the time that is left, for schedules from elsewhere; and the least, even if the limit is over: where
/// heuristics have used up a short one, these are most welcome.
constexpr double kProposalShare = 0.2;
constexpr Stop::Seconds kLeastProposalTime(0.3);

/// For bounds of bounded work, likewise.
constexpr Stop::Seconds kLeastBoundTime(0.2);

/// Of the time that is left, for schedules in small times; with less than that left there is better to do.
constexpr double kSmallTimesShare = 0.8;
constexpr Stop::Seconds kLeastTimeForSmallTimes(5);
/// Before them, for questions in real times: some are answered in less.
constexpr Stop::Seconds kFirstTry(1.5);

constexpr const char* kStoppedBeforeProof =
    "no proof before the search was stopped; a longer one may find it";

class Synthesis {
  public:
    Synthesis(const Instance& instance, const Request& request, const Stop& stop)
        : useful_(with_useful_rules(instance)),
          instance_(useful_ ? *useful_ : instance),
          request_(request),
          options_(request.options),
          stop_(stop),
          bounding_(instance_, request.options),
          best_(instance, request),
          heuristics_(instance_, request, stop, best_, bounding_) {}

    Result run() {
        if (const auto who = unreachable(instance_)) throw InfeasibleError(*who);
        bounding_.begin(stop_);
        best_.raise(bounding_.best());
        heuristics_.search_quickly();
        hear_proposals();
        bound_at_least();
        bounding_.go_on(best_.makespan(), bounding_.share_of(stop_));
        best_.raise(bounding_.best());
        if (!best_.has_gap()) {
            conclude(fmt::format("{} meets the bound ({}): no solver is needed", best_.result().method,
                                 best_.bound().kind),
                     "");
        } else if (is_greedy()) {
            heuristics_.search_until_stopped();
        } else {
            search_exactly();
        }
        return best_.take(bounding_.skipped(), gave_up_ || stop_.requested());
    }

  private:
    /// Schedules from elsewhere, such as those of hand-written algorithms.
    void hear_proposals() {
        if (!request_.proposals || heuristics_.has_one_alone() || !best_.wants_better() ||
            heuristics_.is_too_large_to_hold())
            return;
        const auto left = stop_.remaining();
        // An interrupt ends the search; only time that has run out is extended.
        if (left && *left > Stop::Seconds(0) && stop_.requested()) return;
        const Stop stop = !left ? stop_
                          : *left * kProposalShare < kLeastProposalTime
                              ? Stop(kLeastProposalTime)
                              : stop_.within(*left * kProposalShare);
        std::string story;
        request_.proposals(instance_, best_.makespan(), stop,
                           [&](std::string_view who, const Schedule& schedule) {
                               const Verdict verdict = verify::verify(instance_, schedule);
                               if (!verdict.valid() || !best_.is_improved_by(schedule.makespan)) return false;
                               story = fmt::format("{} {}", who, schedule.makespan.count());
                               return best_.offer(schedule, fmt::format("library {}", who));
                           });
        if (!story.empty()) best_.tell(fmt::format("library  {}, {:.3f} s", story, best_.seconds()));
    }

    /// Where heuristics have used up a short limit, there is still time for the bounds of bounded work:
    /// without them a schedule looks worse than it is.
    void bound_at_least() {
        const auto left = stop_.remaining();
        if (!left || *left * options_.bound_share >= kLeastBoundTime) return;
        if (*left > Stop::Seconds(0) && stop_.requested()) return;  // an interrupt
        bounding_.go_on_quickly(best_.makespan(), Stop(kLeastBoundTime));
    }

    [[nodiscard]] bool is_greedy() const {
        return request_.method == "greedy" || heuristics_.has_one_alone();
    }
    [[nodiscard]] bool is_auto() const { return request_.method == "auto" && !heuristics_.has_one_alone(); }

    void conclude(const std::string& proof, std::string_view what) {
        best_.conclude(proof);
        best_.tell(fmt::format("choice   {}{}", what, proof));
    }

    void search_exactly() {
        const std::vector<std::string> backends = is_auto() || request_.method == "exact"
                                                      ? std::vector<std::string>{}
                                                      : std::vector{request_.method};
        if (const std::string missing = models::why_no_solver(backends); !missing.empty()) {
            conclude(missing, "greedy and bounds only: ");
            return heuristics_.search_until_stopped();
        }
        const std::uint64_t most = is_auto() ? options_.exact_size_auto : options_.exact_size;
        const std::size_t links = instance_.topology().links().size();
        if (heuristics_.is_too_large_to_hold() || instance_.chunks() * links > most) {
            conclude(fmt::format("no proof: {} chunks on {} links are too many for exact methods",
                                 instance_.chunks(), links),
                     "greedy and bounds only: ");
            if (!heuristics_.is_too_large_to_hold() && instance_.chunks() * links <= options_.exact_size)
                search_neighbourhoods();
            return heuristics_.search_until_stopped();
        }
        if (is_for_small_times()) {
            search_horizons(backends, stop_.within(kFirstTry), false);
            if (!best_.has_gap()) return;
            search_small_times();
        }
        if (!best_.has_gap())
            return conclude(fmt::format("{} meets the bound ({})", best_.result().method, best_.bound().kind),
                            "exact: ");
        if (!stop_.requested()) compose();
        if (!best_.has_gap())
            return conclude(fmt::format("the composition meets the bound ({})", best_.bound().kind),
                            "exact: ");
        if (is_auto() && !stop_.requested()) solve_without_abilities();
        if (!best_.has_gap())
            return conclude(fmt::format("{} meets the bound ({})", best_.result().method, best_.bound().kind),
                            "exact: ");
        search_horizons(backends, is_auto() ? stop_.within(exact_time()) : stop_, true);
        search_neighbourhoods();
        if (best_.has_gap() && !stop_.requested()) heuristics_.search_until_stopped();
    }

    /// Where a Boolean for each unit of time would be too many, and there is time to try something else.
    [[nodiscard]] bool is_for_small_times() const {
        const auto left = stop_.remaining();
        return is_auto() && !stop_.requested() && !(left && *left < kLeastTimeForSmallTimes) &&
               models::has_small_times(instance_) &&
               static_cast<std::uint64_t>(best_.bound().value.count() / models::unit_of(instance_)) >
                   static_cast<std::uint64_t>(options_.model_units);
    }

    void search_small_times() {
        const auto left = stop_.remaining();
        const Stop stop = stop_.within(left ? *left * kSmallTimesShare
                                            : Stop::Seconds(options_.auto_seconds * kSmallTimesShare));
        models::search_in_small_times(horizon_request({}, stop),
                                      [this](const Schedule& schedule, const std::string& who) {
                                          if (!verify::verify(instance_, schedule).valid()) return false;
                                          best_.offer(schedule, who);
                                          return true;
                                      });
    }

    /// Half of the time that is left: heuristics may find more than solvers do.
    void search_neighbourhoods() {
        if (!best_.has_gap() || stop_.requested() || !is_auto()) return;
        const auto left = stop_.remaining();
        if (left && *left < Stop::Seconds(2)) return;  // that is few questions
        const Stop stop = stop_.within(left ? *left / 2 : Stop::Seconds(options_.auto_seconds));
        models::HorizonResult found = models::search_neighbourhoods(horizon_request({}, stop));
        if (!found.found_by.empty()) best_.offer(std::move(found.schedule), found.found_by);
    }

    [[nodiscard]] models::HorizonRequest horizon_request(const std::vector<std::string>& backends,
                                                         const Stop& stop) {
        return {instance_,
                best_.bound(),
                best_.result().schedule,
                backends,
                request_.threads,
                request_.seed,
                request_.memory_bytes,
                stop,
                [this](const std::string& line) { best_.tell(line); },
                [this](const Schedule& schedule, const std::string& who) {
                    judge(instance_, schedule, best_.bound(), who);
                },
                request_.found,
                options_};
    }

    /// What was not proven is said of the last search only.
    void search_horizons(const std::vector<std::string>& backends, const Stop& stop, bool is_last) {
        const models::HorizonRequest request = horizon_request(backends, stop);
        models::HorizonResult found = models::search_horizons(request);
        if (!found.found_by.empty()) best_.offer(std::move(found.schedule), found.found_by);
        best_.set_solver_versions(std::move(found.versions));
        if (found.bound.value > best_.bound().value) {
            best_.replace_bound(std::move(found.bound));
            prefer_checkable_proof(stop);
        }
        gave_up_ = found.stopped;
        if (is_last || !best_.has_gap()) conclude(outcome_of(found), "exact: ");
    }

    [[nodiscard]] std::string outcome_of(const models::HorizonResult& found) const {
        if (best_.has_gap())
            return !found.obstacle.empty() ? "no proof: " + found.obstacle : std::string(kStoppedBeforeProof);
        if (!found.refuted_by.empty())
            return fmt::format("{} proved that no schedule is shorter", found.refuted_by);
        return fmt::format("{} found a schedule that meets the bound ({})", best_.result().method,
                           best_.bound().kind);
    }

    /// Of `auto`: a part is left for what heuristics find with time, so that it is never the worse choice.
    [[nodiscard]] Stop::Seconds exact_time() const {
        const auto left = stop_.remaining();
        return left ? *left * options_.exact_share : Stop::Seconds(options_.auto_seconds);
    }

    /// A dual of a linear program is shorter to check than a solver's word.
    void prefer_checkable_proof(const Stop& stop) {
        auto better =
            checkable_proof(instance_, best_.bound().value, stop, Stop::Seconds(options_.proof_seconds));
        if (!better || !judge(instance_, *better)) return;
        best_.replace_bound(std::move(*better));
    }

    /// Where switches can copy or add, models are larger and find less in the same time. So the instance is
    /// also solved as if they could not, unless that cannot be shorter: more abilities should never make a
    /// schedule longer.
    void solve_without_abilities() {
        const auto plain = heuristics::without_abilities(instance_);
        if (!plain) return;
        const auto left = stop_.remaining().value_or(Stop::Seconds(options_.auto_seconds));
        const Stop stop = stop_.within(left / 2);
        if (bounds_of(*plain, best_.makespan(), bounding_.share_of(stop), options_).best().value >=
            best_.makespan())
            return;
        Request request = request_;
        request.found = {};
        request.tap = {};
        request.story = [this](const std::string& line) {
            if (line.starts_with("horizon")) best_.tell(line + " (plain switches)");
        };
        try {
            Result found = Synthesis(*plain, request, stop).run();
            // A switch that adds mixes two parts of a sum that only pass it at one tick.
            if (!verify::verify(instance_, found.schedule).valid()) return;
            best_.offer(std::move(found.schedule), found.method, found.heuristic);
        } catch (const LimitError&) {
            return;  // no time
        }
    }

    /// The best reduce-scatter followed by the best all-gather.
    void compose() {
        const auto halves = halves_of(instance_);
        if (!halves) return;
        Request request = request_;
        request.found = {};  // a half's makespan is not the whole's
        const auto solve = [&](const Instance& half, const char* name) {
            request.story = [this, name](const std::string& line) {
                if (line.starts_with("horizon")) best_.tell(fmt::format("{} ({})", line, name));
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
        if (first.status == Status::Optimal && second.status == Status::Optimal) {
            best_.set_composed(composition.makespan);
            best_.tell(fmt::format(
                "composed {} is the best reduce-scatter followed by the best all-gather (proven), {:.3f} s",
                composition.makespan.count(), best_.seconds()));
        }
        best_.offer(std::move(composition), "composition");
    }

    const std::optional<Instance> useful_;
    const Instance& instance_;  ///< without what its switches can do in vain
    const Request& request_;
    const SearchOptions& options_;
    const Stop stop_;
    Bounding bounding_;
    BestSoFar best_;  ///< judges by the instance as given
    HeuristicSearch heuristics_;
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
    if (request.method != "auto" && request.method != "greedy") {
        throw InputError(
            fmt::format("the method {} asks solvers, and a heuristic runs alone", request.method));
    }
    if (const auto who = unreachable(instance)) throw InfeasibleError(*who);
    const auto useful = with_useful_rules(instance);
    if (const std::string why = heuristics::why_not(useful ? *useful : instance, *heuristic); !why.empty()) {
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

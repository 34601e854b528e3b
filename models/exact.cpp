// The search over horizons. Most of the proof is the bound, and at the bound the answer is usually
// "feasible": a feasibility problem at a tight horizon is far easier than minimising. So the search starts at
// the bound; "infeasible" raises it by one. Where there are many horizons (physical units) or no solver
// answers in its slice of time, it tries half-way and just below the incumbent, so that each answer tightens
// the interval.
//
// Which solver and encoding is best depends on the instance (measured in tests/bench): on symmetric networks
// the quotient; for meshes and physical times intervals; for chunks with one receiver each flows with HiGHS.
// So each gets a short slice in that order, then all get one four times as long, and so on: about four times
// the time of the best one alone at most. Only every third round is with the solver's presolve: that takes
// most of the time of easy questions (a broadcast to 256 NPUs: 9.1 CPU s with it, 2.1 without; to 64: 3.9 and
// 0.7; a refuted all-reduce on a ring of 8: 7.5 and 3.4), but makes hard ones easier. With several threads
// they run concurrently and the first answer stops the others.

#include "models/exact.hpp"

#include "models/backends/registry.hpp"
#include "models/encode/alone.hpp"
#include "models/encode/interval.hpp"
#include "models/encode/time_indexed.hpp"
#include "models/remote/remote_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <limits>
#include <memory>

namespace tutti::models {
namespace {

enum class Encoding { TimeIndexed, Symmetric, Intervals };

constexpr std::string_view name_of(Encoding encoding) {
    return encoding == Encoding::TimeIndexed ? "time-indexed"
           : encoding == Encoding::Symmetric ? "symmetric"
                                             : "intervals";
}

struct Pairing {
    std::string_view backend;
    Encoding encoding;
};

// In the order in which they are asked. A flow: chunks for one node each.
constexpr Pairing kForFlows[] = {{"highs", Encoding::Symmetric}, {"highs", Encoding::TimeIndexed},
                                 {"cpsat", Encoding::Symmetric}, {"cpsat", Encoding::TimeIndexed},
                                 {"cpsat", Encoding::Intervals}, {"z3", Encoding::Intervals},
                                 {"z3", Encoding::TimeIndexed}};
constexpr Pairing kForSpreads[] = {{"cpsat", Encoding::Symmetric},   {"cpsat", Encoding::Intervals},
                                   {"cpsat", Encoding::TimeIndexed}, {"highs", Encoding::TimeIndexed},
                                   {"z3", Encoding::Intervals},      {"z3", Encoding::TimeIndexed}};
constexpr Pairing kForSums[] = {{"cpsat", Encoding::Symmetric},
                                {"cpsat", Encoding::TimeIndexed},
                                {"cpsat", Encoding::Intervals},
                                {"z3", Encoding::TimeIndexed},
                                {"highs", Encoding::TimeIndexed}};

constexpr double kShareOfFew = 0.4;     ///< of a slice, for a question about one sum or two
constexpr double kSlicesOfFew = 2;      ///< for all of these questions together
constexpr std::size_t kMostPaired = 6;  ///< sums that are asked about two at a time

constexpr const char* kTooLarge = "the model is too large for every encoding of the solvers asked";

/// A solver with an encoding, and its state.
struct Runner {
    std::string name;  ///< "cpsat intervals"
    std::string solver;
    Encoding encoding = Encoding::TimeIndexed;
    std::unique_ptr<Backend> backend;
    Units64 no_form = -1;   ///< no schedule of this encoding's form up to this horizon
    std::size_t group = 0;  ///< of Symmetric: which of the groups, the largest first
    bool again = false;     ///< has turned to a smaller group
    bool failed = false;
};

enum class Reply { Yes, No, Unknown };

class HorizonSearch {
  public:
    explicit HorizonSearch(const HorizonRequest& request)
        : request_(request), routing_(request.instance, request.stop), none_(no_quotient(routing_)) {
        result_.bound = request.bound;
        result_.schedule = request.incumbent;
        low_ = (request.bound.value.count() + routing_.unit() - 1) / routing_.unit();
        if (!request.stop.requested()) open_runners();
    }

    HorizonResult run() {
        if (low_ < high() && runners_.empty()) {
            result_.stopped = request_.stop.requested();
            if (!result_.stopped) result_.obstacle = kTooLarge;
        }
        double slice = request_.options.slice_seconds;
        presolve_ = false;
        unsigned rounds = 0;
        while (low_ < high() && !runners_.empty()) {
            if (request_.stop.requested()) {
                result_.stopped = true;
                break;
            }
            races_ = 0;
            if (ask_alone(slice) == Reply::No) continue;
            if (ask_few(slice) == Reply::Yes) continue;
            const Reply reply = ask_best(slice);
            if (reply == Reply::Unknown) {
                slice *= request_.options.slice_growth;
                presolve_ = ++rounds % 3 == 2;
                if (races_ == 0) break;  // no runner can answer
            } else {
                for (Runner& runner : runners_) runner.group = 0;  // another horizon, another chance
            }
        }
        if (low_ < high() && !result_.stopped && result_.obstacle.empty()) {
            result_.obstacle = routing_.incomplete().empty() ? kTooLarge : routing_.incomplete();
        }
        return std::move(result_);
    }

  private:
    [[nodiscard]] Units64 most_units() const { return static_cast<Units64>(request_.options.model_units); }
    [[nodiscard]] Units64 high() const {
        return (result_.schedule.makespan.count() + routing_.unit() - 1) / routing_.unit();
    }
    void tell(const std::string& line) const {
        if (request_.story) request_.story(line);
    }
    void tell_found() const {
        if (request_.found) request_.found(result_.schedule.makespan, result_.bound.value);
    }

    void open_runners() {
        const bool flows = std::ranges::all_of(routing_.commodities(),
                                               [](const Commodity& c) { return c.moves == Moves::Flow; });
        const std::span<const Pairing> pairings = routing_.has_sums() ? std::span<const Pairing>(kForSums)
                                                  : flows             ? std::span<const Pairing>(kForFlows)
                                                                      : std::span<const Pairing>(kForSpreads);
        const std::string no_interval = why_no_interval(routing_);
        const IntervalSize size = no_interval.empty() ? interval_size(routing_) : IntervalSize{};
        const auto few_ways = [&](std::string_view backend) {
            return no_interval.empty() && size.chains <= request_.options.model_ways &&
                   (backend == "cpsat" || size.pairs <= request_.options.model_pairs);
        };
        // A group has at most as many elements as there are commodities.
        if (low_ <= most_units() &&
            time_indexed_starts(routing_, none_, low_) / routing_.commodities().size() <=
                request_.options.model_starts) {
            quotients_ = quotients_of(routing_, request_.stop.within(Stop::Seconds(1)));
        }
        for (const Pairing& pairing : pairings) {
            if (!request_.backends.empty() &&
                std::ranges::find(request_.backends, pairing.backend) == request_.backends.end()) {
                continue;
            }
            if (pairing.encoding == Encoding::Intervals ? !few_ways(pairing.backend)
                                                        : !fits(pairing.encoding, 0, low_))
                continue;
            // Contributions make poor linear programs: HiGHS only if there is no other solver. Intervals of
            // sums know one form of schedule only: where times are few enough, Booleans know all.
            const bool last_choice = pairing.backend == "highs" || pairing.encoding == Encoding::Intervals;
            if (routing_.has_sums() && last_choice && !runners_.empty()) continue;
            OpenedBackend opened = remote::open_stoppable(pairing.backend, helper_memory_);
            if (!opened) continue;
            Runner runner;
            runner.name = fmt::format("{} {}", pairing.backend, name_of(pairing.encoding));
            const std::string version = opened.backend->library().version;
            runner.solver = fmt::format("{} {}", find_backend(pairing.backend)->solver, version);
            result_.versions[std::string(pairing.backend)] = version;
            runner.encoding = pairing.encoding;
            runner.backend = std::move(opened.backend);
            runners_.push_back(std::move(runner));
        }
        open_alone();
        hint_ = transfers_of(routing_, high(), result_.schedule);
    }

    /// Equal sums can be refuted one at a time, by linear programs.
    void open_alone() {
        constexpr std::string_view kSolver = "highs";
        if (!routing_.has_sums() ||
            !(request_.backends.empty() ||
              std::ranges::find(request_.backends, kSolver) != request_.backends.end()))
            return;
        OpenedBackend opened = remote::open_stoppable(kSolver, helper_memory_);
        if (!opened) return;
        alone_.name = fmt::format("{} alone", kSolver);
        const std::string version = opened.backend->library().version;
        alone_.solver = fmt::format("{} {}", find_backend(kSolver)->solver, version);
        result_.versions[std::string(kSolver)] = version;
        alone_.backend = std::move(opened.backend);
    }

    [[nodiscard]] const Quotient& quotient(Encoding encoding, std::size_t group) const {
        return encoding == Encoding::Symmetric ? quotients_[group] : none_;
    }

    [[nodiscard]] bool fits(Encoding encoding, std::size_t group, Units64 horizon) const {
        if (encoding == Encoding::Symmetric && group >= quotients_.size()) return false;
        if (encoding == Encoding::Intervals) return true;
        return horizon <= most_units() && time_indexed_starts(routing_, quotient(encoding, group), horizon) <=
                                              request_.options.model_starts;
    }

    /// Tries the bound, then half-way, then just below the incumbent, until there is an answer.
    Reply ask_best(double slice) {
        std::vector<Units64> horizons{low_, (low_ + high()) / 2, high() - 1};
        // Far apart, halves are quicker than steps, once the bound itself has been refuted.
        if (result_.bound.kind == "solver" &&
            high() - low_ > static_cast<Units64>(request_.options.horizon_steps))
            std::swap(horizons[0], horizons[1]);
        std::vector<Units64> asked;
        for (const Units64 horizon : horizons) {
            if (std::ranges::find(asked, horizon) != asked.end()) continue;
            asked.push_back(horizon);
            const Reply reply = ask(horizon, slice);
            if (reply != Reply::Unknown || request_.stop.requested()) return reply;
        }
        return Reply::Unknown;
    }

    /// Whether one of the equal sums alone refutes a horizon. The longest comes first: it refutes the others.
    Reply ask_alone(double slice) {
        if (!alone_.backend) return Reply::Unknown;
        Units64 last = high();
        for (const Units64 horizon : {high() - 1, (low_ + high()) / 2, low_}) {
            if (horizon >= std::min(last, fits_alone_)) continue;
            last = horizon;
            if (fits_alone(routing_, result_.schedule, horizon)) {
                fits_alone_ = horizon;
                continue;
            }
            for (const AlonePairs pairs : {AlonePairs::Farthest, AlonePairs::Few, AlonePairs::Many}) {
                const bool is_first = pairs == AlonePairs::Farthest;
                const Answer answer = answer_alone(horizon, pairs, is_first ? slice : 2 * slice);
                if (answer.ended == Ended::Infeasible) {
                    return refute(alone_, "one chunk alone", answer, horizon, false);
                }
                if (answer.ended == Ended::Stopped && answer.seconds > 1) {
                    tell(fmt::format("horizon  {}: no answer yet ({}, {:.3f} s)",
                                     routing_.ticks(horizon).count(), alone_.name, answer.seconds));
                }
                if (!answer.has_solution() && !is_first) break;
                if (pairs == AlonePairs::Many) fits_alone_ = horizon;
            }
        }
        return Reply::Unknown;
    }

    /// Whether one sum or two, on other hops, make the schedule as short as the bound or a unit shorter. All
    /// others keep their hops; every time may change. Such questions are easy where the whole one is not.
    Reply ask_few(double slice) {
        const auto runner = std::ranges::find_if(
            runners_, [](const Runner& r) { return r.encoding == Encoding::Intervals && !r.failed; });
        if (runner == runners_.end()) return Reply::Unknown;
        std::vector<std::size_t> sums;
        for (std::size_t c = 0; c < routing_.commodities().size(); ++c) {
            if (routing_.commodities()[c].moves == Moves::Sum) sums.push_back(c);
        }
        std::vector<std::pair<std::size_t, std::size_t>> few;
        for (const std::size_t c : sums) few.emplace_back(c, c);
        for (std::size_t i = 0; i < std::min(sums.size(), kMostPaired); ++i) {
            for (std::size_t j = 0; j < i; ++j) few.emplace_back(sums[i], sums[j]);
        }
        const Stop all = request_.stop.within(Stop::Seconds(slice * kSlicesOfFew));
        for (const Units64 horizon : {low_, high() - 1}) {
            for (const auto& [a, b] : few) {
                if (all.requested()) return Reply::Unknown;
                std::vector<bool> stays(routing_.commodities().size(), true);
                stays[a] = stays[b] = false;
                const Stop stop = all.within(Stop::Seconds(slice * kShareOfFew));
                const Finish finish = solve(*runner, horizon, stop, stop, request_.threads, stays);
                if (finish.answer.has_solution()) return learn(*runner, finish, horizon);
            }
            if (low_ == high() - 1) break;
        }
        return Reply::Unknown;
    }

    [[nodiscard]] Answer answer_alone(Units64 horizon, AlonePairs pairs, double slice) const {
        const Stop stop = request_.stop.within(Stop::Seconds(slice));
        const auto question = alone(routing_, {horizon, {}, stop, request_.options.model_alone}, pairs);
        if (!question || question->stopped || question->too_large) return {.ended = Ended::Stopped};
        const SolveLimits limits{stop, request_.threads, request_.seed, request_.memory_bytes, request_.stop,
                                 false};
        return alone_.backend->solve(question->program, limits);
    }

    Reply ask(Units64 horizon, double slice) {
        std::vector<Runner*> able;
        for (Runner& runner : runners_) {
            if (!runner.failed && runner.no_form < horizon && fits(runner.encoding, runner.group, horizon)) {
                able.push_back(&runner);
            }
        }
        const std::size_t side_by_side = std::max(1U, request_.threads);
        for (std::size_t first = 0; first < able.size(); first += side_by_side) {
            const auto group = std::span(able).subspan(first, std::min(side_by_side, able.size() - first));
            // The likelier it is to answer, the more time.
            const double share = first == 0 ? 1 : first <= 2 ? 0.5 : 0.25;
            Reply reply = race(group, horizon, slice * share);
            while (reply == Reply::Unknown && std::ranges::any_of(group, &Runner::again)) {
                for (Runner* runner : group) runner->again = false;
                reply = race(group, horizon, slice * share);
            }
            if (reply != Reply::Unknown || request_.stop.requested()) return reply;
        }
        return Reply::Unknown;
    }

    /// Intervals are few and need it, except sums; HiGHS keeps it, except for one chunk alone.
    [[nodiscard]] bool presolves(const Runner& runner) const {
        const bool intervals = runner.encoding == Encoding::Intervals && !routing_.has_sums();
        return presolve_ || intervals || runner.name.starts_with("highs");
    }

    struct Finish {
        Answer answer;
        std::vector<Transfer> transfers;
        bool refutes = false;
    };

    /// `stop` ends the slice, but a late answer is still used. After `must_end` it is not.
    Finish solve(const Runner& runner, Units64 horizon, const Stop& stop, const Stop& must_end,
                 unsigned threads, std::vector<bool> stays = {}) const {
        const Asked asked{horizon, hint_, must_end, request_.options.model_size, std::move(stays)};
        const Question question =
            runner.encoding == Encoding::Intervals
                ? interval(routing_, asked)
                : time_indexed(routing_, quotient(runner.encoding, runner.group), asked);
        Finish finish;
        if (question.stopped) {
            finish.answer = {.ended = Ended::Stopped, .words = "stopped while it was written"};
            return finish;
        }
        if (question.too_large) {
            finish.answer = {.ended = Ended::Failed,
                             .words = fmt::format("its model is too large: more than {} terms and literals "
                                                  "(--option model-size)",
                                                  request_.options.model_size)};
            return finish;
        }
        const SolveLimits limits{stop,     threads,          request_.seed, request_.memory_bytes,
                                 must_end, presolves(runner)};
        finish.answer = runner.backend->solve(question.program, limits);
        finish.refutes = question.refutes;
        if (finish.answer.has_solution()) finish.transfers = question.read(finish.answer.values);
        return finish;
    }

    Reply race(std::span<Runner* const> group, Units64 horizon, double slice) {
        ++races_;
        std::atomic<bool> answered = false;
        const Stop must_end = request_.stop.within(std::nullopt, &answered);
        const Stop stop = must_end.within(Stop::Seconds(slice));
        const unsigned each = std::max(1U, request_.threads / static_cast<unsigned>(group.size()));
        std::vector<std::future<Finish>> running;
        for (const Runner* runner : group) {
            running.push_back(
                std::async(group.size() > 1 ? std::launch::async : std::launch::deferred, [&, runner] {
                    Finish finish = solve(*runner, horizon, stop, must_end, each);
                    const Ended ended = finish.answer.ended;
                    if (finish.answer.has_solution() || (ended == Ended::Infeasible && finish.refutes))
                        answered = true;
                    return finish;
                }));
        }
        Reply reply = Reply::Unknown;
        std::vector<Finish> finishes;
        for (auto& one : running) finishes.push_back(one.get());
        for (std::size_t i = 0; i < group.size(); ++i) {
            const Reply one = learn(*group[i], finishes[i], horizon);
            if (reply == Reply::Unknown) reply = one;
        }
        return reply;
    }

    /// Uses an answer: a shorter schedule, a higher bound, or a change of the runner's state.
    Reply learn(Runner& runner, const Finish& finish, Units64 horizon) {
        const Answer& answer = finish.answer;
        const auto say = [&](std::string_view what) {
            tell(fmt::format("horizon  {}: {} ({}, {:.3f} s)", routing_.ticks(horizon).count(), what,
                             runner.name, answer.seconds));
        };
        if (answer.has_solution()) {
            Schedule schedule = schedule_of(routing_, horizon, finish.transfers);
            request_.judge(schedule, runner.name);
            if (schedule.makespan > routing_.ticks(horizon)) {
                throw InternalError(fmt::format("{} claims a schedule within {} ticks but its makespan is {}",
                                                runner.name, routing_.ticks(horizon).count(),
                                                schedule.makespan.count()));
            }
            say("found");
            if (schedule.makespan < result_.schedule.makespan) {
                result_.schedule = std::move(schedule);
                result_.found_by = runner.name;
                hint_ = transfers_of(routing_, high(), result_.schedule);
                tell_found();
            }
            return Reply::Yes;
        }
        if (answer.ended == Ended::Infeasible) {
            if (!finish.refutes) {
                const std::size_t asked_group = runner.group;
                if (runner.encoding == Encoding::Symmetric &&
                    fits(runner.encoding, runner.group + 1, horizon)) {
                    ++runner.group;
                    runner.again = true;
                } else {
                    runner.no_form = std::max(runner.no_form, horizon);
                }
                say(runner.encoding == Encoding::Symmetric
                        ? fmt::format("none with all {} symmetries", quotients_[asked_group].order)
                        : std::string("none of the form that the model knows"));
                return Reply::Unknown;
            }
            return refute(runner, name_of(runner.encoding), answer, horizon, presolves(runner));
        }
        if (answer.ended == Ended::Failed) {
            runner.failed = true;
            say("failed: " + answer.words);
        } else if (!request_.stop.requested()) {
            if (answer.seconds > 1) say("no answer yet");
        }
        return Reply::Unknown;
    }

    Reply refute(const Runner& runner, std::string_view encoding, const Answer& answer, Units64 horizon,
                 bool presolve) {
        tell(fmt::format("horizon  {}: infeasible ({}, {:.3f} s)", routing_.ticks(horizon).count(),
                         runner.name, answer.seconds));
        if (horizon + 1 > low_) {
            low_ = horizon + 1;
            const Ticks value = routing_.ticks(low_);
            const SolveLimits limits{request_.stop, 1, request_.seed, {}, {}, presolve};
            result_.bound = {
                "solver", value,
                SolverProof{runner.solver, parameters_of(limits), std::string(encoding), value - Ticks(1)},
                answer.seconds};
            result_.refuted_by = runner.name;
            tell_found();
        }
        return Reply::No;
    }

    const HorizonRequest& request_;
    const Routing routing_;
    const Quotient none_;
    std::vector<Quotient> quotients_;  ///< the largest group first
    /// Of the helper processes of all runners.
    const std::shared_ptr<remote::HelperMemory> helper_memory_ = std::make_shared<remote::HelperMemory>(0);
    std::vector<Runner> runners_;
    Runner alone_;  ///< asked about one of several equal sums; without a backend if there are none
    Units64 fits_alone_ = std::numeric_limits<Units64>::max();  ///< from here on one alone proves nothing
    std::size_t races_ = 0;                                     ///< in the present slice
    bool presolve_ = true;                                      ///< in the present slice
    std::vector<Transfer> hint_;
    Units64 low_ = 0;  ///< no schedule has a smaller makespan
    HorizonResult result_;
};

}  // namespace

HorizonResult search_horizons(const HorizonRequest& request) { return HorizonSearch(request).run(); }

std::string why_no_solver(const std::vector<std::string>& names) {
    std::string reasons;
    for (const BackendEntry& entry : backends()) {
        if (!names.empty() && std::ranges::find(names, entry.name) == names.end()) continue;
        const OpenedBackend opened = entry.open();
        if (opened) return {};
        reasons += fmt::format("{}{} ({})", reasons.empty() ? "" : "; ", entry.solver, opened.absence);
    }
    return fmt::format(
        "no solver for exact synthesis: {}. `scripts/setup` brings all of them, then configure again; to the "
        "Python package `pip install 'tutti[solvers]'` does; `tutti doctor` shows what is there",
        reasons);
}

}  // namespace tutti::models

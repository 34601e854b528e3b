// SCCL's question about an instance: models/pareto enumerates; here instances become its problems
// and plans become verified schedules.
//
// An all-reduce is composed, as SCCL does: a reduce-scatter of (S1, R1, C) and then an all-gather of (S2, R2,
// C) are an all-reduce of (S1 + S2, R1 + R2, C). SCCL reports only twice the all-gather. Two halves may also
// differ: a quick one and a thrifty one meet in the middle. With the frontiers of both halves known, the
// frontier of all compositions is that of all pairs; plans of C1 and C2 chunks are first multiplied to a
// common number, which changes neither S nor R/C.

#include "synth/pareto.hpp"

#include "core/expects.hpp"
#include "synth/reachability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::synth {
namespace {

using models::Decision;
using models::FrontierPoint;
using models::ParetoRequest;
using models::PointAnswer;
using models::Ratio;
using models::StepForm;
using models::StepPlan;
using models::StepPoint;
using models::StepView;

Ratio sum(Ratio a, Ratio b) { return Ratio::of(a.num * b.den + b.num * a.den, a.den * b.den); }

/// Each chunk becomes `times` chunks on the same path, and each step that many times as long.
StepPlan multiplied(const StepPlan& plan, int times) {
    StepPlan result;
    for (const int rounds : plan.rounds) result.rounds.push_back(rounds * times);
    for (const models::StepSend& send : plan.sends) {
        for (int i = 0; i < times; ++i) {
            result.sends.push_back({send.chunk_class, send.index * times + i, send.arc, send.step});
        }
    }
    return result;
}

/// The instance with one chunk of each kind, and how the model sees it.
class Subject {
  public:
    explicit Subject(const Instance& instance) : instance_(instance), base_(one_chunk(instance)) {
        if (const auto who = unreachable(base_)) throw InfeasibleError(*who);
        view_ = models::step_view(base_);
        // For one chunk: 1, or the number of ranks.
        per_chunk_ = models::sccl_chunks(base_, 1);
    }

    [[nodiscard]] const StepView& view() const { return view_; }
    [[nodiscard]] bool composed() const { return view_.form == StepForm::Composition; }
    [[nodiscard]] Ratio per_node(Ratio ratio) const { return Ratio::of(ratio.num, ratio.den * per_chunk_); }

    /// Precondition: not an all-reduce.
    [[nodiscard]] const models::StepProblem& problem() const {
        expects(!composed());
        return view_.form == StepForm::Reductions ? view_.reversed : view_.problem;
    }

    [[nodiscard]] ParetoPoint realised(const StepPoint& point, const StepAlgorithm& algorithm) const {
        const std::string name =
            fmt::format("{}-s{}-r{}-c{}", instance_.name(), point.steps, point.rounds, point.chunks);
        const std::int64_t chunks = per_chunk_ * point.chunks;
        return {point,
                chunks,
                Ratio::of(point.rounds, chunks),
                true,
                false,
                false,
                {},
                0,
                by_rounds(instance_, view_, algorithm, name),
                by_ticks(instance_, view_, algorithm, name)};
    }

    /// Precondition: not an all-reduce.
    [[nodiscard]] ParetoPoint realised(const PointAnswer& answer) const {
        expects(!composed());
        StepAlgorithm algorithm;
        algorithm.chunks = answer.point.chunks;
        (view_.form == StepForm::Reductions ? algorithm.reduction : algorithm.copies) = answer.plan;
        ParetoPoint point = realised(answer.point, algorithm);
        point.by = answer.by;
        point.seconds = answer.seconds;
        return point;
    }

    [[nodiscard]] ParetoPoint composed_of(const PointAnswer& reduction, const PointAnswer& copies) const {
        const int chunks = std::lcm(reduction.point.chunks, copies.point.chunks);
        const int first = chunks / reduction.point.chunks, second = chunks / copies.point.chunks;
        const StepAlgorithm algorithm{chunks, multiplied(reduction.plan, first),
                                      multiplied(copies.plan, second)};
        ParetoPoint point = realised({reduction.point.steps + copies.point.steps,
                                      reduction.point.rounds * first + copies.point.rounds * second, chunks},
                                     algorithm);
        point.by = copies.by;
        point.seconds = reduction.seconds + copies.seconds;
        return point;
    }

  private:
    static Instance one_chunk(const Instance& instance) {
        // Counted chunks become one; what custom and v-kinds list stays as it is.
        return Instance(models::with_chunks(instance, 1));
    }

    const Instance& instance_;
    Instance base_;
    StepView view_;
    std::int64_t per_chunk_ = 1;
};

std::string words_of(models::ParetoEnd end, int max_chunks) {
    switch (end) {
        case models::ParetoEnd::LeastRatio:
            return "R/C meets its lower bound, whatever C";
        case models::ParetoEnd::ChunksExhausted:
            return fmt::format("no algorithm of at most {} chunks is better (--max-chunks)", max_chunks);
        case models::ParetoEnd::StepsExhausted:
            return "the most steps or rounds allowed are reached";
        case models::ParetoEnd::Stopped:
            return "stopped by the time limit or an interrupt";
    }
    return {};
}

void enter(ParetoResult& result, const models::Frontier& frontier) {
    result.fewest_steps += frontier.fewest_steps;
    result.least_ratio = sum(result.least_ratio, frontier.least_ratio);
    result.max_chunks = std::max(result.max_chunks, frontier.max_chunks);
    result.refuted += frontier.refuted;
    result.seconds += frontier.seconds;
    result.undecided.insert(result.undecided.end(), frontier.undecided.begin(), frontier.undecided.end());
    const std::string words = words_of(frontier.end, frontier.max_chunks);
    if (result.end.empty()) {
        result.end = words;
    } else if (result.end != words) {
        result.end = fmt::format("reduce-scatter: {}; all-gather: {}", result.end, words);
    }
}

void mark(ParetoResult& result) {
    for (ParetoPoint& point : result.points) {
        point.latency_optimal = point.point.steps == result.fewest_steps;
        point.bandwidth_optimal = point.ratio == result.least_ratio;
    }
}

/// The pairs that no other pair beats, by steps.
std::vector<ParetoPoint> compositions(const Subject& subject, const ParetoRequest& request,
                                      const models::Frontier& reductions, const models::Frontier& copies) {
    struct Pair {
        const FrontierPoint *first, *second;
        [[nodiscard]] int steps() const { return first->answer.point.steps + second->answer.point.steps; }
        [[nodiscard]] Ratio ratio() const { return sum(first->ratio(), second->ratio()); }
        [[nodiscard]] int chunks() const {
            return std::lcm(first->answer.point.chunks, second->answer.point.chunks);
        }
        /// Whether both halves, brought to common chunks, are still within the limits of rounds.
        [[nodiscard]] bool keeps(const ParetoRequest& limits) const {
            return std::ranges::all_of(std::array{first, second}, [&](const FrontierPoint* half) {
                const StepPoint& point = half->answer.point;
                const int rounds = point.rounds * (chunks() / point.chunks);
                return !(limits.k && rounds > point.steps + *limits.k) &&
                       !(limits.max_rounds && rounds > *limits.max_rounds);
            });
        }
    };
    std::vector<Pair> pairs;
    for (const FrontierPoint& first : reductions.points) {
        for (const FrontierPoint& second : copies.points) pairs.push_back({&first, &second});
    }
    std::ranges::stable_sort(pairs, [](const Pair& a, const Pair& b) {
        if (a.steps() != b.steps()) return a.steps() < b.steps();
        if (!(a.ratio() == b.ratio())) return a.ratio() < b.ratio();
        return a.chunks() < b.chunks();
    });
    std::vector<ParetoPoint> points;
    std::optional<Ratio> best;
    for (const Pair& pair : pairs) {
        if ((best && !(pair.ratio() < *best)) || !pair.keeps(request)) continue;
        best = pair.ratio();
        points.push_back(subject.composed_of(pair.first->answer, pair.second->answer));
        points.back().proven = pair.first->proven && pair.second->proven;
    }
    return points;
}

bool same_arcs(const models::StepProblem& a, const models::StepProblem& b) {
    const auto sorted = [](const models::StepProblem& problem) {
        std::vector<std::tuple<NodeId, NodeId, std::int64_t>> arcs;
        for (const models::StepArc& arc : problem.arcs) arcs.emplace_back(arc.src, arc.dst, arc.capacity);
        std::ranges::sort(arcs);
        return arcs;
    };
    return sorted(a) == sorted(b);
}

/// The arcs of the reversed network are numbered as those they reverse; a plan of the network itself, seen as
/// one of the reversed network, has to name the arcs that lead the same way there.
StepPlan renamed(StepPlan plan, const models::StepProblem& from, const models::StepProblem& to) {
    for (models::StepSend& send : plan.sends) {
        const models::StepArc& arc = from.arcs[send.arc];
        const auto same = std::ranges::find_if(to.arcs, [&](const models::StepArc& other) {
            return other.src == arc.src && other.dst == arc.dst;
        });
        send.arc = static_cast<std::size_t>(same - to.arcs.begin());
    }
    return plan;
}

void tell(const ParetoRequest& request, const std::string& line) {
    if (request.story) request.story(line);
}

ParetoResult composed_pareto(const Subject& subject, const ParetoRequest& request) {
    ParetoResult result;
    result.composition = true;
    const StepView& view = subject.view();
    tell(request, "all-gather, the second half");
    const models::Frontier copies = models::pareto(view.problem, request);
    models::Frontier reductions;
    if (same_arcs(view.problem, view.reversed)) {
        tell(request,
             "reduce-scatter, the first half: the same backwards, since every link has its like in return");
        reductions = copies;
        for (FrontierPoint& point : reductions.points) {
            point.answer.seconds = 0;
            point.answer.plan = renamed(std::move(point.answer.plan), view.problem, view.reversed);
        }
        reductions.refuted = 0;
        reductions.seconds = 0;
        reductions.undecided.clear();
    } else {
        tell(request, "reduce-scatter, the first half: as an all-gather on the reversed network");
        ParetoRequest rest = request;
        if (rest.seconds) rest.seconds = std::max(0.001, *rest.seconds - copies.seconds);
        reductions = models::pareto(view.reversed, rest);
    }
    enter(result, reductions);
    enter(result, copies);
    result.points = compositions(subject, request, reductions, copies);
    if (request.k || request.max_rounds) result.end += "; halves are paired from their frontiers only";
    result.complete = reductions.complete() && copies.complete();
    return result;
}

}  // namespace

ParetoResult pareto(const Instance& instance, const ParetoRequest& request) {
    const Subject subject(instance);
    ParetoResult result;
    if (subject.composed()) {
        result = composed_pareto(subject, request);
    } else {
        const models::Frontier frontier = models::pareto(subject.problem(), request);
        enter(result, frontier);
        for (const FrontierPoint& point : frontier.points) {
            result.points.push_back(subject.realised(point.answer));
            result.points.back().proven = point.proven;
        }
        result.complete = frontier.complete();
    }
    result.least_ratio = subject.per_node(result.least_ratio);
    mark(result);
    return result;
}

namespace {

/// Every way to share steps and rounds between the halves; infeasible if none will do.
PointResult composed_point(const Subject& subject, const StepPoint& point, const ParetoRequest& request) {
    PointResult result;
    result.composition = true;
    models::StepOracle reductions(subject.view().reversed, request), copies(subject.view().problem, request);
    const auto tell_of = [&](const char* half, const PointAnswer& answer) {
        tell(request, fmt::format("{} {}", half, story_line(answer)));
    };
    bool undecided = false;
    result.decision = Decision::Infeasible;
    result.by = "every way to share steps and rounds between the halves";
    for (int steps = 1; steps < point.steps; ++steps) {
        for (int rounds = steps; rounds <= point.rounds - (point.steps - steps); ++rounds) {
            const PointAnswer first = reductions.ask({steps, rounds, point.chunks});
            tell_of("reduce-scatter", first);
            if (first.decision == Decision::Infeasible) continue;
            const PointAnswer second = copies.ask({point.steps - steps, point.rounds - rounds, point.chunks});
            tell_of("all-gather", second);
            if (first.decision == Decision::Feasible && second.decision == Decision::Feasible) {
                result.decision = Decision::Feasible;
                result.found = subject.composed_of(first, second);
                result.by = second.by;
                return result;
            }
            undecided = undecided || second.decision != Decision::Infeasible;
        }
    }
    if (undecided) result.decision = Decision::Undecided;
    return result;
}

}  // namespace

PointResult pareto_point(const Instance& instance, const StepPoint& point, const ParetoRequest& request) {
    const Subject subject(instance);
    const auto begin = Stop::Clock::now();
    PointResult result;
    if (subject.composed()) {
        result = composed_point(subject, point, request);
    } else {
        ParetoRequest only = request;
        only.one_question = true;
        models::StepOracle oracle(subject.problem(), only);
        const PointAnswer answer = oracle.ask(point);
        tell(request, story_line(answer));
        result.decision = answer.decision;
        result.by = answer.by;
        result.words = answer.words;
        if (answer.decision == Decision::Feasible) result.found = subject.realised(answer);
    }
    result.seconds = std::chrono::duration<double>(Stop::Clock::now() - begin).count();
    return result;
}

}  // namespace tutti::synth

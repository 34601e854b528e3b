#include "synth/best_so_far.hpp"

#include "heuristics/portfolio.hpp"
#include "synth/judge.hpp"

#include <fmt/format.h>

namespace tutti::synth {

double BestSoFar::relative_gap() const { return gap(makespan(), bound().value).value_or(1); }

double BestSoFar::seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

void BestSoFar::tell(const std::string& line) const {
    if (request_.story) request_.story(line);
}

void BestSoFar::report() const {
    if (!request_.found) return;
    request_.found(has_schedule() ? std::optional(makespan()) : std::nullopt, bound().value);
}

void BestSoFar::raise(Bound bound) {
    if (!result_.bound.kind.empty() && bound.value <= result_.bound.value) return;
    result_.bound = std::move(bound);
    tell(fmt::format("bound    {} ({}), {:.3f} s", result_.bound.value.count(), result_.bound.kind,
                     seconds()));
    report();
}

bool BestSoFar::offer(Schedule schedule, const std::string& who, std::string_view heuristic) {
    if (!is_improved_by(schedule.makespan)) return false;
    const Verdict verdict =
        judge(instance_, schedule, bound(), heuristic.empty() ? who : std::string(heuristic));
    result_.schedule = std::move(schedule);
    result_.finish = verdict.finish;
    result_.method = who;
    result_.heuristic = heuristic;
    report();
    return true;
}

void BestSoFar::take_unheld(const Verdict& verdict, const std::string& who, std::string_view heuristic,
                            std::optional<symmetry::SymmetricSchedule> symmetric) {
    result_.schedule = {instance_.name(), verdict.makespan, {}};
    result_.finish = verdict.finish;
    result_.method = who;
    result_.heuristic = heuristic;
    result_.sends = verdict.sends;
    result_.symmetric = std::move(symmetric);
    report();
}

void BestSoFar::enter(std::vector<Candidate> candidates) {
    for (Candidate& candidate : candidates) heuristics::enter(result_.candidates, std::move(candidate));
}

void BestSoFar::set_solver_versions(std::map<std::string, std::string> versions) {
    result_.solver_versions = std::move(versions);
}

Result BestSoFar::take(std::vector<SkippedBound> skipped, bool stopped) {
    if (!result_.schedule.sends.empty()) result_.sends = result_.schedule.sends.size();
    result_.status = has_gap() ? Status::Feasible : Status::Optimal;
    judge(makespan(), bound(), result_.method);
    result_.skipped = std::move(skipped);
    result_.stopped = has_gap() && stopped;
    result_.seconds = seconds();
    tell(fmt::format("verified{}, {:.3f} s", has_gap() ? "" : " and optimal: the makespan meets the bound",
                     result_.seconds));
    return std::move(result_);
}

}  // namespace tutti::synth

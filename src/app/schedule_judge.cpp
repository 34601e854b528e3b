#include "app/schedule_judge.hpp"

#include "app/made_for.hpp"
#include "core/stoppable_source.hpp"
#include "io/bound_json.hpp"
#include "io/collective_result_json.hpp"
#include "io/instance_json.hpp"
#include "io/verdict_json.hpp"
#include "symmetry/symmetric_schedule.hpp"
#include "synth/reachability.hpp"
#include "verify/schedule_verifier.hpp"
#include "verify/symmetric_verifier.hpp"

#include <fmt/format.h>

namespace tutti::app {

ScheduleJudge::ScheduleJudge(Instance instance, Options options)
    : instance_(std::move(instance)), options_(options) {
    // Where a receiver cannot be reached there is no bound.
    if (!synth::unreachable(instance_)) bounding_.emplace(instance_);
}

JudgedSchedule ScheduleJudge::judge(const std::string& file, const Stop& stop) {
    JudgedSchedule judged{.file = file};
    try {
        const io::OpenSchedule schedule = io::open_schedule(file, stop);
        judged.made_for = schedule.instance;
        judged.notes = notes_on_origin(file, schedule, instance_);
        judged.verdict = verdict_of(schedule, stop);
    } catch (const InputError& error) {
        judged.malformed = error;
        return judged;
    }
    if (bounding_) bound(judged, stop);
    return judged;
}

/// How good a valid schedule is; an invalid one would only flatter itself.
void ScheduleJudge::bound(JudgedSchedule& judged, const Stop& stop) {
    if (!is_bounded_) bounding_->begin(stop);
    is_bounded_ = true;
    const Verdict& verdict = judged.verdict;
    if (verdict.valid()) {
        bounding_->go_on(verdict.makespan, stop);
        judged.skipped = bounding_->skipped();
    }
    judged.bound = bounding_->best();
    if (verdict.valid() && verdict.makespan < judged.bound->value) {
        throw InternalError(fmt::format("a valid schedule has makespan {}, below the lower bound {} ({})",
                                        verdict.makespan.count(), judged.bound->value.count(),
                                        judged.bound->kind));
    }
}

Verdict ScheduleJudge::verdict_of(const io::OpenSchedule& schedule, const Stop& stop) const {
    const verify::Options limits{options_.max_violations};
    if (schedule.symmetric && !options_.expand) {
        return verify::verify(instance_, *schedule.symmetric, limits);
    }
    if (schedule.sends) {
        StoppableSource watched(*schedule.sends, stop);
        return verify::verify(instance_, watched, limits);
    }
    // If the symmetries are invalid there is no expansion, and the verdict says why.
    Verdict verdict = verify::verify(instance_, *schedule.symmetric, limits);
    if (!verdict.valid()) return verdict;
    symmetry::SymmetricSource all(instance_, *schedule.symmetric);
    StoppableSource watched(all, stop);
    return verify::verify(instance_, watched, limits);
}

std::vector<CollectiveResult> ScheduleJudge::collectives(const JudgedSchedule& judged) const {
    if (judged.malformed || !judged.verdict.valid()) return {};
    return collective_results(instance_, judged.verdict.finish, options_.asked_bytes);
}

Bandwidths ScheduleJudge::bandwidths(const JudgedSchedule& judged) const {
    if (judged.malformed || !judged.verdict.valid()) return {};
    return bandwidths_of(instance_, judged.verdict.makespan, options_.asked_bytes);
}

io::Json ScheduleJudge::json_of(const JudgedSchedule& judged) const {
    if (judged.malformed) return io::malformed_json(judged.file, *judged.malformed);
    io::Json json = io::verdict_json(judged.file, judged.verdict,
                                     judged.bound ? std::optional(judged.bound->value) : std::nullopt);
    if (judged.bound) json["bound_kind"] = judged.bound->kind;
    json["skipped"] = io::skipped_json(judged.skipped);
    json["instance"] = instance_.name();
    json["made_for"] = judged.made_for;
    if (judged.verdict.valid()) {
        const auto or_null = [](const auto& value) { return value ? io::Json(*value) : io::Json(nullptr); };
        const auto bytes = call_bytes(instance_, options_.asked_bytes);
        json["bytes"] = bytes ? io::Json(bytes->count) : io::Json(nullptr);
        json["algbw_GBps"] = or_null(bandwidths(judged).algbw_GBps);
        json["busbw_GBps"] = or_null(bandwidths(judged).busbw_GBps);
        json["collectives"] = io::collective_results_json(collectives(judged));
    }
    return json;
}

}  // namespace tutti::app

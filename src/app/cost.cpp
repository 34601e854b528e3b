#include "app/cost.hpp"

#include "core/error.hpp"
#include "core/outcome.hpp"
#include "io/instance_json.hpp"

namespace tutti::app {
namespace {

Cost cost_of_schedule(const ScheduleFiles& files, const JudgeOptions& options, const Watch& watch) {
    ScheduleJudge judge(io::read_instance(files.instance, options.variation, watch.stop()),
                        {options.max_violations, options.expand, options.variation.bytes});
    const JudgedSchedule judged = judge.judge(files.schedules.front(), watch.stop());
    if (judged.malformed) throw judged.malformed->in_file(judged.file);
    if (!judged.verdict.valid()) throw InputError(judged.verdict.violations.front().message, {}, judged.file);
    Cost cost{.makespan = judged.verdict.makespan, .bound = judged.bound};
    cost.skipped = judged.skipped;
    if (cost.bound) cost.gap = gap(cost.makespan, cost.bound->value);
    return cost;
}

Cost cost_of_plan(const std::string& file, const JudgeOptions& options, const Watch& watch) {
    const auto network = network_of(options.plan);
    if (!network) throw InputError("expected a topology that the plan is to be timed on", {}, file);
    const PlanJudge judge(options, PlanJudge::OtherFiles::Malformed, true);
    JudgedPlan judged = judge.judge(file, 0, watch.stop());
    if (!judged.verdict.acceptable())
        throw InputError(judged.verdict.violations.front().message, judged.place, file);
    time_plan(judged, *network, group_of(options.plan, 0), watch.stop());
    if (!judged.cost) throw InputError(judged.not_timed, {}, file);
    const PlanCost& timed = *judged.cost;
    return {timed.timing.makespan, timed.bound, timed.gap, timed.skipped, timed};
}

}  // namespace

Cost cost(const JudgeOptions& options, const Watch& watch) {
    const FilesToJudge files = sorted_files(options);
    if (files.ours && files.ours->schedules.size() == 1 && files.plans.empty() && files.folders.empty())
        return cost_of_schedule(*files.ours, options, watch);
    if (!files.ours && files.plans.size() == 1 && files.folders.empty())
        return cost_of_plan(files.plans.front(), options, watch);
    throw InputError("expected one plan, or an instance and one schedule");
}

}  // namespace tutti::app

#include "app/judge.hpp"

#include "app/bug.hpp"
#include "io/instance_json.hpp"

namespace tutti::app {

std::vector<Judged> judge(const JudgeOptions& options, const Watch& watch) {
    const FilesToJudge files = sorted_files(options);
    const auto network = network_of(options.plan);
    std::vector<Judged> all;
    if (files.ours) {
        const Instance instance = io::read_instance(files.ours->instance, options.variation, watch.stop());
        with_instance(instance, [&] {
            ScheduleJudge judge(instance, {options.max_violations, options.expand, options.variation.bytes});
            for (const std::string& file : files.ours->schedules)
                all.push_back(judge.judge(file, watch.stop()));
        });
    }
    const PlanListener listener{.judged = [&](const JudgedPlan& plan) { all.push_back(plan); }};
    bool complete = true;
    if (!files.folders.empty()) {
        complete = judge_folders(files, options, network, watch, listener).complete;
    } else if (!files.plans.empty()) {
        complete = judge_plans(files.plans, options, network, watch, listener).complete;
    }
    if (!complete) throw LimitError("interrupted before all files were judged");
    return all;
}

}  // namespace tutti::app

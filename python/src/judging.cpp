// Verdicts on schedules and plans, and what plans take on a network.

#include "app/bug.hpp"
#include "app/doctor.hpp"
#include "app/file_kind.hpp"
#include "app/instance.hpp"
#include "app/judge_plans.hpp"
#include "app/plan_json.hpp"
#include "app/schedule_judge.hpp"
#include "bindings.hpp"
#include "call.hpp"
#include "names.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace tutti::python {
namespace {

using Lines = std::vector<std::string>;

void judge_schedules(const app::ScheduleFiles& files, const app::JudgeOptions& options,
                     const app::Watch& watch, Lines& lines) {
    const Instance instance = app::read_instance(files.instance, options.variation, watch.stop());
    app::with_instance(instance, [&] {
        app::ScheduleJudge judge(instance, {options.max_violations, options.expand, options.variation.bytes});
        for (const std::string& file : files.schedules)
            lines.push_back(io::json_line(judge.json_of(judge.judge(file, watch.stop()))));
    });
}

void judge_plans(const app::FilesToJudge& files, const app::JudgeOptions& options, const app::Watch& watch,
                 Lines& lines) {
    const auto network = app::network_of(options.plan);
    const app::PlanListener listener{.judged = [&](const app::JudgedPlan& plan) {
        lines.push_back(io::json_line(app::json_of(plan, app::group_of(options.plan, lines.size()),
                                                   network ? &network->topology : nullptr)));
    }};
    const bool folders = !files.folders.empty();
    const app::JudgedPlans judged = folders
                                        ? app::judge_folders(files, options, network, watch, listener)
                                        : app::judge_plans(files.plans, options, network, watch, listener);
    if (!judged.complete) throw LimitError("interrupted before all files were judged");
}

/// A JSON text for each file: the keys that `tutti verify --json` has.
Lines judge(const app::JudgeOptions& options, const app::Watch& watch) {
    const app::FilesToJudge files = app::sorted_files(options);
    Lines lines;
    if (files.ours) judge_schedules(*files.ours, options, watch, lines);
    if (!files.folders.empty() || !files.plans.empty()) judge_plans(files, options, watch, lines);
    return lines;
}

std::string kind_of_file(const std::string& path) {
    io::Source source(path);
    switch (app::kind_of_bytes(source.peek(io::Source::kBlock))) {
        case app::FileKind::Instance:
            return "instance";
        case app::FileKind::Schedule:
            return "schedule";
        case app::FileKind::Plan:
            return "plan";
        default:
            return "unclear";
    }
}

}  // namespace

void bind_judging(nb::module_& module) {
    using namespace nb::literals;
    module.def(
        "judge",
        [](const Lines& files, const std::optional<std::string>& instance, std::size_t max_violations,
           bool expand, const std::optional<std::string>& goal, std::optional<std::uint32_t> root,
           const std::optional<std::string>& condition, const std::optional<std::string>& target,
           const std::optional<std::vector<std::int32_t>>& group, const std::optional<std::string>& topology,
           const std::vector<std::int64_t>& bytes, const nb::object& progress) {
            app::JudgeOptions options{
                .files = files, .instance = instance, .max_violations = max_violations, .expand = expand};
            if (goal) options.plan.goal = plan_goal(*goal);
            if (root) options.plan.root = Rank(*root);
            if (condition) options.plan.conditions = {*condition};
            if (target) options.plan.target = plan_target(*target);
            if (group) options.plan.groups = {*group};
            options.plan.topology = topology;
            if (bytes.size() == 1) options.plan.bytes = bytes.front();
            if (bytes.size() > 1) options.plan.sizes = bytes;
            return stoppable(progress, [&](const app::Watch& watch) { return judge(options, watch); });
        },
        "files"_a, "instance"_a.none(), "max_violations"_a, "expand"_a, "goal"_a.none(), "root"_a.none(),
        "condition"_a.none(), "target"_a.none(), "group"_a.none(), "topology"_a.none(), "bytes"_a,
        "progress"_a.none(), "A JSON text for each file: the keys of tutti verify --json.");
    module.def("kind_of_file", kind_of_file, "path"_a, "instance, schedule, plan or unclear.");
    module.def("doctor", [] {
        return stoppable(nb::none(), [](const app::Watch&) {
            return io::json_line(app::json_of(app::examine_solvers(), app::this_machine()));
        });
    });
}

}  // namespace tutti::python

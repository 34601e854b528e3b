#include "app/convert.hpp"

#include "app/convert_plan.hpp"
#include "app/convert_schedule.hpp"
#include "app/file_kind.hpp"
#include "app/folder_plans.hpp"
#include "app/made_for.hpp"
#include "app/output_check.hpp"
#include "io/instance_json.hpp"

namespace tutti::app {
namespace {

io::Json plans_json(const std::vector<WrittenPlan>& plans) {
    io::Json list = io::Json::array();
    for (const WrittenPlan& plan : plans) {
        io::Json line{{"file", plan.path}, {"condition", nullptr}};
        if (!plan.condition_path.empty()) line["condition"] = plan.condition_path;
        line.update(plan.plan.facts);
        list.push_back(std::move(line));
    }
    return list;
}

std::vector<WrittenPlan> plans_of(const Instance& instance, const Schedule& schedule,
                                  const ConvertOptions& options) {
    switch (options.format) {
        case ConvertFormat::Chakra:
            return {convert_to_chakra(instance, schedule, options.output)};
        case ConvertFormat::ScclJson:
            return {convert_to_steps(instance, schedule, options.output)};
        default:
            return convert_to_plans(instance, schedule, options);
    }
}

}  // namespace

bool is_tensor_format(ConvertFormat format) {
    return format == ConvertFormat::Program || format == ConvertFormat::Dot ||
           format == ConvertFormat::Torch || format == ConvertFormat::Cpp || format == ConvertFormat::Cuda;
}

bool is_plan(ConvertFormat format) {
    return !is_tensor_format(format) && format != ConvertFormat::Json && format != ConvertFormat::Stream &&
           format != ConvertFormat::Perfetto;
}

Conversion convert(const ConvertOptions& options, const Watch& watch) {
    if (!options.folder.empty()) return convert_to_folder(options, watch);
    const bool is_tensor = are_tensor_files(options);
    if (is_tensor && !is_tensor_format(options.format) && options.format != ConvertFormat::Json)
        throw InputError("a tensor program is written with --to program, torch, cpp, cuda or dot", {},
                         options.files.front());
    if (!is_tensor && is_tensor_format(options.format))
        throw InputError("--to program, torch, cpp, cuda and dot are for a tensor program and its schedule",
                         {}, options.files.front());
    if (!is_tensor && options.tensor_sizes != TensorSizes{})
        throw InputError("--sizes and --mesh are for tensor programs", {}, options.files.front());
    if (is_tensor) return {.tensor = convert_tensor(options, watch)};
    if (options.files.size() != 2) throw InputError("expected an instance and a schedule");
    const ScheduleFiles files = instance_and_schedules(options.files);
    const Instance instance = io::read_instance(files.instance, {}, watch.stop());
    const std::string& file = files.schedules.front();
    io::OpenSchedule schedule = io::open_schedule(file, watch.stop());
    check_output(options.output, files.instance);
    Conversion conversion{.file = file};
    conversion.units = instance.topology().units();
    if (!is_plan(options.format)) {
        conversion.verdict = convert_schedule(schedule, instance, options, watch.stop());
    } else {
        HeldSchedule held = held_schedule(schedule, instance, watch.stop());
        conversion.verdict = std::move(held.verdict);
        if (conversion.verdict.valid()) {
            conversion.plans = plans_of(instance, held.schedule, options);
            conversion.times = times_of(instance, conversion.verdict, conversion.plans);
        }
    }
    if (!conversion.verdict.valid())
        conversion.notes = notes_on_invalid(file, schedule, instance, files.instance);
    return conversion;
}

io::Json json_of(const Conversion& conversion, const ConvertOptions& options) {
    if (conversion.tensor) return json_of(*conversion.tensor, options);
    if (!options.folder.empty()) {
        return {{"directory", options.folder},
                {"target", name_of(folder_target(options))},
                {"environment", conversion.environment},
                {"plans", plans_json(conversion.plans)}};
    }
    const Verdict& verdict = conversion.verdict;
    io::Json json{{"file", conversion.file},
                  {"verdict", verdict.valid() ? "valid" : "invalid"},
                  {"makespan", verdict.makespan.count()},
                  {"sends", verdict.sends}};
    if (!conversion.notes.empty()) json["notes"] = conversion.notes;
    if (is_plan(options.format)) {
        json["plans"] = plans_json(conversion.plans);
        if (conversion.times) {
            json["schedule_makespan"] = conversion.times->schedule.count();
            json["plan_makespan"] = conversion.times->plans.count();
        }
    } else {
        json["schedule"] = nullptr;
        if (verdict.valid()) json["schedule"] = options.output;
    }
    return json;
}

}  // namespace tutti::app

// What leaves tutti has been verified, whoever made it: schedules while they are rewritten, plans once more
// as plans.

#include "cli/convert_plan.hpp"
#include "cli/convert_schedule.hpp"
#include "cli/file_kind.hpp"
#include "cli/heartbeat.hpp"
#include "cli/output_check.hpp"
#include "cli/run.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"

namespace tutti::cli {
namespace {

struct Conversion {
    Verdict verdict{};
    std::vector<WrittenPlan> plans{};  ///< none where the schedule stays a schedule
};

bool is_plan(ConvertFormat format) {
    return format != ConvertFormat::Json && format != ConvertFormat::Stream &&
           format != ConvertFormat::Perfetto;
}

Conversion converted(io::OpenSchedule& schedule, const Instance& instance, const ConvertOptions& options,
                     const std::atomic<bool>* interrupted) {
    Conversion conversion;
    if (!is_plan(options.format)) {
        conversion.verdict = convert_schedule(schedule, instance, options, interrupted);
        return conversion;
    }
    JudgedSchedule judged = judged_schedule(schedule, instance, interrupted);
    conversion.verdict = std::move(judged.verdict);
    if (!conversion.verdict.valid()) return conversion;
    if (options.format == ConvertFormat::Chakra) {
        conversion.plans = {convert_to_chakra(instance, judged.schedule, options.output)};
    } else if (options.format == ConvertFormat::ScclJson) {
        conversion.plans = {convert_to_steps(instance, judged.schedule, options.output)};
    } else {
        conversion.plans = convert_to_plans(instance, judged.schedule, options);
    }
    return conversion;
}

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

void report(const std::string& file, const Conversion& conversion, const ConvertOptions& options,
            const Streams& streams) {
    const Verdict& verdict = conversion.verdict;
    if (options.json) {
        io::Json json{{"file", file},
                      {"verdict", verdict.valid() ? "valid" : "invalid"},
                      {"makespan", verdict.makespan.count()},
                      {"sends", verdict.sends}};
        if (is_plan(options.format)) {
            json["plans"] = plans_json(conversion.plans);
        } else {
            json["schedule"] = nullptr;
            if (verdict.valid()) json["schedule"] = options.output;
        }
        streams.out << io::json_line(json) << '\n';
    }
    if (!verdict.valid()) return report_invalid(file, verdict, streams);
    if (options.quiet || options.json) return;
    if (!is_plan(options.format)) {
        streams.err << fmt::format("{}: {} sends, verified\n", options.output, verdict.sends);
    }
    for (const WrittenPlan& plan : conversion.plans) {
        streams.err << fmt::format("{}: {}\n", plan.path, plan.plan.words);
        if (!plan.condition_path.empty()) {
            streams.err << fmt::format("{}: what it must end with, for tutti verify --condition\n",
                                       plan.condition_path);
        }
    }
}

}  // namespace

ExitCode run_convert(const ConvertOptions& options, const Process& process) {
    Streams streams = process.streams;
    streams.terminal_err = streams.terminal_err && !options.quiet;
    try {
        if (!options.folder.empty()) {
            const Heartbeat heartbeat(streams);
            return convert_to_folder(options, process);
        }
        const ScheduleFiles files = instance_and_schedules(options.files);
        const Instance instance = io::read_instance(files.instance);
        io::OpenSchedule schedule = io::open_schedule(files.schedules.front());
        check_output(options.output, files.instance);
        Conversion conversion;
        {
            const Heartbeat heartbeat(streams);
            conversion = converted(schedule, instance, options, process.interrupted);
        }
        report(files.schedules.front(), conversion, options, streams);
        return conversion.verdict.valid() ? ExitCode::Done : ExitCode::Failed;
    } catch (const LimitError&) {
        streams.err << fmt::format("error: interrupted; {} was not written\n",
                                   options.folder.empty() ? options.output : options.folder);
        return ExitCode::Interrupted;
    }
}

}  // namespace tutti::cli

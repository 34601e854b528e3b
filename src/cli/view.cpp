// A page to look at: of one schedule, which is judged before it is shown, or of a run's results.

#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"
#include "cli/failure.hpp"
#include "cli/file_kind.hpp"
#include "cli/heartbeat.hpp"
#include "cli/output_check.hpp"
#include "cli/run.hpp"
#include "io/found_results.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/source.hpp"
#include "io/verdict_json.hpp"
#include "report/judged_view.hpp"
#include "report/page_file.hpp"
#include "report/report.hpp"

#include <filesystem>

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;

/// In this folder, called after the schedule: as synth does it with instances.
std::string page_of(const ViewOptions& options, const std::string& schedule) {
    if (!options.output.empty()) return options.output;
    std::string name = schedule == "-" ? "schedule" : fs::path(schedule).filename().string();
    for (const std::string_view suffix : {".schedule.json", ".json", ".tsch"}) {
        if (!name.ends_with(suffix) || name.size() == suffix.size()) continue;
        name.resize(name.size() - suffix.size());
        break;
    }
    return name + ".html";
}

void say(const std::string& page, const io::Json& facts, const std::string& words, const ViewOptions& options,
         const Streams& streams) {
    if (options.json) {
        streams.out << io::json_line(facts) << '\n';
    } else if (page != "-") {
        streams.out << fmt::format("{}: {}, {}\n", page, io::size_name(facts.at("bytes")), words);
    } else if (!options.quiet) {
        streams.err << fmt::format("standard output: {}, {}\n", io::size_name(facts.at("bytes")), words);
    }
}

ExitCode view_results(const std::string& folder, const ViewOptions& options, const Process& process) {
    report::ReportOptions page;
    page.stop = Stop(std::nullopt, process.interrupted);
    if (options.sends) page.most_sends_of_a_view = page.most_sends = *options.sends;
    page.instance = [](const io::ResultLine& line) { return batch::instance_of(batch::task_of(line)); };
    const report::Report made = report::write_report(folder, options.output, page);
    const io::Json facts{{"folder", folder},     {"page", made.path},           {"bytes", made.bytes},
                         {"results", made.rows}, {"schedules", made.schedules}, {"views", made.views}};
    say(made.path, facts,
        fmt::format("{} results, {} of {} schedules", made.rows, made.views, made.schedules), options,
        process.streams);
    if (!made.obstacle.empty() && !options.quiet)
        process.streams.err << fmt::format("note: {} not shown, such as: {}\n", made.schedules - made.views,
                                           made.obstacle);
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    return interrupted ? ExitCode::Interrupted : ExitCode::Done;
}

/// An instance, one schedule of it, and what a run said about it.
struct Looked {
    std::string instance{}, schedule{};
    std::optional<io::ResultLine> line{};  ///< of the run, which may have varied the instance
    std::optional<report::BoundClaim> claim{};
};

/// A schedule alone is looked up in the results that it lies among.
Looked files_of(const ViewOptions& options) {
    if (options.instance) return {*options.instance, options.files.front(), {}, {}};
    if (options.files.size() == 2) {
        const ScheduleFiles files = instance_and_schedules(options.files);
        return {files.instance, files.schedules.front(), {}, {}};
    }
    const std::string& file = options.files.front();
    if (!fs::exists(file)) throw InputError("there is no such file or folder", {}, file);
    const auto line = io::line_about(file);
    if (!line || line->file.empty()) {
        throw InputError("expected a schedule and its instance (--instance FILE), or a folder with results",
                         {}, file);
    }
    return {line->file, file, line, report::claim_of(*line)};
}

void refuse_to_replace(const std::string& page, const std::string& input) {
    std::error_code ignored;
    if (fs::equivalent(page, input, ignored)) {
        throw InputError("the page would replace this file (choose another --output)", {}, input);
    }
}

ExitCode refuse(const std::string& schedule, const Verdict& verdict, const ViewOptions& options,
                const Streams& streams) {
    if (options.json) streams.out << io::json_line(io::verdict_json(schedule, verdict, std::nullopt)) << '\n';
    const Violation& first = verdict.violations.front();
    streams.err << fmt::format("error: {}: the schedule is invalid, so there is no page; V{} {}: {}\n",
                               schedule, number_of(first.rule), code_of(first.rule), first.message);
    return ExitCode::Failed;
}

ExitCode view_schedule(const ViewOptions& options, const Process& process) {
    const Looked files = files_of(options);
    const Instance instance =
        files.line ? batch::instance_of(batch::task_of(*files.line)) : io::read_instance(files.instance);
    const std::string page = page_of(options, files.schedule);
    for (const std::string& input : {files.instance, files.schedule}) refuse_to_replace(page, input);
    check_output(page, files.instance);
    report::ViewOptions view_options;
    view_options.most_sends = options.sends.value_or(view_options.most_sends);
    view_options.claim = files.claim;
    const report::JudgedView judged = with_reproducer(instance, [&] {
        return report::judged_view(instance, files.schedule, view_options,
                                   Stop(std::nullopt, process.interrupted));
    });
    if (!judged.verdict.valid()) return refuse(files.schedule, judged.verdict, options, process.streams);
    const io::Json& sends = judged.view.at("sends");
    io::Json facts{{"file", files.schedule},
                   {"instance", instance.name()},
                   {"verdict", "valid"},
                   {"makespan", judged.verdict.makespan.count()},
                   {"sends", judged.verdict.sends},
                   {"shown", sends.at("shown")},
                   {"page", page}};
    facts["bytes"] = report::write_page(
        page, report::page_data(instance.name(), io::Json::array(), io::Json::array({judged.view})));
    say(page, facts,
        sends.at("note").is_null() ? fmt::format("{} sends", judged.verdict.sends)
                                   : sends.at("note").get<std::string>(),
        options, process.streams);
    return ExitCode::Done;
}

}  // namespace

ExitCode run_view(const ViewOptions& options, const Process& process) {
    Streams streams = process.streams;
    streams.terminal_err = streams.terminal_err && !options.quiet;
    try {
        const Heartbeat heartbeat(streams);
        std::error_code ignored;
        if (options.files.size() == 1 && fs::is_directory(options.files.front(), ignored)) {
            return view_results(options.files.front(), options, process);
        }
        return view_schedule(options, process);
    } catch (const LimitError&) {
        streams.err << "error: interrupted; no page was written\n";
        return ExitCode::Interrupted;
    }
}

}  // namespace tutti::cli

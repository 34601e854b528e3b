// A page to look at: of one schedule, which is judged before it is shown, or of a run's results.

#include "cli/convert_plan.hpp"
#include "cli/failure.hpp"
#include "cli/file_kind.hpp"
#include "cli/heartbeat.hpp"
#include "cli/run.hpp"
#include "cli/run_report.hpp"
#include "cli/target.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/source.hpp"
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
    report::ReportWish wish;
    wish.stop = Stop(std::nullopt, process.interrupted);
    if (options.sends) wish.most_sends_of_a_view = wish.most_sends = *options.sends;
    const report::Report made = write_run_report(folder, options.output, wish);
    const io::Json facts{{"folder", folder},
                         {"page", made.path},
                         {"bytes", made.bytes},
                         {"results", made.rows},
                         {"views", made.views}};
    say(made.path, facts, fmt::format("{} results, {} schedules", made.rows, made.views), options,
        process.streams);
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    return interrupted ? ExitCode::Interrupted : ExitCode::Done;
}

ExitCode view_schedule(const ScheduleFiles& files, const ViewOptions& options, const Process& process) {
    const Instance instance = io::read_instance(files.instance);
    const std::string& schedule = files.schedules.front();
    const std::string page = page_of(options, schedule);
    check_target(page, files.instance);
    report::ViewWish wish;
    wish.most_sends = options.sends.value_or(wish.most_sends);
    const report::JudgedView judged = with_reproducer(instance, [&] {
        return report::judged_view(instance, schedule, wish, Stop(std::nullopt, process.interrupted));
    });
    io::Json facts{{"file", schedule},
                   {"instance", instance.name()},
                   {"verdict", judged.verdict.valid() ? "valid" : "invalid"},
                   {"makespan", judged.verdict.makespan.count()},
                   {"sends", judged.verdict.sends}};
    if (!judged.verdict.valid()) {
        if (options.json) process.streams.out << io::json_line(facts) << '\n';
        report_invalid(schedule, judged.verdict, process.streams);
        return ExitCode::Failed;
    }
    const io::Json& sends = judged.view.at("sends");
    facts["shown"] = sends.at("shown");
    facts["page"] = page;
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
        if (options.files.size() != 2) {
            throw InputError("expected a schedule and its instance, or a folder with results");
        }
        return view_schedule(instance_and_schedules(options.files), options, process);
    } catch (const LimitError&) {
        streams.err << "error: interrupted; no page was written\n";
        return ExitCode::Interrupted;
    }
}

}  // namespace tutti::cli

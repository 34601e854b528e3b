// Makes an HTML page: of one schedule, which is verified first, or of a run's results.

#include "app/view.hpp"

#include "app/tune.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

/// A page of a schedule or of results; or a tensor program's timeline.
struct ViewCall {
    app::ViewOptions page{};
    std::optional<app::TimelineOptions> timeline{};
};

app::TimelineOptions timeline_options(const Values& values) {
    app::TimelineOptions options;
    const std::vector<std::string> files = values.list("files");
    const auto topology = values.text("topology"), device = values.text("device");
    if (files.size() != 2 || !topology || !device) {
        values.refuse("expected a tensor program, its schedule, --topology FILE and --device FILE");
    }
    options.program = files[0];
    options.schedule = files[1];
    options.topology = *topology;
    options.device = *device;
    options.output = values.text("output").value_or("");
    if (options.output == "-") values.refuse("a timeline has a folder beside it; give --output a file");
    return options;
}

ViewCall view_options(const Values& values) {
    if (values.flag("device") || values.flag("topology")) return {{}, timeline_options(values)};
    /// Far more than a browser can show.
    constexpr std::uint64_t kMostSends = 10'000'000;
    app::ViewOptions options;
    options.files = values.list("files");
    options.output = values.text("output").value_or("");
    if (values.flag("sends")) options.sends = values.number<std::uint64_t>("sends", 1, 1, kMostSends);
    options.instance = values.text("instance");
    if (options.files.empty() || options.files.size() > (options.instance ? 1 : 2)) {
        values.refuse("expected a schedule and its instance, or a folder with results");
    }
    const auto inputs = std::ranges::count(options.files, "-") + (options.instance == "-" ? 1 : 0);
    if (inputs > 1) values.refuse("only one file can be standard input (-)");
    if (values.flag("json") && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return {std::move(options), std::nullopt};
}

ExitCode run_timeline(const app::TimelineOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::Timeline made = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::timeline(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        io::Json facts = app::json_of(made.answer);
        facts["page"] = made.page;
        facts["bytes"] = made.bytes;
        streams.out.print("{}\n", io::json_line(facts));
    } else {
        streams.out.print(
            "{}: {}, {}\n", made.page, text::size_text(made.bytes),
            text::count_text(made.answer.result.schedules.front().prediction.bars.size(), "bar"));
    }
    return ExitCode::Done;
}

ExitCode refuse(const app::View& view, const Talk& talk, const Streams& streams) {
    if (talk.json) streams.out.print("{}\n", io::json_line(view.facts));
    const Violation& first = view.verdict.violations.front();
    streams.err.print("error: {}: the schedule is invalid, so there is no page; V{} {}: {}\n", view.schedule,
                      number_of(first.rule), code_of(first.rule), first.message);
    return ExitCode::Failed;
}

ExitCode run_view(const ViewCall& call, const Talk& talk, const Process& process) {
    if (call.timeline) return run_timeline(*call.timeline, talk, process);
    const app::ViewOptions& options = call.page;
    const Streams& streams = process.streams;
    try {
        const app::View view = [&] {
            Heartbeat heartbeat(streams, talk);
            return app::view(options, heartbeat.watch(process));
        }();
        if (!view.verdict.valid()) return refuse(view, talk, streams);
        if (talk.json) {
            streams.out.print("{}\n", io::json_line(view.facts));
        } else if (view.page != "-") {
            streams.out.print("{}: {}, {}\n", view.page, text::size_text(view.bytes), view.words);
        } else if (!talk.quiet) {
            streams.err.print("standard output: {}, {}\n", text::size_text(view.bytes), view.words);
        }
        if (!view.note.empty() && !talk.quiet) streams.err.print("note: {}\n", view.note);
        const bool is_of_results = view.schedule.empty();
        return is_of_results && process.was_interrupted() ? ExitCode::Interrupted : ExitCode::Done;
    } catch (const LimitError&) {
        streams.err.print("error: interrupted; no page was written\n");
        return ExitCode::Interrupted;
    }
}

}  // namespace

Command view_command() {
    Command command;
    command.name = "view";
    command.summary = "make a page that shows a schedule, or the results of a batch";
    command.usage = "SCHEDULE [INSTANCE] | RESULTS_FOLDER | PROGRAM SCHEDULE [options]";
    command.about =
        "Makes one HTML file that any browser shows without a network: the topology with its\n"
        "links coloured by use, every send on a line of time, chunks as they move, and what proves\n"
        "the lower bound. The schedule (any form) is verified first; an invalid one is not shown,\n"
        "and the exit code is 1. Of a large schedule all sends of some chunks are shown, and the\n"
        "page says how many; sums and loads are always those of all sends. The instance of a\n"
        "schedule below a folder of results need not be named.\n\n"
        "Of a folder that tutti batch wrote it makes report.html anew: the table of results.jsonl,\n"
        "plots, and the schedules that are there.\n\n"
        "Of a tensor program and its schedule it makes the timeline: what a rank does when, on that\n"
        "network with that device, as 'tutti tune' predicts it. The pages of its collectives go\n"
        "into a folder beside it.\n";
    command.examples =
        "tutti view ring4.schedule.json ring4.json -o ring4.html\n"
        "tutti view big.tsch big.json --sends 20000\n"
        "tutti view results/latest\n"
        "tutti view adam.json adam.schedule.json --topology dgx1.json --device v100.json\n";
    OptionGroup page{"Page"};
    page.options.add_options()                                                                     //
        ("instance", text_value("FILE"), "the schedule's instance, if it is not among the files")  //
        ("output,o", text_value("FILE"),
         "where the page goes (default: the schedule's name with .html, in this folder; report.html in the "
         "folder of results); - is standard output")  //
        ("sends", text_value("N"),
         "show at most N sends (default 100000; of results 4000 each and 300000 in all)")  //
        ("topology", text_value("FILE"), "of a tensor program's timeline: the network")    //
        ("device", text_value("FILE"), "of a tensor program's timeline: what the devices can do");
    command.groups = std::vector<OptionGroup>{page, common_options()};
    command.positional = "files";
    command.parse = parsed_by(view_options, run_view);
    return command;
}

}  // namespace tutti::cli

// Makes an HTML page: of one schedule, which is verified first, or of a run's results.

#include "app/view.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::ViewOptions view_options(const Values& values) {
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
    return options;
}

ExitCode refuse(const app::View& view, const Talk& talk, const Streams& streams) {
    if (talk.json) streams.out.print("{}\n", io::json_line(view.facts));
    const Violation& first = view.verdict.violations.front();
    streams.err.print("error: {}: the schedule is invalid, so there is no page; V{} {}: {}\n", view.schedule,
                      number_of(first.rule), code_of(first.rule), first.message);
    return ExitCode::Failed;
}

ExitCode run_view(const app::ViewOptions& options, const Talk& talk, const Process& process) {
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
    command.usage = "SCHEDULE [INSTANCE] [-o page.html] | RESULTS_FOLDER [-o report.html]";
    command.about =
        "Makes one HTML file that any browser shows without a network: the topology with its\n"
        "links coloured by use, every send on a line of time, chunks as they move, and what proves\n"
        "the lower bound. The schedule (any form) is verified first; an invalid one is not shown,\n"
        "and the exit code is 1. Of a large schedule all sends of some chunks are shown, and the\n"
        "page says how many; sums and loads are always those of all sends. The instance of a\n"
        "schedule below a folder of results need not be named.\n\n"
        "Of a folder that tutti batch wrote it makes report.html anew: the table of results.jsonl,\n"
        "plots, and the schedules that are there.\n";
    command.examples =
        "tutti view ring4.schedule.json ring4.json -o ring4.html\n"
        "tutti view big.tsch big.json --sends 20000\n"
        "tutti view results/latest\n";
    OptionGroup page{"Page"};
    page.options.add_options()                                                                     //
        ("instance", text_value("FILE"), "the schedule's instance, if it is not among the files")  //
        ("output,o", text_value("FILE"),
         "where the page goes (default: the schedule's name with .html, in this folder; report.html in the "
         "folder of results); - is standard output")  //
        ("sends", text_value("N"),
         "show at most N sends (default 100000; of results 4000 each and 300000 in all)");
    command.groups = std::vector<OptionGroup>{page, common_options()};
    command.positional = "files";
    command.parse = parsed_by(view_options, run_view);
    return command;
}

}  // namespace tutti::cli

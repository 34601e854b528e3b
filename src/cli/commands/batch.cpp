#include "app/batch.hpp"

#include "cli/batch_tasks.hpp"
#include "cli/option_groups.hpp"
#include "cli/terminal.hpp"
#include "text/format.hpp"
#include "text/size.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace tutti::cli {
namespace {

/// --seeds, or --seed as other commands have it.
std::vector<std::uint64_t> seeds_of(const Values& values) {
    if (values.flag("seed") && values.flag("seeds"))
        values.refuse("--seed and --seeds say the same; expected one of them");
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    return comma_list<std::uint64_t>(values, values.flag("seed") ? "seed" : "seeds",
                                     fmt::format("whole numbers from 0 to {}, like 1,2,3", kMost),
                                     whole_number<std::uint64_t>(0, kMost));
}

std::vector<std::string> names_among(const Names& names, const Values& values, const char* option) {
    return comma_list<std::string>(
        values, option, fmt::format("{}", fmt::join(names, " or ")),
        [&](std::string_view text) -> std::optional<std::string> {
            if (std::ranges::find(names, text) == names.end()) return std::nullopt;
            return std::string(text);
        },
        names);
}

app::BatchOptions::Asked asked_of(const Values& values) {
    app::BatchOptions::Asked asked;
    asked.paths = values.list("paths");
    asked.set = values.text("set");
    asked.methods = names_among(method_names(), values, "method");
    asked.heuristics = names_among(heuristic_names(), values, "heuristic");
    asked.options = option_values(values);
    asked.chunks = chunk_counts(values);
    asked.bytes = byte_sizes(values, "bytes");
    asked.seeds = seeds_of(values);
    if (values.flag("threads")) asked.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    if (values.flag("jobs")) asked.jobs = values.number<unsigned>("jobs", 1, 1, kMostThreads);
    asked.time_limit = values.seconds("time-limit");
    if (asked.time_limit && *asked.time_limit > batch::kMostSeconds)
        values.refuse(
            fmt::format("option --time-limit: expected at most {:.0f} seconds", batch::kMostSeconds));
    asked.memory_limit = memory_limit(values);
    if (const auto text = values.text("shard")) {
        const auto shard = batch::shard_in(*text);
        if (!shard)
            values.refuse(
                fmt::format("option --shard: expected a part of the run, like 1/8, found '{}'", *text));
        asked.shard = {shard->part, shard->of};
    }
    return asked;
}

app::BatchOptions batch_options(const Values& values) {
    app::BatchOptions options;
    options.asked = asked_of(values);
    options.run = values.text("run");
    if (values.flag("results") && values.flag("output"))
        values.refuse("--results is the old name of --output; expected one of them");
    options.results = values.text(values.flag("results") ? "results" : "output").value_or("");
    options.resume = values.flag("resume") || values.flag("retry-failed");
    options.retry_failed = values.flag("retry-failed");
    options.update_solu = values.flag("update-solu");
    options.report = !values.flag("no-report");
    if (options.resume && options.results.empty())
        values.refuse("--resume goes on with the results of a folder; expected --output DIR too");
    if (values.flag("list-tasks") && options.results.empty())
        values.refuse("--list-tasks prepares a folder; expected --output DIR too");
    if (values.flag("list-tasks") && options.update_solu)
        values.refuse("--list-tasks runs nothing; --update-solu is for the run that collects the rows");
    const bool nothing = options.asked.paths.empty() && !options.asked.set && !options.run && !options.resume;
    if (nothing) {
        values.refuse("expected folders or files with instances, --set FILE.test or --run FILE.json");
    }
    return options;
}

batch::ProgressView view_of(const Talk& talk, const Streams& streams) {
    using Kind = batch::ProgressView::Kind;
    batch::ProgressView view;
    const char* terminal = std::getenv("TERM");
    const bool draws = streams.terminal_err && terminal != nullptr && std::string_view(terminal) != "dumb";
    view.kind = talk.quiet ? Kind::Silent : draws ? Kind::Bar : Kind::Lines;
    view.out = &streams.err;
    view.columns = terminal_columns;
    view.rows = terminal_rows;
    return view;
}

ExitCode code_of(const batch::Outcome& outcome) {
    if (!outcome.cut_short.empty()) return ExitCode::BadInput;
    if (!outcome.complete() && !outcome.collected) return ExitCode::Interrupted;
    const bool all_well = outcome.complete() && outcome.failures() == 0 && outcome.problems.empty();
    return all_well ? ExitCode::Done : ExitCode::Failed;
}

void say_what_next(const app::BatchRun& run, const text::Output& err) {
    err.print("results are in {}\n", run.results);
    if (!run.outcome.complete())
        err.print("to go on: tutti batch --resume -o {}\n", text::shell_word(run.results));
}

OptionGroup batch_search() {
    OptionGroup group{"Search (lists make a run of every combination)"};
    group.options.add_options()                                                                           //
        ("method", text_value("LIST"), (method_help() + "\nseveral, with commas: greedy,cpsat").c_str())  //
        ("heuristic", text_value("LIST"), (heuristic_help() + "\nseveral, with commas").c_str())          //
        ("option", text_value("NAME=VALUE"), option_help())                                               //
        ("chunks", text_value("LIST"), "in place of the collectives' own, like 1,2,4")                    //
        ("bytes", text_value("LIST"),
         "the size of a call as nccl-tests counts it, in place of chunk_bytes, like 1K,1M,1G; for networks "
         "with bandwidths")                                                                          //
        ("seeds", text_value("LIST"), "of the random choices (default 1), like 1,2,3; also --seed")  //
        ("seed", text_value("N"), "the same with one of them")                                       //
        ("threads", text_value("N"), "threads for one synthesis (default 1)")                        //
        ("time-limit", text_value("SECONDS"),
         "for each instance; one that goes on for longer (by a quarter, at least 2 s) is killed")  //
        ("memory-limit", text_value("SIZE"),
         "for each instance, like 4G; the search ends with the best schedule so far when it comes near "
         "the limit, and is killed beyond it");
    return group;
}

}  // namespace

ExitCode run_batch(const app::BatchOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    app::Watch watch{.interrupted = process.interrupted};
    if (!talk.quiet) watch.say = [&](const std::string& text) { streams.err.print("{}\n", text); };
    const app::BatchRun run = app::batch(options, view_of(talk, streams), watch);
    if (run.outcome.unplanned) {
        if (!talk.quiet) streams.err.print("interrupted before the tasks were known; nothing was written\n");
        return ExitCode::Interrupted;
    }
    const ExitCode code = code_of(run.outcome);
    if (talk.json) {
        io::Json json = app::json_of(run);
        json["exit_code"] = static_cast<int>(code);
        streams.out.print("{}\n", io::json_line(json));
    } else {
        streams.out << batch::table_text(run.outcome);
    }
    if (options.report) app::write_report(run, watch);
    for (const std::string& problem : run.outcome.problems) streams.err.print("warning: {}\n", problem);
    if (!talk.quiet) say_what_next(run, streams.err);
    if (!run.outcome.cut_short.empty()) streams.err.print("error: {}\n", run.outcome.cut_short);
    return code;
}

Command batch_command() {
    Command command;
    command.name = "batch";
    command.summary = "synthesize and verify many instances, print one table";
    command.usage = "PATH... [-o DIR] [options]";
    command.about =
        "Solves every instance, each in a process of its own, prints one table and writes below\n"
        "the results folder: results.jsonl (a line per instance, on the disk as soon as it is\n"
        "done), schedules/, table.txt and run.json. A PATH is an instance, a folder (searched for\n"
        "*.json, but not *.schedule.json nor folders called schema), a pattern in quotes, a .test\n"
        "file that lists instances, or a .solu file that names them.\n"
        "An instance that fails, crashes or exceeds its limits is a row with its error, and the\n"
        "exit code is then 1. So is a result that contradicts a value in FOLDER/FOLDER.solu or\n"
        "FOLDER.solu. Ctrl-C ends the run after what is done so far is written (exit code 130);\n"
        "--resume goes on with it, also after a crash. docs/batch.md has more.\n"
        "Times are in ticks, which are 1 ps for instances in physical units. Without a time\n"
        "limit, auto looks for a proof for a minute where greedy does not meet the bound.\n";
    command.examples =
        "tutti batch instances --time-limit 2\n"
        "tutti batch instances/mesh 'more/*/ring*.json' -o results/mine --time-limit 60\n"
        "tutti batch --resume -o results/mine\n"
        "tutti batch dgx.json --bytes 1K,1M,1G --method greedy,cpsat -o results/sweep\n"
        "tutti batch instances -o results/mine --list-tasks | parallel\n"
        "tutti batch instances --shard $SLURM_ARRAY_TASK_ID/8 -o results/all-$SLURM_ARRAY_TASK_ID\n";
    OptionGroup what{"Selection and results"};
    what.options.add_options()  //
        ("set", text_value("FILE.test"),
         "only the instances that this file lists, a path per line, relative to its folder or the one "
         "above")                                                                                           //
        ("run", text_value("FILE.json"), "a run as a file (docs/batch.md); the command line overrules it")  //
        ("output,o", text_value("DIR"),
         "where results go (default results/<time>); nothing there is deleted, but an earlier "
         "results.jsonl becomes results.jsonl.old")                 //
        ("results", text_value("DIR"), "the old name of --output")  //
        ("resume", flag(),
         "go on with the run in DIR: what has a line there is not done again, unless its file has changed; "
         "without PATHs all is as in that run")                         //
        ("retry-failed", flag(), "--resume, but do again what failed")  //
        ("shard", text_value("I/N"),
         "only every Nth task, beginning with the Ith: one part of a run of N parts")                     //
        ("jobs", text_value("N"), "cores to use (default all); a task of several threads takes as many")  //
        ("list-tasks", flag(),
         "run nothing: prepare DIR and print a command for each task, for GNU parallel, Slurm and the like; "
         "--resume then collects what the commands left")                               //
        ("task", text_value("KEY"), "run one of these tasks and leave its row in DIR")  //
        ("update-solu", flag(), "write proven and best values into the .solu files")    //
        ("no-report", flag(), "do not make the page report.html");
    command.groups = std::vector<OptionGroup>{what, batch_search(), common_options()};
    command.positional = "paths";
    command.parse = [](const Values& values) {
        if (values.flag("task")) return parsed_by(task_options, run_task)(values);
        return parsed_by(batch_options, values.flag("list-tasks") ? list_tasks : run_batch)(values);
    };
    return command;
}

}  // namespace tutti::cli

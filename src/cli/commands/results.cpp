// Results of batches: shown, compared, merged.

#include "app/results.hpp"

#include "cli/batch_tasks.hpp"
#include "cli/option_groups.hpp"
#include "cli/terminal.hpp"
#include "text/format.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <array>

namespace tutti::cli {
namespace {

enum class ResultsAction { Show, Compare, Merge, Collect };

struct ResultsOptions {
    ResultsAction action = ResultsAction::Show;
    std::vector<std::string> runs{};  ///< folders, results.jsonl files or "-"
    batch::Selection selection{};     ///< show
    bool csv = false;                 ///< show
    bool collectives = false;         ///< show: a row for each of them
    batch::Comparing comparing{};     ///< compare
    batch::Merging merging{};         ///< merge
    bool report = true;               ///< collect: make report.html
    std::string output{};             ///< show: where the CSV goes; empty or "-": standard output
};

/// A number of at least 0, like 0.01.
std::optional<double> fraction(const Values& values, const char* name) {
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    double result = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), result);
    if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(result) || result < 0) {
        values.refuse(fmt::format("option --{}: expected a fraction like 0.01, found '{}'", name, *text));
    }
    return result;
}

/// Rejects options that have no effect for the action.
void check_results_action(const Values& values, ResultsAction action) {
    struct Owned {
        const char* option;
        ResultsAction action;
    };
    using enum ResultsAction;
    constexpr std::array kOwned{
        Owned{"sort", Show},         Owned{"reverse", Show},      Owned{"filter", Show},
        Owned{"failed", Show},       Owned{"csv", Show},          Owned{"collectives", Show},
        Owned{"by", Compare},        Owned{"tolerance", Compare}, Owned{"time-tolerance", Compare},
        Owned{"prefer-last", Merge}, Owned{"force", Merge},       Owned{"no-report", Collect}};
    constexpr std::array<std::string_view, 4> kNames{"show", "compare", "merge", "collect"};
    for (const Owned& owned : kOwned) {
        if (values.flag(owned.option) && owned.action != action) {
            values.refuse(fmt::format("--{} is for tutti results {}", owned.option,
                                      kNames[static_cast<std::size_t>(owned.action)]));
        }
    }
}

batch::Selection selection_of(const Values& values) {
    batch::Selection selection;
    selection.reverse = values.flag("reverse");
    selection.filter = values.text("filter").value_or("");
    selection.failed = values.flag("failed");
    if (auto sort = values.text("sort")) {
        if (sort->starts_with('-')) {
            selection.reverse = !selection.reverse;
            sort->erase(0, 1);
        }
        const Names names{"label", "gap", "seconds", "makespan", "memory", "busbw"};
        const auto found = std::ranges::find(names, *sort);
        if (found == names.end()) {
            values.refuse(fmt::format("option --sort: expected {}, found '{}'{}", fmt::join(names, " or "),
                                      *sort, suggestion(*sort, names)));
        }
        selection.sort = static_cast<batch::SortBy>(found - names.begin());
    }
    return selection;
}

ResultsOptions results_options(const Values& values) {
    ResultsOptions options;
    options.runs = values.list("runs");
    const Names actions{"show", "compare", "merge", "collect"};
    if (options.runs.empty()) values.refuse("expected show, compare, merge or collect, and then results");
    const auto action = std::ranges::find(actions, options.runs.front());
    if (action == actions.end()) {
        values.refuse(fmt::format("expected show, compare, merge or collect, found '{}'{}",
                                  options.runs.front(), suggestion(options.runs.front(), actions)));
    }
    options.action = static_cast<ResultsAction>(action - actions.begin());
    options.runs.erase(options.runs.begin());
    check_results_action(values, options.action);
    options.selection = selection_of(values);
    options.csv = values.flag("csv");
    options.collectives = values.flag("collectives");
    options.comparing.by_label = values.choice("by", {"key", "label"}) == 1;
    options.comparing.tolerance = fraction(values, "tolerance").value_or(0);
    options.comparing.time_tolerance = fraction(values, "time-tolerance");
    options.merging.prefer_last = values.flag("prefer-last");
    options.merging.force = values.flag("force");
    const std::string output = values.text("output").value_or("");
    (options.action == ResultsAction::Merge ? options.merging.output : options.output) = output;
    if (options.runs.empty()) values.refuse("expected a results folder, or a results.jsonl");
    if (std::ranges::count(options.runs, "-") > 1) values.refuse("only one file can be standard input (-)");
    if (options.action == ResultsAction::Compare && options.runs.size() != 2)
        values.refuse(fmt::format("expected two runs to compare, found {}", options.runs.size()));
    if (options.action == ResultsAction::Merge && output.empty())
        values.refuse("expected --output NAME, the folder of the merged results");
    if (options.action != ResultsAction::Merge && !output.empty() && !options.csv)
        values.refuse("--output is for --csv and for tutti results merge");
    options.report = !values.flag("no-report");
    if (options.action == ResultsAction::Collect && (options.runs.size() != 1 || options.runs[0] == "-"))
        values.refuse("expected one folder whose rows are to be collected");
    if (options.csv && values.flag("json")) values.refuse("expected one of --csv and --json");
    if (options.collectives && (options.csv || values.flag("json")))
        values.refuse("--collectives is a table; --csv and --json have 'collectives' in every line");
    return options;
}

void print(const std::vector<text::TonedLine>& lines, const Streams& streams) {
    for (const text::TonedLine& line : lines)
        streams.out.print("{}\n", toned(line.tone, line.text, streams.colour_out));
}

void print_notes(const std::vector<std::string>& notes, const Streams& streams) {
    constexpr std::size_t kMost = 20;
    for (std::size_t i = 0; i < std::min(notes.size(), kMost); ++i) streams.err.print("note: {}\n", notes[i]);
    if (notes.size() > kMost) streams.err.print("note: and {} more\n", notes.size() - kMost);
}

ExitCode show(const ResultsOptions& options, const Talk& talk, const Streams& streams) {
    const auto runs = app::read_runs(options.runs);
    const auto rows = batch::selected(runs, options.selection);
    const bool names_runs = runs.size() > 1;
    if (options.csv) {
        const std::string csv = batch::results_csv(rows, names_runs);
        if (options.output.empty() || options.output == "-") {
            streams.out << text::SafeText::lines(csv);
        } else {
            app::write_csv(options.output, csv);
        }
    } else if (talk.json) {
        io::Json json = batch::results_json(rows, names_runs);
        json["exit_code"] = static_cast<int>(ExitCode::Done);
        streams.out.print("{}\n", io::json_line(json));
    } else {
        if (options.collectives) {
            print(batch::collectives_table(rows), streams);
            return ExitCode::Done;
        }
        batch::ResultsTableStyle style{.names_runs = names_runs};
        // Without a terminal names are not shortened, so that they can be searched for.
        if (streams.colour_out) style.columns = terminal_columns();
        print(batch::results_table(rows, style), streams);
    }
    return ExitCode::Done;
}

ExitCode compare(const ResultsOptions& options, const Talk& talk, const Streams& streams) {
    const auto runs = app::read_runs(options.runs);
    const batch::Comparison comparison = batch::compare(runs[0], runs[1], options.comparing);
    const ExitCode code = comparison.regressions() > 0 ? ExitCode::Failed : ExitCode::Done;
    if (talk.json) {
        io::Json json = batch::comparison_json(comparison);
        json["exit_code"] = static_cast<int>(code);
        streams.out.print("{}\n", io::json_line(json));
    } else {
        print(batch::comparison_table(comparison), streams);
    }
    return code;
}

ExitCode merge(const ResultsOptions& options, const Talk& talk, const Streams& streams) {
    const auto runs = app::read_runs(options.runs);
    const batch::Merged merged = batch::merge(runs, options.merging);
    if (!talk.quiet) print_notes(merged.notes, streams);
    if (talk.json) {
        io::Json json = app::json_of(merged, options.merging.output, runs.size());
        json["exit_code"] = static_cast<int>(ExitCode::Done);
        streams.out.print("{}\n", io::json_line(json));
    } else {
        streams.out.print(
            "{}: {} and {} of {}\n", options.merging.output, text::count_text(merged.results, "result"),
            text::count_text(merged.schedules, "schedule"), text::count_text(runs.size(), "run"));
    }
    return ExitCode::Done;
}

/// The rows that single tasks left, gathered; nothing is run.
ExitCode collect(const ResultsOptions& options, const Talk& talk, const Process& process) {
    app::BatchOptions batch;
    batch.results = options.runs.front();
    batch.resume = batch.collect = true;
    batch.report = options.report;
    return run_batch(batch, talk, process);
}

ExitCode run_results(const ResultsOptions& options, const Talk& talk, const Process& process) {
    switch (options.action) {
        case ResultsAction::Show:
            return show(options, talk, process.streams);
        case ResultsAction::Compare:
            return compare(options, talk, process.streams);
        case ResultsAction::Merge:
            return merge(options, talk, process.streams);
        case ResultsAction::Collect:
            return collect(options, talk, process);
    }
    return ExitCode::Done;
}

OptionGroup results_show() {
    OptionGroup group{"Show"};
    group.options.add_options()  //
        ("sort", text_value("COLUMN"),
         "label (default), gap, seconds, makespan, memory or busbw; -gap is the largest first")  //
        ("reverse", flag(), "the other way round")                                               //
        ("filter", text_value("TEXT"),
         "only rows with this text in their key, label, method or collective")  //
        ("failed", flag(), "only failures")                                     //
        ("collectives", flag(),
         "a row for each collective: when it is finished, its size, its bandwidths")  //
        ("csv", flag(), "write CSV, a column for each key of results.jsonl");
    return group;
}

}  // namespace

Command results_command() {
    Command command;
    command.name = "results";
    command.summary = "show what batches found, compare two, merge several";
    command.usage = "show|compare|merge|collect RUN... [options]";
    command.about =
        "A RUN is a results folder of tutti batch, or its results.jsonl.\n\n"
        "show prints a table: makespan, lower bound and gap; algorithm and bus bandwidth in GB/s\n"
        "as nccl-tests has them, where they are defined; seconds and peak memory; and the\n"
        "failures with their reasons. Every schedule in it was verified, unless it says FAILED.\n\n"
        "compare A B prints what is different in B: better and worse makespans, results that are\n"
        "lost, new, proven optimal, or no more. The exit code is 1 if something is lost, worse\n"
        "than the tolerance allows, or no more proven.\n\n"
        "merge A B ... -o NAME makes one results folder of several, such as the shards of a\n"
        "batch. It says what is missing.\n\n"
        "collect DIR takes the rows that tasks of tutti batch --list-tasks have left into\n"
        "results.jsonl, and writes table and report. It runs nothing; tutti batch --resume does\n"
        "the same and then what is missing. docs/results.md tells the rest.\n";
    command.examples =
        "tutti results show results/run1\n"
        "tutti results show results/run1 --sort -gap --filter torus\n"
        "tutti results show results/* --csv -o all.csv\n"
        "tutti results compare results/old results/new --tolerance 0.01\n"
        "tutti results merge results/shard-* -o results/all\n"
        "tutti results collect results/mine\n";
    OptionGroup compare{"Compare"};
    compare.options.add_options()  //
        ("by", text_value("key|label"),
         "what pairs: the task (default), or the instance whatever the method")                             //
        ("tolerance", text_value("FRACTION"), "makespans that differ by no more are the same (default 0)")  //
        ("time-tolerance", text_value("FRACTION"),
         "count it as a regression, too, if the same result took longer than this allows (default: never)");
    OptionGroup merge{"Merge"};
    merge.options.add_options()  //
        ("prefer-last", flag(),
         "if two runs solved different files under one key, take the result of the last run")  //
        ("force", flag(),
         "merge into a folder that holds something; only what has the same name is replaced");
    OptionGroup collect{"Collect"};
    collect.options.add_options()("no-report", flag(), "do not make the page report.html");
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text_value("NAME"),
         "merge: the new folder; show --csv: the file (default: standard output)");
    command.groups =
        std::vector<OptionGroup>{results_show(), compare, merge, collect, output, common_options()};
    command.positional = "runs";
    command.parse = parsed_by(results_options, run_results);
    return command;
}

}  // namespace tutti::cli

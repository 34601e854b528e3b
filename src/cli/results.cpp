// What batches left behind: shown, compared, merged.

#include "batch/compare.hpp"
#include "batch/merge.hpp"
#include "batch/results_csv.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"
#include "io/atomic_file.hpp"
#include "io/json_text.hpp"
#include "text/format.hpp"

#include <algorithm>

namespace tutti::cli {
namespace {

std::vector<batch::Run> runs_of(const ResultsOptions& options) {
    std::vector<batch::Run> runs;
    for (const std::string& path : options.runs) runs.push_back(batch::read_run(path));
    return runs;
}

void print(const std::vector<text::TonedLine>& lines, const Streams& streams) {
    for (const text::TonedLine& line : lines) {
        using text::LineTone;
        const Tone tone = line.tone == text::LineTone::Head   ? Tone::Strong
                          : line.tone == text::LineTone::Good ? Tone::Good
                                                              : Tone::Bad;
        streams.out << toned(tone, line.text, streams.colour_out && line.tone != text::LineTone::Plain)
                    << '\n';
    }
}

void print_notes(const std::vector<std::string>& notes, const Streams& streams) {
    constexpr std::size_t kMost = 20;
    for (std::size_t i = 0; i < std::min(notes.size(), kMost); ++i)
        streams.err << "note: " << notes[i] << '\n';
    if (notes.size() > kMost) streams.err << fmt::format("note: and {} more\n", notes.size() - kMost);
}

void write_csv(const std::string& csv, const ResultsOptions& options, const Streams& streams) {
    if (options.output.empty() || options.output == "-") {
        streams.out << csv;
        return;
    }
    io::AtomicFile file(options.output);
    file.write(csv);
    file.commit();
}

ExitCode show(const ResultsOptions& options, const Process& process) {
    const Streams& streams = process.streams;
    const auto runs = runs_of(options);
    const auto rows = batch::selected(runs, options.selection);
    const bool names_runs = runs.size() > 1;
    if (options.csv) {
        write_csv(batch::results_csv(rows, names_runs), options, streams);
    } else if (options.json) {
        io::Json json = batch::results_json(rows, names_runs);
        json["exit_code"] = static_cast<int>(ExitCode::Done);
        streams.out << io::json_line(json) << '\n';
    } else {
        batch::ResultsTableStyle style{.names_runs = names_runs};
        // Where nobody watches, names stay whole: they are searched for.
        if (streams.colour_out) style.columns = terminal_columns();
        print(batch::results_table(rows, style), streams);
    }
    return ExitCode::Done;
}

ExitCode compare(const ResultsOptions& options, const Process& process) {
    const Streams& streams = process.streams;
    const auto runs = runs_of(options);
    const batch::Comparison comparison = batch::compare(runs[0], runs[1], options.comparing);
    const ExitCode code = comparison.regressions() > 0 ? ExitCode::Failed : ExitCode::Done;
    if (options.json) {
        io::Json json = batch::comparison_json(comparison);
        json["exit_code"] = static_cast<int>(code);
        streams.out << io::json_line(json) << '\n';
    } else {
        print(batch::comparison_table(comparison), streams);
    }
    return code;
}

ExitCode merge(const ResultsOptions& options, const Process& process) {
    const Streams& streams = process.streams;
    const auto runs = runs_of(options);
    const batch::Merged merged = batch::merge(runs, options.merging);
    if (!options.quiet) print_notes(merged.notes, streams);
    if (options.json) {
        const io::Json json{{"results_folder", options.merging.output},
                            {"runs", runs.size()},
                            {"results", merged.results},
                            {"schedules", merged.schedules},
                            {"twice", merged.twice},
                            {"missing_shards", merged.missing_shards},
                            {"notes", merged.notes},
                            {"exit_code", static_cast<int>(ExitCode::Done)}};
        streams.out << io::json_line(json) << '\n';
    } else {
        streams.out << fmt::format(
            "{}: {} and {} of {}\n", options.merging.output, text::count_text(merged.results, "result"),
            text::count_text(merged.schedules, "schedule"), text::count_text(runs.size(), "run"));
    }
    return ExitCode::Done;
}

}  // namespace

ExitCode run_results(const ResultsOptions& options, const Process& process) {
    switch (options.action) {
        case ResultsAction::Show:
            return show(options, process);
        case ResultsAction::Compare:
            return compare(options, process);
        case ResultsAction::Merge:
            return merge(options, process);
    }
    return ExitCode::Done;
}

}  // namespace tutti::cli

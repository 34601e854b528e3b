#include "cli/run_table.hpp"

#include "cli/terminal.hpp"
#include "text/escape.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::cli {
namespace {

/// Four digits, as wide as the column.
std::string number_cell(double value) {
    if (value <= 0) return "-";
    return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}
std::string number_cell(const std::optional<double>& value) { return value ? number_cell(*value) : "-"; }

constexpr std::size_t kModeWidth = 36;

/// Time, bandwidths and wrong elements of a mode; blanks where the plan has no such mode.
std::string mode_cells(const app::RunOutcome* outcome) {
    if (outcome == nullptr) return fmt::format("{:>10}{:>9}{:>9}{:>8}", "-", "-", "-", "-");
    if (!outcome->skipped.empty()) return fmt::format("{:>{}}", "skipped", kModeWidth);
    const std::string wrong = outcome->compared == 0 ? "N/A" : fmt::format("{}", outcome->wrong);
    return fmt::format("{:>10}{:>9}{:>9}{:>8}", number_cell(outcome->median_us),
                       number_cell(outcome->algbw_GBps), number_cell(outcome->busbw_GBps), wrong);
}

/// Each line behind a '#'.
text::SafeText as_remarks(const text::SafeText& lines) {
    std::string remarks;
    for (std::size_t begin = 0; begin < lines.str().size();) {
        const std::size_t end = lines.str().find('\n', begin) + 1;
        remarks += "# " + lines.str().substr(begin, end - begin);
        begin = end;
    }
    return text::SafeText::lines(remarks);
}

std::string size_cell(std::int64_t bytes) { return text::call_size_text(static_cast<std::uint64_t>(bytes)); }

}  // namespace

void RunTable::begin(const app::RunRow& row) {
    if (row.file == begun_) return;
    if (!begun_.empty()) streams_->out.print("#\n");
    begun_ = row.file;
    const auto& out = streams_->out;
    out.print("# {}: {} of {} ranks{}\n", row.file, row.collective, row.ranks,
              options_->emulate ? fmt::format(", links emulated: {}", *options_->emulate) : "");
    out.print("#{:>49}{:>24}{:>36}\n", "", "out-of-place", "in-place");
    out.print("#{:>12}{:>14}{:>7}{:>7}{:>6}  {:>10}{:>9}{:>9}{:>8}{:>10}{:>9}{:>9}{:>8}\n", "size", "count",
              "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw",
              "#wrong");
    out.print("#{:>12}{:>14}{:>7}{:>7}{:>6}  {:>10}{:>9}{:>9}{:>8}{:>10}{:>9}{:>9}\n", "(B)", "(elements)",
              "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)");
}

void RunTable::add(std::span<const app::RunRow> modes) {
    begin(modes.front());
    const app::RunRow& row = modes.front();
    const app::RunOutcome *in = nullptr, *out = nullptr;
    for (const app::RunRow& mode : modes) (mode.in_place ? in : out) = &mode.outcome;
    const std::string root = row.root ? fmt::format("{}", row.root->value()) : "-1";
    streams_->out.print("{:>13} {:>13}{:>7}{:>7}{:>6}  {}{}\n", row.bytes, row.count, run::name_of(row.type),
                        app::name_of(row.op), root, mode_cells(out), mode_cells(in));
    for (const app::RunRow& mode : modes) {
        const app::RunOutcome& outcome = mode.outcome;
        const std::string_view name = mode.in_place ? "in place" : "out of place";
        if (!outcome.skipped.empty())
            streams_->out.print("# {}, {}: skipped, as it {}\n", size_cell(row.bytes), name, outcome.skipped);
        if (!outcome.difference) continue;
        streams_->out.print("# {}, rank {}, element {}: expected {}, found {}\n", name,
                            outcome.difference->rank.value(), outcome.difference->element,
                            outcome.difference->expected, outcome.difference->found);
    }
    streams_->out.flush();
}

void RunTable::add(const app::TogetherRow& row) {
    if (!together_) {
        streams_->out.print(
            "#\n# all {} plans in one call\n#{:>12}{:>14}{:>7}{:>7}{:>6}  {:>10}{:>9}{:>9}{:>8}\n", row.plans,
            "size", "plans", "type", "redop", "", "time", "algbw", "", "#wrong");
    }
    together_ = true;
    streams_->out.print("{:>13} {:>13}{:>7}{:>7}{:>6}  {}\n", row.bytes, row.plans, run::name_of(row.type),
                        app::name_of(row.op), "", mode_cells(&row.outcome));
    if (!row.outcome.skipped.empty()) streams_->out.print("# skipped, as it {}\n", row.outcome.skipped);
    streams_->out.flush();
}

void RunTable::add(const app::RefusedPlan& plan) {
    streams_->err.print("error: {}: {}, not run: {}\n", plan.file, plan.verdict, plan.reason);
}

void RunTable::print_comparison(const app::RunComparison& comparison) const {
    streams_->out.print("#\n# {} of {} ranks, {}{}: the better time of each plan's modes, in us\n",
                        comparison.collective, comparison.ranks, run::name_of(comparison.type),
                        comparison.op ? fmt::format(" {}", run::name_of(*comparison.op)) : "");
    std::vector<text::Table::Column> columns{{"size", text::Align::Right}};
    // Of many only the fastest is shown, with its time.
    constexpr std::size_t kMostColumns = 6;
    const bool all = comparison.files.size() <= kMostColumns;
    if (!all) columns.push_back({"time", text::Align::Right});
    for (const std::string& file : comparison.files) {
        if (all) columns.push_back({file, text::Align::Right});
    }
    columns.push_back({"fastest"});
    text::Table table(columns);
    for (std::size_t at = 0; at < comparison.sizes.size(); ++at) {
        std::vector<std::string> cells{size_cell(comparison.sizes[at])};
        if (!all) cells.push_back(number_cell(comparison.best_us[at][comparison.fastest[at]]));
        for (const double time : comparison.best_us[at]) {
            if (all) cells.push_back(number_cell(time));
        }
        cells.push_back(comparison.files[comparison.fastest[at]]);
        table.add(cells);
    }
    streams_->out << as_remarks(table.text());
    for (std::size_t at = 1; at < comparison.sizes.size(); ++at) {
        const std::size_t before = comparison.fastest[at - 1], after = comparison.fastest[at];
        if (before == after) continue;
        streams_->out.print("# from {} on {} is faster than {}\n", size_cell(comparison.sizes[at]),
                            comparison.files[after], comparison.files[before]);
    }
}

void RunTable::end(const app::RunResult& result) {
    if (result.rows.empty()) return;
    for (const app::RunComparison& comparison : result.comparisons) print_comparison(comparison);
    std::uint64_t wrong = 0, compared = 0, rated = 0;
    double busbw = 0;
    const auto count = [&](const app::RunOutcome& outcome) {
        wrong += outcome.wrong;
        compared += outcome.compared;
    };
    for (const app::RunRow& row : result.rows) {
        count(row.outcome);
        if (!row.outcome.busbw_GBps) continue;
        busbw += *row.outcome.busbw_GBps;
        ++rated;
    }
    for (const app::TogetherRow& row : result.together) count(row.outcome);
    streams_->out.print("#\n# wrong elements    : {} of {}\n", wrong, compared);
    if (rated > 0)
        streams_->out.print("# average busbw     : {} GB/s\n",
                            number_cell(busbw / static_cast<double>(rated)));
}

text::SafeText run_csv(const app::RunResult& result) {
    text::SafeText lines = text::safe_text(
        "file,collective,ranks,mode,bytes,count,type,operator,root,rounds,median_us,p10_us,p90_us,"
        "algbw_GBps,busbw_GBps,compared,wrong,skipped\n");
    const auto outcome_cells = [](const app::RunOutcome& outcome) {
        const auto cell = [](const std::optional<double>& value) {
            return value ? fmt::format("{:.6g}", *value) : std::string();
        };
        if (!outcome.skipped.empty()) return ",,,,,,,," + text::csv_cell(outcome.skipped);
        return fmt::format("{},{:.6g},{:.6g},{:.6g},{},{},{},{},", outcome.rounds, outcome.median_us,
                           outcome.low_us, outcome.high_us, cell(outcome.algbw_GBps),
                           cell(outcome.busbw_GBps), outcome.compared, outcome.wrong);
    };
    for (const app::RunRow& row : result.rows) {
        lines += text::safe_text(
            "{},{},{},{},{},{},{},{},{},{}\n", text::csv_cell(row.file), text::csv_cell(row.collective),
            row.ranks, row.in_place ? "in-place" : "out-of-place", row.bytes, row.count,
            run::name_of(row.type), app::name_of(row.op),
            row.root ? fmt::format("{}", row.root->value()) : std::string(), outcome_cells(row.outcome));
    }
    for (const app::TogetherRow& row : result.together) {
        lines += text::safe_text("together,,,,{},,{},{},,{}\n", row.bytes, run::name_of(row.type),
                                 app::name_of(row.op), outcome_cells(row.outcome));
    }
    return lines;
}

}  // namespace tutti::cli

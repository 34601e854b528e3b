#include "batch/results_table.hpp"

#include "text/collective_table.hpp"
#include "text/escape.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tutti::batch {
namespace {

using io::ResultLine;

std::optional<double> sort_value(const ResultLine& line, SortBy by) {
    switch (by) {
        case SortBy::Label:
            return std::nullopt;
        case SortBy::Gap:
            return line.gap();
        case SortBy::Seconds:
            return line.seconds;
        case SortBy::Makespan:
            return line.makespan ? std::optional(static_cast<double>(line.makespan->count())) : std::nullopt;
        case SortBy::Memory:
            return line.peak_memory_bytes ? std::optional(static_cast<double>(*line.peak_memory_bytes))
                                          : std::nullopt;
        case SortBy::Busbw:
            return line.busbw_GBps;
    }
    return std::nullopt;
}

bool label_before(const ResultLine& a, const ResultLine& b) {
    if (a.label != b.label) return text::natural_before(a.label, b.label);
    return text::natural_before(a.key, b.key);
}

bool shown_before(const ResultLine& a, const ResultLine& b, const Selection& selection) {
    const auto x = sort_value(a, selection.sort), y = sort_value(b, selection.sort);
    if (x.has_value() != y.has_value()) return x.has_value();
    if (x && *x != *y) return selection.reverse ? *x > *y : *x < *y;
    return selection.reverse && selection.sort == SortBy::Label ? label_before(b, a) : label_before(a, b);
}

bool is_selected(const ResultLine& line, const Selection& selection) {
    if (selection.failed && !has_failed(line)) return false;
    const auto has = [&](const std::string& text) { return text.find(selection.filter) != text.npos; };
    // A key leaves out what is as usual, but a table may tell it.
    const bool is_told =
        selection.filter == "method=" + line.asked || selection.filter == fmt::format("seed={}", line.seed);
    return is_told || has(line.key) || has(line.label) || has(line.method) || has(line.heuristic) ||
           has(line.asked) || has(line.collective);
}

std::vector<const ResultLine*> shown_lines(const std::vector<ShownRow>& rows) {
    std::vector<const ResultLine*> lines;
    for (const ShownRow& row : rows) lines.push_back(row.line);
    return lines;
}

std::string time_cell(const ResultLine& line, const std::optional<Ticks>& ticks) {
    return ticks ? text::time_text(*ticks, units_of(line)) : "-";
}

std::string status_cell(const ResultLine& line) {
    return has_failed(line) ? "FAILED" : std::string(name_of(line.status));
}

std::string one_line(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return text;
}

/// "a-long-na…me": the middle is left out.
std::string shortened(const std::string& text, std::size_t width) {
    if (text::width_of(text) <= width || width < 3) return text;
    const auto is_start = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; };
    std::vector<std::size_t> starts;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_start(text[i])) starts.push_back(i);
    }
    const std::size_t tail = (width - 1) / 2, head = width - 1 - tail;
    return text.substr(0, starts[head]) + "…" + text.substr(starts[starts.size() - tail]);
}

struct Column {
    text::Table::Column head;
    std::vector<std::string> cells{};
    bool required = true;  ///< stays where every cell is "-"

    [[nodiscard]] std::size_t width() const {
        std::size_t width = text::width_of(head.head);
        for (const std::string& cell : cells) width = std::max(width, text::width_of(cell));
        return width;
    }
};

std::vector<Column> columns_of(const std::vector<ShownRow>& rows, bool names_runs) {
    std::vector<Column> columns{{{"instance"}},
                                {{"run"}},
                                {{"method"}},
                                {{"makespan", text::Align::Right}},
                                {{"bound", text::Align::Right}},
                                {{"gap", text::Align::Right}},
                                {{"algbw", text::Align::Right}, {}, false},
                                {{"busbw", text::Align::Right}, {}, false},
                                {{"seconds", text::Align::Right}},
                                {{"memory", text::Align::Right}, {}, false},
                                {{"status"}}};
    const auto names = names_of(shown_lines(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const ResultLine& line = *rows[i].line;
        const std::vector<std::string> cells{
            one_line(names[i]),
            *rows[i].run,
            line.method.empty() ? "-" : line.method,
            time_cell(line, line.makespan),
            time_cell(line, line.lower_bound),
            text::gap_text(line.gap()),
            text::bandwidth_cell(line.algbw_GBps),
            text::bandwidth_cell(line.busbw_GBps),
            text::seconds_text(line.seconds),
            line.peak_memory_bytes ? text::memory_text(*line.peak_memory_bytes) : "-",
            status_cell(line)};
        // Escaped here already, as widths are measured before the table is made.
        for (std::size_t c = 0; c < cells.size(); ++c) columns[c].cells.push_back(text::printable(cells[c]));
    }
    if (!names_runs) columns.erase(columns.begin() + 1);
    std::erase_if(columns, [](const Column& column) {
        return !column.required &&
               std::ranges::all_of(column.cells, [](const auto& cell) { return cell == "-"; });
    });
    return columns;
}

void fit_labels(std::vector<Column>& columns, std::size_t width) {
    constexpr std::size_t kBetween = 2, kLeast = 16;
    std::size_t others = 0;
    for (const Column& column : columns) others += column.width() + kBetween;
    others -= columns.front().width() + kBetween;
    const std::size_t left = std::max(kLeast, width - std::min(width, others));
    for (std::string& cell : columns.front().cells) cell = shortened(cell, left);
}

text::SafeText text_of(const std::vector<Column>& columns, std::size_t rows) {
    std::vector<text::Table::Column> heads;
    for (const Column& column : columns) heads.push_back(column.head);
    text::Table table(std::move(heads));
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<std::string> cells;
        for (const Column& column : columns) cells.push_back(column.cells[row]);
        table.add(std::move(cells));
    }
    return table.text();
}

struct ShownTotals {
    std::size_t verified = 0, optimal = 0, failed = 0;
    /// Over all that have one; the geometric mean is that of 1 + gap, less 1.
    std::optional<double> mean_gap{}, geomean_gap{};
    double seconds = 0;
};

ShownTotals totals_of(const std::vector<ShownRow>& rows) {
    ShownTotals totals;
    double sum = 0, logarithms = 0;
    std::size_t gaps = 0;
    for (const ShownRow& row : rows) {
        const ResultLine& line = *row.line;
        totals.seconds += line.seconds;
        if (has_failed(line)) {
            ++totals.failed;
            continue;
        }
        totals.verified += line.verified ? 1U : 0U;
        totals.optimal += line.status == Status::Optimal ? 1U : 0U;
        const auto gap = line.gap();
        if (!gap || *gap <= -1) continue;
        sum += *gap;
        logarithms += std::log1p(*gap);
        ++gaps;
    }
    if (gaps > 0) {
        totals.mean_gap = sum / static_cast<double>(gaps);
        totals.geomean_gap = std::expm1(logarithms / static_cast<double>(gaps));
    }
    return totals;
}

std::string summary_line(const std::vector<ShownRow>& rows) {
    const ShownTotals totals = totals_of(rows);
    return fmt::format("{}: {} verified, {} optimal, {} failed, mean gap {} (geometric {}), {} s",
                       text::count_text(rows.size(), "result"), totals.verified, totals.optimal,
                       totals.failed, text::gap_text(totals.mean_gap), text::gap_text(totals.geomean_gap),
                       text::seconds_text(totals.seconds));
}

}  // namespace

std::vector<ShownRow> selected(const std::vector<Run>& runs, const Selection& selection) {
    std::vector<ShownRow> rows;
    for (const Run& run : runs) {
        for (const ResultLine& line : run.lines) {
            if (is_selected(line, selection)) rows.push_back({&line, &run.name});
        }
    }
    std::ranges::stable_sort(rows, [&](const ShownRow& a, const ShownRow& b) {
        return shown_before(*a.line, *b.line, selection);
    });
    return rows;
}

std::vector<text::TonedLine> results_table(const std::vector<ShownRow>& rows,
                                           const ResultsTableStyle& style) {
    std::vector<text::TonedLine> lines;
    if (!rows.empty()) {
        auto columns = columns_of(rows, style.names_runs);
        if (style.columns) fit_labels(columns, *style.columns);
        lines = text::toned_lines(text_of(columns, rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (has_failed(*rows[i].line)) lines[text::kTableHead + i].tone = text::Tone::Bad;
        }
        lines.push_back({""});
    }
    const auto names = names_of(shown_lines(rows));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!has_failed(*rows[i].line)) continue;
        lines.push_back({one_line(fmt::format("failed: {}: {}", names[i], failure_text(*rows[i].line))),
                         text::Tone::Bad});
    }
    lines.push_back({summary_line(rows)});
    return lines;
}

std::vector<text::TonedLine> collectives_table(const std::vector<ShownRow>& rows) {
    const auto names = names_of(shown_lines(rows));
    std::vector<text::CollectiveRow> collectives;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (const CollectiveResult& result : rows[i].line->collectives)
            collectives.push_back({one_line(names[i]), &result, units_of(*rows[i].line)});
    }
    if (collectives.empty()) return {{"no row says what became of its collectives"}};
    return text::toned_lines(text::collective_table(collectives));
}

io::Json results_json(const std::vector<ShownRow>& rows, bool names_runs) {
    const ShownTotals totals = totals_of(rows);
    const auto or_null = [](const std::optional<double>& value) {
        return value ? io::Json(*value) : io::Json(nullptr);
    };
    io::Json json{{"instances", rows.size()},
                  {"verified", totals.verified},
                  {"optimal", totals.optimal},
                  {"failed", totals.failed},
                  {"mean_gap", or_null(totals.mean_gap)},
                  {"geomean_gap", or_null(totals.geomean_gap)},
                  {"seconds", totals.seconds}};
    io::Json& results = json["results"] = io::Json::array();
    for (const ShownRow& row : rows) {
        io::Json line = io::result_json(*row.line);
        if (names_runs) line["run"] = *row.run;
        results.push_back(std::move(line));
    }
    return json;
}

}  // namespace tutti::batch

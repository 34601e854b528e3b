// A comparison for people and for programs.

#include "batch/compare.hpp"

#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::batch {
namespace {

using io::ResultLine;

std::string makespan_cell(const ResultLine* line) {
    if (line == nullptr || !line->makespan) return "-";
    return text::time_text(*line->makespan, units_of(*line));
}

/// "+1.25 %"; what would round to nothing is still a change.
std::string change_cell(const std::optional<double>& change) {
    if (!change) return "-";
    if (*change == 0) return "0 %";
    if (std::abs(*change) < 0.00005) return *change > 0 ? "<+0.01 %" : ">-0.01 %";
    return fmt::format("{:+.2f} %", *change * 100);
}

std::string seconds_cell(const ResultLine* line) {
    return line == nullptr ? "-" : text::seconds_text(line->seconds);
}

std::string status_of(const ResultLine* line) {
    if (line == nullptr) return "missing";
    return has_failed(*line) ? "failed" : std::string(name_of(line->status));
}

/// "optimal -> feasible", or the one status of both.
std::string status_cell(const ComparedRow& row) {
    if (row.change == Change::New) return status_of(row.after);
    const std::string before = status_of(row.before), after = status_of(row.after);
    return before == after ? before : before + " -> " + after;
}

text::Tone tone_of(Change change) {
    if (is_regression(change)) return text::Tone::Bad;
    return change == Change::New ? text::Tone::Plain : text::Tone::Good;
}

bool is_told(const ComparedRow& row) {
    return row.change != Change::Same && row.change != Change::StillFailing;
}

std::string factor_text(const std::optional<double>& factor) {
    return factor ? fmt::format("x{:.4g}", *factor) : "-";
}

std::string summary_line(const Comparison& comparison) {
    std::string line = fmt::format("{}:", text::count_text(comparison.pairs, "pair"));
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Change::StillFailing); ++i) {
        const auto change = static_cast<Change>(i);
        const bool always = change == Change::Lost || change == Change::Worse || change == Change::Better ||
                            change == Change::New || change == Change::Same;
        const std::size_t count = comparison.count(change);
        if (always || count > 0) line += fmt::format(" {} {},", count, name_of(change));
    }
    return line + fmt::format(" makespan {}, seconds {} (geometric means)",
                              factor_text(comparison.makespan_ratio), factor_text(comparison.seconds_ratio));
}

std::string reason_line(const ComparedRow& row, const std::string& name) {
    if (row.change == Change::Contradiction && (!row.before->makespan || !row.after->makespan))
        return fmt::format("contradiction: {}: one run has a schedule, the other says that there is none",
                           name);
    if (row.change == Change::Contradiction) {
        const bool below =
            row.after->makespan && row.before->lower_bound && *row.after->makespan < *row.before->lower_bound;
        const auto& [found, proven] =
            below ? std::pair(row.after, row.before) : std::pair(row.before, row.after);
        return fmt::format(
            "contradiction: {}: one run has a schedule of {} ticks, the other a proof that none is shorter "
            "than {}",
            name, found->makespan->count(), proven->lower_bound->count());
    }
    if (row.change != Change::Lost || row.after == nullptr || !has_failed(*row.after)) return {};
    return fmt::format("lost: {}: {}", name, failure_text(*row.after));
}

}  // namespace

std::vector<text::TonedLine> comparison_table(const Comparison& comparison) {
    text::Table table({{"what"},
                       {"instance"},
                       {"old", text::Align::Right},
                       {"new", text::Align::Right},
                       {"change", text::Align::Right},
                       {"old s", text::Align::Right},
                       {"new s", text::Align::Right},
                       {"status"}});
    std::vector<text::Tone> tones;
    std::vector<text::TonedLine> reasons;
    std::vector<const ResultLine*> all;
    for (const ComparedRow& row : comparison.rows) all.push_back(&row.any());
    const auto names = names_of(all);
    for (std::size_t i = 0; i < names.size(); ++i) {
        const ComparedRow& row = comparison.rows[i];
        if (!is_told(row)) continue;
        table.add({std::string(name_of(row.change)), names[i], makespan_cell(row.before),
                   makespan_cell(row.after), change_cell(row.makespan_change()), seconds_cell(row.before),
                   seconds_cell(row.after), status_cell(row)});
        tones.push_back(tone_of(row.change));
        if (std::string reason = reason_line(row, names[i]); !reason.empty()) {
            std::ranges::replace(reason, '\n', ' ');
            reasons.push_back({std::move(reason), text::Tone::Bad});
        }
    }
    std::vector<text::TonedLine> lines;
    if (table.rows() > 0) {
        lines = text::toned_lines(table.text());
        for (std::size_t i = 0; i < tones.size(); ++i) lines[text::kTableHead + i].tone = tones[i];
        lines.push_back({""});
    }
    lines.insert(lines.end(), reasons.begin(), reasons.end());
    for (const std::string& note : comparison.notes) lines.push_back({"note: " + note});
    lines.push_back({summary_line(comparison)});
    return lines;
}

io::Json comparison_json(const Comparison& comparison) {
    const auto or_null = [](const std::optional<double>& value) {
        return value ? io::Json(*value) : io::Json(nullptr);
    };
    io::Json json{{"pairs", comparison.pairs}, {"regressions", comparison.regressions()}};
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Change::StillFailing); ++i) {
        const auto change = static_cast<Change>(i);
        std::string key(name_of(change));
        std::ranges::replace(key, ' ', '_');
        json[key] = comparison.count(change);
    }
    json["makespan_ratio"] = or_null(comparison.makespan_ratio);
    json["seconds_ratio"] = or_null(comparison.seconds_ratio);
    json["notes"] = comparison.notes;
    io::Json& changes = json["changes"] = io::Json::array();
    for (const ComparedRow& row : comparison.rows) {
        if (!is_told(row)) continue;
        changes.push_back({{"change", name_of(row.change)},
                           {"key", row.any().key},
                           {"label", row.any().label},
                           {"makespan_change", or_null(row.makespan_change())},
                           {"regression", is_regression(row.change)},
                           {"old", row.before == nullptr ? io::Json(nullptr) : io::result_json(*row.before)},
                           {"new", row.after == nullptr ? io::Json(nullptr) : io::result_json(*row.after)}});
    }
    return json;
}

}  // namespace tutti::batch

#include "batch/summary.hpp"

#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace tutti::batch {
namespace {

std::string ticks_cell(const std::optional<Ticks>& ticks) {
    return ticks ? std::to_string(ticks->count()) : "-";
}

std::string verified_cell(const Row& row) {
    if (row.failed) return "FAILED";
    if (row.line.status == Status::Infeasible) return "infeasible";
    return row.line.verified ? "yes" : "no";
}

struct Totals {
    std::size_t verified = 0, optimal = 0, failed = 0;
    std::optional<double> mean_gap;  ///< over the verified
};

Totals totals_of(const Outcome& outcome) {
    Totals totals;
    double sum = 0;
    std::size_t gaps = 0;
    for (const Row& row : outcome.rows) {
        if (row.failed) {
            ++totals.failed;
            continue;
        }
        totals.verified += row.line.verified ? 1U : 0U;
        totals.optimal += row.line.status == Status::Optimal ? 1U : 0U;
        if (const auto gap = row.line.gap()) {
            sum += *gap;
            ++gaps;
        }
    }
    if (gaps > 0) totals.mean_gap = sum / static_cast<double>(gaps);
    return totals;
}

/// "124 instances", or where something is varied "42 tasks of 21 instances".
std::string what_text(const Outcome& outcome) {
    std::unordered_set<std::string_view> files;
    for (const Row& row : outcome.rows) files.insert(row.line.file);
    const std::string instances = text::count_text(files.size(), "instance");
    if (files.size() == outcome.rows.size()) return instances;
    return fmt::format("{} of {}", text::count_text(outcome.rows.size(), "task"), instances);
}

std::string summary_line(const Outcome& outcome) {
    const Totals totals = totals_of(outcome);
    std::string line = fmt::format(
        "{}: {} verified, {} optimal, mean gap {}, {} failed, {} s", what_text(outcome), totals.verified,
        totals.optimal, text::gap_text(totals.mean_gap), totals.failed, text::seconds_text(outcome.seconds));
    if (!outcome.complete())
        line += fmt::format("; {}{} {}", outcome.collected ? "" : "interrupted, ",
                            outcome.planned - outcome.rows.size(),
                            outcome.collected ? "not done yet" : "left out");
    return line;
}

}  // namespace

text::SafeText table_text(const Outcome& outcome) {
    text::Table table({{"instance"},
                       {"method"},
                       {"makespan", text::Align::Right},
                       {"bound", text::Align::Right},
                       {"gap", text::Align::Right},
                       {"verified"},
                       {"sends", text::Align::Right},
                       {"seconds", text::Align::Right}});
    text::SafeText errors;
    for (const Row& row : outcome.rows) {
        const io::ResultLine& line = row.line;
        table.add({row.name, line.method.empty() ? "-" : line.method, ticks_cell(line.makespan),
                   ticks_cell(line.lower_bound), text::gap_text(line.gap()), verified_cell(row),
                   line.makespan ? std::to_string(line.sends) : "-", text::seconds_text(line.seconds)});
        if (row.failed) errors += text::safe_text("failed: {}: {}\n", row.name, line.error);
    }
    text::SafeText news;
    for (const std::string& sentence : outcome.news) news += text::safe_text("{}\n", sentence);
    return text::safe_text("{}\n{}{}{}\n", table.text(), errors, news, summary_line(outcome));
}

io::Json outcome_json(const Outcome& outcome) {
    const Totals totals = totals_of(outcome);
    io::Json json{{"instances", outcome.rows.size()},
                  {"verified", totals.verified},
                  {"optimal", totals.optimal},
                  {"failed", totals.failed},
                  {"mean_gap", totals.mean_gap ? io::Json(*totals.mean_gap) : io::Json(nullptr)},
                  {"seconds", outcome.seconds},
                  {"complete", outcome.complete()},
                  {"news", outcome.news}};
    io::Json& results = json["results"] = io::Json::array();
    for (const Row& row : outcome.rows) results.push_back(io::result_json(row.line));
    return json;
}

}  // namespace tutti::batch

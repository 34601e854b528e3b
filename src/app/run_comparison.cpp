#include "app/run_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace tutti::app {
namespace {

/// What plans must have in common to be compared.
auto key_of(const RunRow& row) { return std::tuple(row.collective, row.ranks, row.type, row.op); }

/// By size, by plan: the best time of all modes.
using Times = std::map<std::int64_t, std::map<std::size_t, double>>;

std::optional<RunComparison> compared(const std::vector<const RunRow*>& rows) {
    Times times;
    std::map<std::size_t, std::string> files;
    for (const RunRow* row : rows) {
        if (row->outcome.rounds == 0) continue;
        const auto [known, is_new] = times[row->bytes].try_emplace(row->plan, row->outcome.median_us);
        known->second = std::min(known->second, row->outcome.median_us);
        files.emplace(row->plan, row->file);
    }
    if (files.size() < 2) return std::nullopt;
    RunComparison comparison{.collective = rows.front()->collective,
                             .ranks = rows.front()->ranks,
                             .type = rows.front()->type,
                             .op = rows.front()->op};
    for (const auto& [plan, file] : files) comparison.files.push_back(file);
    for (const auto& [bytes, at] : times) {
        if (at.size() < files.size()) continue;
        std::vector<double>& best = comparison.best_us.emplace_back();
        for (const auto& [plan, time] : at) best.push_back(time);
        comparison.sizes.push_back(bytes);
        comparison.fastest.push_back(static_cast<std::size_t>(std::ranges::min_element(best) - best.begin()));
    }
    return comparison.sizes.empty() ? std::nullopt : std::optional(std::move(comparison));
}

}  // namespace

std::vector<RunComparison> compare_runs(std::span<const RunRow> rows) {
    std::map<decltype(key_of(rows.front())), std::vector<const RunRow*>> alike;
    for (const RunRow& row : rows) alike[key_of(row)].push_back(&row);
    std::vector<RunComparison> comparisons;
    for (const auto& [key, these] : alike) {
        if (auto comparison = compared(these)) comparisons.push_back(std::move(*comparison));
    }
    return comparisons;
}

}  // namespace tutti::app

#include "text/collective_table.hpp"

#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::text {
namespace {

constexpr std::size_t kMostShown = 24;
constexpr std::string_view kNothing = "-";

std::vector<std::string> cells_of(const CollectiveRow& row) {
    const CollectiveResult& result = *row.result;
    return {row.instance.empty() ? std::string(kNothing) : row.instance,
            result.id,
            std::string(name_of(result.kind)),
            result.group,
            std::to_string(result.ranks),
            result.release == Ticks(0) ? std::string(kNothing) : time_text(result.release, row.units),
            result.bytes ? call_size_text(*result.bytes) : std::string(kNothing),
            time_text(result.finish, row.units),
            bandwidth_cell(result.algbw_GBps),
            bandwidth_cell(result.busbw_GBps)};
}

}  // namespace

SafeText collective_table(std::span<const CollectiveRow> rows) {
    const std::vector<Table::Column> heads{{"instance"},
                                           {"collective"},
                                           {"kind"},
                                           {"group"},
                                           {"ranks", Align::Right},
                                           {"release", Align::Right},
                                           {"size", Align::Right},
                                           {"finish", Align::Right},
                                           {"algbw", Align::Right},
                                           {"busbw", Align::Right}};
    std::vector<std::vector<std::string>> cells;
    for (const CollectiveRow& row : rows) cells.push_back(cells_of(row));
    const auto says_something = [&](std::size_t column) {
        return std::ranges::any_of(cells, [&](const auto& row) { return row[column] != kNothing; });
    };
    std::vector<Table::Column> shown;
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < heads.size(); ++c) {
        if (!says_something(c)) continue;
        shown.push_back(heads[c]);
        columns.push_back(c);
    }
    Table table(shown);
    for (auto& row : cells) {
        std::vector<std::string> kept;
        for (const std::size_t c : columns) kept.push_back(std::move(row[c]));
        table.add(kept);
    }
    return table.text();
}

SafeText collective_table(std::span<const CollectiveResult> results, Units units) {
    if (results.size() < 2) return {};
    std::vector<std::size_t> order(results.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t shown = std::min(kMostShown, results.size());
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return results[i].finish; });
    order.resize(shown);
    std::ranges::sort(order);
    std::vector<CollectiveRow> rows;
    for (const std::size_t i : order) rows.push_back({{}, &results[i], units});
    SafeText text = collective_table(rows);
    if (shown < results.size())
        text += safe_text("these are the last {} of {} collectives to finish\n", shown, results.size());
    return text;
}

}  // namespace tutti::text

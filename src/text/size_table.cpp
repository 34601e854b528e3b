#include "text/size_table.hpp"

#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::text {

SafeText size_table(const std::string& head, std::span<const SizeRow> rows, Units units) {
    const bool remarks = std::ranges::any_of(rows, [](const SizeRow& row) { return !row.remark.empty(); });
    std::vector<Table::Column> columns{{""},
                                       {"size", Align::Right},
                                       {head},
                                       {"time", Align::Right},
                                       {"bound", Align::Right},
                                       {"gap", Align::Right},
                                       {"algbw", Align::Right},
                                       {"busbw", Align::Right}};
    if (remarks) columns.push_back({""});
    const auto time = [&](const std::optional<Ticks>& ticks) {
        return ticks ? time_text(*ticks, units) : std::string("-");
    };
    Table table(columns);
    for (const SizeRow& row : rows) {
        std::vector<std::string> cells{row.fastest ? ">" : "",
                                       row.bytes ? call_size_text(*row.bytes) : std::string("-"),
                                       row.name,
                                       time(row.time),
                                       time(row.bound),
                                       gap_text(row.gap),
                                       bandwidth_cell(row.algbw_GBps),
                                       bandwidth_cell(row.busbw_GBps)};
        if (remarks) cells.push_back(row.remark);
        table.add(std::move(cells));
    }
    return table.text();
}

SafeText crossover_lines(std::span<const std::string> names, std::span<const Crossover> crossovers) {
    SafeText lines;
    for (const Crossover& crossover : crossovers) {
        const std::string &before = names[crossover.before], &after = names[crossover.after];
        lines += crossover.exact()
                     ? safe_text("crossover: {} is the fastest up to {} bytes, {} from {} bytes\n", before,
                                 crossover.below, after, crossover.from)
                     : safe_text("crossover: {} is the fastest at {}, {} at {}\n", before,
                                 call_size_text(static_cast<std::uint64_t>(crossover.below)), after,
                                 call_size_text(static_cast<std::uint64_t>(crossover.from)));
    }
    return lines;
}

}  // namespace tutti::text

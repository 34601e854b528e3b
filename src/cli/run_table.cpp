#include "cli/run_table.hpp"

#include "cli/terminal.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

namespace tutti::cli {
namespace {

/// Four digits, as wide as the column.
std::string number_cell(double value) {
    if (value <= 0) return "-";
    return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}
std::string number_cell(const std::optional<double>& value) { return value ? number_cell(*value) : "-"; }

}  // namespace

void RunTable::begin(const app::RunRow& row) {
    const std::string name =
        fmt::format("{}: {}, {}", row.file, row.collective, row.in_place ? "in place" : "out of place");
    if (name == begun_) return;
    if (!begun_.empty()) streams_->out.print("\n");
    begun_ = name;
    streams_->out.print("{}\n", text::printable(name));
    streams_->out.print("{:>14} {:>14} {:>5} {:>5} {:>5} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}\n",
                        "size (B)", "count", "type", "redop", "root", "time (us)", "p10", "p90", "algbw",
                        "busbw", "#wrong");
}

void RunTable::add(const app::RunRow& row) {
    begin(row);
    const std::string root = row.root ? fmt::format("{}", row.root->value()) : "-1";
    const std::string head = fmt::format("{:>14} {:>14} {:>5} {:>5} {:>5}", row.bytes, row.count,
                                         run::name_of(row.type), run::name_of(row.op), root);
    if (!row.skipped.empty()) {
        streams_->out.print("{}  skipped: {}\n", head, row.skipped);
        return;
    }
    const std::string wrong = row.compared == 0 ? "N/A" : fmt::format("{}", row.wrong);
    streams_->out.print("{} {:>10} {:>10} {:>10} {:>8} {:>8} {:>8}\n", head, number_cell(row.median_us),
                        number_cell(row.low_us), number_cell(row.high_us), number_cell(row.algbw_GBps),
                        number_cell(row.busbw_GBps), wrong);
    if (row.difference) {
        streams_->out.print("  rank {}, element {}: expected {}, found {}\n", row.difference->rank.value(),
                            row.difference->element, row.difference->expected, row.difference->found);
    }
}

void RunTable::add(const app::RefusedPlan& plan) {
    streams_->err.print("error: {}: {}, not run: {}\n", plan.file, plan.verdict, plan.reason);
}

void RunTable::end(const app::RunResult& result) {
    std::uint64_t wrong = 0, compared = 0;
    for (const app::RunRow& row : result.rows) {
        wrong += row.wrong;
        compared += row.compared;
    }
    if (result.rows.empty()) return;
    streams_->out.print("\n{} of {} elements wrong\n", wrong, compared);
}

}  // namespace tutti::cli

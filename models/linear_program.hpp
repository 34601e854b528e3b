#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::models {

/// A linear program over non-negative reals, minimised; all data are integers, so that a dual can be checked
/// exactly. Row i: at_least[i] <= sum of its entries (plus nothing above). An equation is written as two rows
/// or with `equal`.
struct LinearProgram {
    struct Entry {
        std::uint32_t column;
        std::int64_t value;
    };
    std::vector<std::int64_t> cost;  ///< per column
    std::vector<std::size_t> row_begin{0};
    std::vector<Entry> entries;
    std::vector<std::int64_t> at_least;
    std::vector<bool> equal;

    [[nodiscard]] std::size_t columns() const { return cost.size(); }
    [[nodiscard]] std::size_t rows() const { return at_least.size(); }
    std::uint32_t add_column(std::int64_t column_cost) {
        cost.push_back(column_cost);
        return static_cast<std::uint32_t>(cost.size() - 1);
    }
    void add(std::uint32_t column, std::int64_t value) { entries.push_back({column, value}); }
    /// Ends the row whose entries were added since the last one.
    void end_row(std::int64_t least, bool is_equal = false) {
        row_begin.push_back(entries.size());
        at_least.push_back(least);
        equal.push_back(is_equal);
    }
};

}  // namespace tutti::models

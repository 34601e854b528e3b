#pragma once

#include "text/safe_text.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::text {

enum class Align { Left, Right };

/// Rows of text in aligned columns, two spaces apart. Cells are escaped.
class Table {
  public:
    struct Column {
        std::string head;
        Align align = Align::Left;
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Precondition: as many cells as columns.
    void add(const std::vector<std::string>& cells);
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }

    /// Heads, a rule and the rows; each line ends with a newline and without trailing spaces.
    [[nodiscard]] SafeText text() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;  ///< escaped
};

/// Names and what they are; values are escaped, but may have colours.
using Facts = std::vector<std::pair<std::string, SafeText>>;

/// One line "name   value" per fact, values aligned, with `indent` spaces before each line.
[[nodiscard]] SafeText fact_sheet(const Facts& facts, std::size_t indent = 0);

}  // namespace tutti::text

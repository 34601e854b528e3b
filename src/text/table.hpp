#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti::text {

enum class Align { Left, Right };

/// Rows of text in aligned columns, two spaces apart.
class Table {
  public:
    struct Column {
        std::string head;
        Align align = Align::Left;
    };
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Precondition: as many cells as columns.
    void add(std::vector<std::string> cells);
    [[nodiscard]] std::size_t rows() const { return rows_.size(); }

    /// Heads, a rule and the rows; each line ends with a newline and without trailing spaces.
    [[nodiscard]] std::string text() const;

  private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// One line "name   value" per fact, values aligned, with `indent` spaces before each line.
[[nodiscard]] std::string fact_sheet(const std::vector<std::pair<std::string, std::string>>& facts,
                                     std::size_t indent = 0);

}  // namespace tutti::text

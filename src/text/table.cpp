#include "text/table.hpp"

#include "core/expects.hpp"
#include "text/format.hpp"

#include <algorithm>

namespace tutti::text {
namespace {

constexpr std::size_t kBetween = 2;

std::string padded(const std::string& cell, std::size_t width, Align align) {
    const std::string blanks(width - std::min(width, width_of(cell)), ' ');
    return align == Align::Left ? cell + blanks : blanks + cell;
}

void end_line(std::string& text) {
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
    expects(cells.size() == columns_.size());
    rows_.push_back(std::move(cells));
}

std::string Table::text() const {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        std::size_t width = width_of(columns_[i].head);
        for (const auto& row : rows_) width = std::max(width, width_of(row[i]));
        widths.push_back(width);
    }
    std::string text;
    const auto add_line = [&](const auto& cell_of) {
        std::string line;
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i > 0) line.append(kBetween, ' ');
            line += padded(cell_of(i), widths[i], columns_[i].align);
        }
        end_line(line);
        text += line;
    };
    add_line([&](std::size_t i) { return columns_[i].head; });
    add_line([&](std::size_t i) { return std::string(widths[i], '-'); });
    for (const auto& row : rows_) add_line([&](std::size_t i) { return row[i]; });
    return text;
}

std::string fact_sheet(const std::vector<std::pair<std::string, std::string>>& facts, std::size_t indent) {
    std::size_t width = 0;
    for (const auto& [name, value] : facts) width = std::max(width, width_of(name));
    std::string text;
    for (const auto& [name, value] : facts) {
        std::string line = std::string(indent, ' ') + padded(name, width + kBetween, Align::Left) + value;
        end_line(line);
        text += line;
    }
    return text;
}

}  // namespace tutti::text

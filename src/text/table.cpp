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

void Table::add(const std::vector<std::string>& cells) {
    expects(cells.size() == columns_.size());
    auto& row = rows_.emplace_back();
    for (const std::string& cell : cells) row.push_back(printable(cell));
}

SafeText Table::text() const {
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
    return SafeText::lines(text);
}

SafeText fact_sheet(const Facts& facts, std::size_t indent) {
    std::size_t width = 0;
    for (const auto& [name, value] : facts) width = std::max(width, width_of(name));
    SafeText text;
    for (const auto& [name, value] : facts) {
        const std::string blanks(value.empty() ? 0 : width + kBetween - width_of(name), ' ');
        text += safe_text("{}{}{}{}\n", std::string(indent, ' '), name, blanks, value);
    }
    return text;
}

}  // namespace tutti::text

#pragma once

#include <string>
#include <string_view>

namespace tutti::io {

/// The text with every @name@ replaced.
[[nodiscard]] inline std::string marks_replaced(std::string text, std::string_view name,
                                                std::string_view by) {
    const std::string mark = "@" + std::string(name) + "@";
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += by.size())
        text.replace(at, mark.size(), by);
    return text;
}

}  // namespace tutti::io

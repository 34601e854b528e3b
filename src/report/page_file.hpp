#pragma once

#include "io/json_view.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::report {

/// The parts of a page, as they were when this program was built (src/report/page, embed.cmake).
struct PageParts {
    std::string_view html;  ///< with {{style}}, {{echarts}}, {{script}} and {{data}} where those go
    std::string_view style, script;
    std::string_view charts;  ///< the charting library; empty if it was not there at build time
};
[[nodiscard]] PageParts page_parts();

/// JSON that can stand inside a <script> element whatever its strings hold: no '<' is left in it, and
/// characters that a page would obey or not show (text/escape.hpp) are in the strings as "\\u202e" or "\\n".
[[nodiscard]] std::string script_safe_json(const io::Json& data);

/// The page as text. Only places named in the template are filled: data that looks like one stays as it is.
[[nodiscard]] std::string page_text(const PageParts& parts, const io::Json& data);

/// Writes the page at once to a file, or for "-" to standard output; returns its size. Throws InputError.
std::uint64_t write_page(const std::string& path, const io::Json& data);

/// Puts rows and views under a title: docs/report.md. `at` is the time of making, UTC; empty means now.
[[nodiscard]] io::Json page_data(std::string title, io::Json rows, io::Json views, std::string at = {});

}  // namespace tutti::report

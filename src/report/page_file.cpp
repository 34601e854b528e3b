#include "report/page_file.hpp"

#include "io/atomic_file.hpp"
#include "io/json_text.hpp"

#include <fmt/chrono.h>

#include <array>
#include <ctime>
#include <utility>

extern "C" {
extern const char tutti_page_html[], tutti_page_html_end[];
extern const char tutti_page_style[], tutti_page_style_end[];
extern const char tutti_page_script[], tutti_page_script_end[];
extern const char tutti_page_charts[], tutti_page_charts_end[];
}

namespace tutti::report {
namespace {

constexpr std::string_view kNoCharts = "/* built without ECharts: see scripts/setup */";

}  // namespace

PageParts page_parts() {
    return {{tutti_page_html, tutti_page_html_end},
            {tutti_page_style, tutti_page_style_end},
            {tutti_page_script, tutti_page_script_end},
            {tutti_page_charts, tutti_page_charts_end}};
}

std::string script_safe_json(const io::Json& data) {
    const std::string text = io::json_line(data);
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t next = std::min(text.find_first_of("<\\", at), text.size());
        safe.append(text, at, next - at);
        at = next + 1;
        if (next == text.size()) break;
        if (text[next] == '<') {
            safe += "\\u003c";
        } else {
            // An escape of a character that is not shown, like \n or \u202e, is to be shown itself.
            const bool is_shown = text[next + 1] == '"' || text[next + 1] == '\\';
            safe += is_shown ? "\\" : "\\\\";
            safe += text[next + 1];
            ++at;
        }
    }
    return safe;
}

std::string page_text(const PageParts& parts, const io::Json& data) {
    const std::string json = script_safe_json(data);
    const std::array<std::pair<std::string_view, std::string_view>, 4> places{
        {{"{{style}}", parts.style},
         {"{{echarts}}", parts.charts.empty() ? kNoCharts : parts.charts},
         {"{{script}}", parts.script},
         {"{{data}}", json}}};
    std::string text;
    text.reserve(parts.html.size() + parts.style.size() + parts.script.size() + parts.charts.size() +
                 json.size());
    std::string_view rest = parts.html;
    while (!rest.empty()) {
        const std::size_t open = std::min(rest.find("{{"), rest.size());
        text += rest.substr(0, open);
        rest.remove_prefix(open);
        bool filled = false;
        for (const auto& [name, content] : places) {
            if (!rest.starts_with(name)) continue;
            text += content;
            rest.remove_prefix(name.size());
            filled = true;
            break;
        }
        if (!filled && !rest.empty()) {
            text += rest.front();
            rest.remove_prefix(1);
        }
    }
    return text;
}

std::uint64_t write_page(const std::string& path, const io::Json& data) {
    io::AtomicFile file(path);
    file.write(page_text(page_parts(), data));
    const std::uint64_t size = file.size();
    file.commit();
    return size;
}

io::Json page_data(std::string title, io::Json rows, io::Json views, std::string at) {
    if (at.empty()) at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
    io::Json made{{"by", "tutti " TUTTI_VERSION}, {"at", std::move(at)}};
    return {{"version", 1},
            {"title", std::move(title)},
            {"made", std::move(made)},
            {"rows", std::move(rows)},
            {"views", std::move(views)}};
}

}  // namespace tutti::report

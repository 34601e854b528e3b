#include "report/timeline_file.hpp"

#include "io/atomic_file.hpp"
#include "report/page_file.hpp"

extern "C" {
extern const char tutti_page_timeline_html[], tutti_page_timeline_html_end[];
extern const char tutti_page_timeline_style[], tutti_page_timeline_style_end[];
extern const char tutti_page_timeline_script[], tutti_page_timeline_script_end[];
}

namespace tutti::report {

std::uint64_t write_timeline(const std::string& path, io::Json data) {
    data["made"] = page_data("", {}, {})["made"];
    const PageParts parts{.html = {tutti_page_timeline_html, tutti_page_timeline_html_end},
                          .style = {tutti_page_timeline_style, tutti_page_timeline_style_end},
                          .script = {tutti_page_timeline_script, tutti_page_timeline_script_end},
                          .charts = {}};
    io::AtomicFile file(path);
    file.write(page_text(parts, data));
    const std::uint64_t size = file.size();
    file.commit();
    return size;
}

}  // namespace tutti::report

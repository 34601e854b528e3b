#include "batch/results_csv.hpp"

#include "io/json_text.hpp"
#include "text/escape.hpp"

#include <algorithm>

namespace tutti::batch {
namespace {

/// Every key that a line can have, in the order of a line.
std::vector<std::string> all_keys() {
    io::ResultLine everything;
    everything.key = everything.error = "x";
    everything.composed = Ticks(0);
    everything.solver_versions["x"] = "x";
    everything.options["x"] = 1;
    everything.asked_heuristic = "x";
    const io::Json line = io::result_json(everything);
    std::vector<std::string> keys;
    for (const auto& [key, value] : line.items()) keys.push_back(key);
    return keys;
}

std::string cell_of(const io::Json& value) {
    if (value.is_null()) return {};
    return text::csv_cell(value.is_string() ? value.get<std::string>() : io::json_line(value));
}

}  // namespace

std::string results_csv(const std::vector<ShownRow>& rows, bool names_runs) {
    const std::vector<std::string> keys = all_keys();
    std::string csv = names_runs ? "run," : "";
    for (const std::string& key : keys) csv += (key == keys.front() ? "" : ",") + key;
    csv += '\n';
    for (const ShownRow& row : rows) {
        const io::Json line = io::result_json(*row.line);
        if (names_runs) csv += text::csv_cell(*row.run) + ",";
        for (const std::string& key : keys) {
            if (key != keys.front()) csv += ',';
            if (const auto found = line.find(key); found != line.end()) csv += cell_of(*found);
        }
        csv += '\n';
    }
    return csv;
}

}  // namespace tutti::batch

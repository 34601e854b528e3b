#include "batch/read_run.hpp"

#include "batch/result_line.hpp"
#include "core/expects.hpp"
#include "io/found_results.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::batch {

Run read_run(const std::string& path) {
    io::FoundResults found = io::find_results(path);
    return {path, std::move(found.folder), std::move(found.lines)};
}

std::optional<RunFile> file_of(const Run& run) {
    const std::string path = (std::filesystem::path(run.folder) / "run.json").string();
    if (run.folder.empty() || !std::filesystem::exists(path)) return std::nullopt;
    return read_run_file(path);
}

bool has_failed(const io::ResultLine& line) {
    if (line.failure != io::Failure::None) return true;
    // Before lines had a field for it, an error meant failure; but "infeasible" can be the right answer.
    if (!line.error.empty() && line.status != Status::Infeasible) return true;
    return line.makespan && !line.verified;
}

bool supersedes(const io::ResultLine& line, const io::ResultLine& other) {
    if (has_failed(line) != has_failed(other)) return has_failed(other);
    return line.finished >= other.finished;
}

std::string failure_text(const io::ResultLine& line) {
    expects(has_failed(line));
    const std::string why = line.error.empty() ? "no reason is given" : line.error;
    if (line.failure != io::Failure::None) return fmt::format("{}: {}", name_of(line.failure), why);
    return line.error.empty() ? "its schedule was not verified" : line.error;
}

std::vector<std::string> names_of(const std::vector<const io::ResultLine*>& lines) {
    std::vector<Variant> variants;
    for (const io::ResultLine* line : lines) variants.push_back(task_of(*line).variant);
    const Told told = differing_among(variants);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < lines.size(); ++i)
        names.push_back(name_with(lines[i]->label, variants[i], told));
    return names;
}

Units units_of(const io::ResultLine& line) {
    return line.units == "physical" ? Units::Physical : Units::Abstract;
}

}  // namespace tutti::batch

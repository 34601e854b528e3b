#include "io/found_results.hpp"

#include "core/error.hpp"
#include "io/json_text.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>

namespace tutti::io {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "results.jsonl";
constexpr const char* kSchedules = "schedules";

std::string journal_in(const std::string& path) {
    std::error_code ignored;
    if (path == "-" || !fs::is_directory(path, ignored)) return path;
    const fs::path journal = fs::path(path) / kJournal;
    if (fs::exists(journal, ignored)) return journal.string();
    if (fs::exists(fs::path(path) / "tasks" / "list", ignored)) {
        throw InputError(
            fmt::format(
                "its tasks were listed, but their results are not in results.jsonl yet; 'tutti results "
                "collect {}' puts them there",
                path),
            {}, path);
    }
    throw InputError("expected a folder with results.jsonl, as tutti batch leaves it", {}, path);
}

/// "ring/a" of "instances/ring/a.json", as batch/expand names it.
std::string label_of_file(const std::string& file) {
    const fs::path path(file);
    const std::string family = path.parent_path().filename().string();
    const std::string name = path.stem().string();
    return family.empty() || family == "." || family == ".." ? name : family + "/" + name;
}

void complete(ResultLine& line) {
    if (line.label.empty()) line.label = line.file.empty() ? line.instance : label_of_file(line.file);
    if (line.key.empty()) line.key = line.label;
}

std::vector<ResultLine> last_of_each_key(std::vector<ResultLine> lines) {
    std::unordered_map<std::string, std::size_t> places;
    std::vector<ResultLine> last;
    for (ResultLine& line : lines) {
        complete(line);
        const auto [place, is_new] = places.emplace(line.key, last.size());
        if (is_new) {
            last.push_back(std::move(line));
        } else {
            last[place->second] = std::move(line);
        }
    }
    return last;
}

/// The absolute working directory of the run; empty where run.json does not name it.
fs::path place_of_run(const fs::path& folder) {
    std::error_code error;
    const fs::path file = folder / "run.json";
    if (!fs::is_regular_file(file, error)) return {};
    try {
        Source source(file.string());
        const Json json = parse_json(source);
        const auto from = JsonView(json).find("from");
        const fs::path whole = fs::weakly_canonical(folder, error);
        return !from || error ? fs::path() : whole / from->string();
    } catch (const InputError&) {
        return {};  // callers that need run.json report the error
    }
}

std::string seen_from_here(const fs::path& run, const std::string& path) {
    if (path.empty() || run.empty() || fs::path(path).is_absolute()) return path;
    std::error_code ignored;
    const fs::path there = run / path;
    // Usually this process has the working directory of the run.
    if (!fs::exists(there, ignored) || fs::equivalent(there, path, ignored)) return path;
    return there.lexically_normal().lexically_proximate(fs::current_path(ignored)).string();
}

/// The schedule at the same relative path in this folder as in the run's folder, which may have had another
/// name; empty where there is none. Never leaves the folder.
std::string schedule_below(const fs::path& folder, const fs::path& schedule) {
    for (auto part = schedule.begin(); part != schedule.end(); ++part) {
        if (*part != kSchedules) continue;
        fs::path relative;
        for (auto rest = part; rest != schedule.end(); ++rest) relative /= *rest;
        relative = relative.lexically_normal();
        std::error_code ignored;
        if (*relative.begin() == kSchedules && fs::is_regular_file(folder / relative, ignored))
            return (folder / relative).string();
    }
    return {};
}

std::string schedule_seen_from_here(const fs::path& folder, const fs::path& run, const std::string& path) {
    const std::string below = schedule_below(folder, path);
    std::error_code ignored;
    if (!below.empty()) return fs::equivalent(below, path, ignored) ? path : below;
    return seen_from_here(run, path);
}

}  // namespace

FoundResults find_results(const std::string& path, DamagedLines damaged) {
    FoundResults found;
    const std::string journal = journal_in(path);
    found.lines =
        last_of_each_key(read_results(journal, damaged == DamagedLines::PassOver ? &found.damaged : nullptr));
    if (path == "-") return found;
    const fs::path folder = fs::path(journal).has_parent_path() ? fs::path(journal).parent_path() : ".";
    found.folder = folder.string();
    const fs::path run = place_of_run(folder);
    std::error_code ignored;
    // Mostly we are where the run was, and nothing has to be looked up for any of a million lines.
    const bool is_here = !run.empty() && fs::equivalent(run, fs::current_path(ignored), ignored);
    const std::string schedules = (folder / kSchedules / "").string();
    for (ResultLine& line : found.lines) {
        const bool is_ours = line.schedule.empty() || line.schedule.starts_with(schedules);
        if (is_here && is_ours && line.schedule.find("..") == line.schedule.npos) continue;
        std::string file = seen_from_here(run, line.file);
        std::string schedule = schedule_seen_from_here(folder, run, line.schedule);
        found.moved = found.moved || file != line.file || schedule != line.schedule;
        line.file = std::move(file);
        line.schedule = std::move(schedule);
    }
    return found;
}

std::optional<ResultLine> line_about(const std::string& schedule) {
    std::error_code ignored;
    const fs::path path = fs::absolute(schedule, ignored).lexically_normal();
    for (fs::path folder = path.parent_path(); folder != folder.parent_path();
         folder = folder.parent_path()) {
        if (!fs::exists(folder / kJournal, ignored)) continue;
        try {
            for (ResultLine& line : find_results(folder.string()).lines) {
                if (!line.schedule.empty() && fs::equivalent(line.schedule, path, ignored))
                    return std::move(line);
            }
        } catch (const InputError&) {
        }
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace tutti::io

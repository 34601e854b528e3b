#include "report/results_folder.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

namespace tutti::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "results.jsonl";

}  // namespace

std::vector<io::ResultLine> lines_in(const std::string& folder) {
    const fs::path journal = fs::path(folder) / kJournal;
    std::error_code ignored;
    if (!fs::exists(journal, ignored)) {
        throw InputError("expected a folder with results.jsonl, as tutti batch leaves it", {}, folder);
    }
    std::vector<io::ResultLine> kept;
    std::map<std::string, std::size_t> places;
    for (io::ResultLine& line : io::read_results(journal.string())) {
        const std::string key = !line.key.empty() ? line.key
                                                  : fmt::format("{}\n{}\n{}\n{}", line.file, line.instance,
                                                                line.asked, line.seed);
        const auto [place, is_new] = places.try_emplace(key, kept.size());
        if (is_new) {
            kept.push_back(std::move(line));
        } else {
            kept[place->second] = std::move(line);
        }
    }
    return kept;
}

std::string schedule_file(const std::string& folder, const io::ResultLine& line) {
    std::error_code ignored;
    if (fs::exists(line.schedule, ignored)) return line.schedule;
    const auto at = line.schedule.rfind("schedules/");
    return at == line.schedule.npos ? line.schedule : (fs::path(folder) / line.schedule.substr(at)).string();
}

std::optional<io::ResultLine> line_about(const std::string& schedule) {
    std::error_code ignored;
    const fs::path path = fs::absolute(schedule, ignored).lexically_normal();
    for (fs::path folder = path.parent_path(); folder != folder.parent_path();
         folder = folder.parent_path()) {
        if (!fs::exists(folder / kJournal, ignored)) continue;
        try {
            for (io::ResultLine& line : lines_in(folder.string())) {
                if (line.schedule.empty()) continue;
                if (fs::equivalent(schedule_file(folder.string(), line), path, ignored))
                    return std::move(line);
            }
        } catch (const InputError&) {
            return std::nullopt;
        }
        return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace tutti::report

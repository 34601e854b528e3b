#include "batch/earlier.hpp"

#include "batch/result_line.hpp"
#include "batch/variant_instance.hpp"

#include <string_view>
#include <unordered_map>

namespace tutti::batch {
namespace {

/// Whether the line answers what the task asks.
bool answers(const io::ResultLine& line, const Task& task) {
    const io::ResultLine asked = line_of(task, {});
    return line.key == asked.key && line.asked == asked.asked && line.seed == asked.seed &&
           line.asked_heuristic == asked.asked_heuristic && line.options == asked.options &&
           line.asked_chunks == asked.asked_chunks && line.asked_bytes == asked.asked_bytes;
}

/// Whether what went wrong then need not go wrong now.
bool is_passing(const io::ResultLine& line) {
    return line.failure == io::Failure::Lost || line.failure == io::Failure::Output ||
           (line.failure == io::Failure::Input && line.digest.empty());
}

/// The digests of files, of which each is asked for several times in a row.
class Digests {
  public:
    [[nodiscard]] const std::string& of(const std::filesystem::path& path) {
        if (path != path_) {
            digest_ = digest_of(path);
            path_ = path;
        }
        return digest_;
    }

  private:
    std::filesystem::path path_;
    std::string digest_;
};

}  // namespace

Earlier earlier_in(const ResultsFolder& folder, const Plan& plan, const Settings& settings) {
    Earlier earlier;
    io::FoundResults found = folder.earlier();
    if (found.damaged > 0) folder.mend(found.lines);
    earlier.damaged = found.damaged;
    earlier.moved = found.moved && found.damaged == 0;
    earlier.lines = std::move(found.lines);
    earlier.others = earlier.lines.size();
    std::unordered_map<std::string_view, std::size_t> by_key;
    by_key.reserve(earlier.lines.size());
    for (std::size_t i = 0; i < earlier.lines.size(); ++i) by_key.emplace(earlier.lines[i].key, i);
    Digests digests;
    for (std::size_t i = 0; i < plan.size() && !by_key.empty() && !settings.is_interrupted(); ++i) {
        const Task task = plan[i];
        const auto at = by_key.find(task.key);
        if (at == by_key.end()) continue;
        --earlier.others;
        const io::ResultLine& line = earlier.lines[at->second];
        const bool again = settings.retry_failed && line.failure != io::Failure::None;
        if (again || is_passing(line) || !answers(line, task)) continue;
        // A file that nobody could read then is not read here: this process must not hang.
        if (line.digest.empty() || digests.of(task.job.path) == line.digest) {
            earlier.kept.push_back({i, at->second});
        } else {
            ++earlier.changed;
        }
    }
    return earlier;
}

}  // namespace tutti::batch

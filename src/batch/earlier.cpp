#include "batch/earlier.hpp"

#include "batch/read_run.hpp"
#include "batch/result_line.hpp"
#include "batch/row_files.hpp"
#include "batch/variant_instance.hpp"

#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace tutti::batch {
namespace {

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

/// Whether the row tells nothing that the line does not: it is the same, but for what a .solu file said of
/// it, or it failed in the same way.
bool adds_nothing(io::ResultLine row, const io::ResultLine& line) {
    if (row.failure == line.failure && row.error == line.error) return true;
    row.failure = line.failure;
    row.error = line.error;
    return row == line;
}

/// Puts together what one task has in results.jsonl and what it left itself.
class Sorting {
  public:
    Sorting(const ResultsFolder& folder, const Plan& plan, const Settings& settings, Earlier& earlier)
        : plan_(plan), settings_(settings), earlier_(earlier) {
        if (folder.has_tasks()) rows_.emplace(settings.results);
        by_key_.reserve(earlier.journaled);
        for (std::size_t i = 0; i < earlier.journaled; ++i) by_key_.emplace(earlier.lines[i].key, i);
    }

    void sort() {
        if (by_key_.empty() && !rows_) return;
        for (std::size_t i = 0; i < plan_.size() && !settings_.is_interrupted(); ++i) sort(i);
        if (rows_ && !settings_.is_interrupted()) find_strays();
    }

  private:
    void sort(std::size_t number) {
        const Task task = plan_[number];
        const auto at = by_key_.find(task.key);
        const bool journaled = at != by_key_.end();
        if (journaled) --earlier_.others;
        const Answer answer = journaled ? answer_of(earlier_.lines[at->second], task) : Answer::None;
        // A good line is not looked for twice: there may be a million rows.
        if (rows_ && (answer != Answer::Kept || has_failed(earlier_.lines[at->second]))) {
            if (take_row(number, task, answer == Answer::Kept ? &earlier_.lines[at->second] : nullptr))
                return;
        }
        if (answer == Answer::Kept) earlier_.kept.push_back({number, at->second, false});
        if (answer == Answer::Changed) ++earlier_.changed;
    }

    enum class Answer { None, Changed, Kept };

    Answer answer_of(const io::ResultLine& line, const Task& task) {
        if (!answers(line, task)) return Answer::None;
        const bool again =
            !settings_.collect && (may_pass(line) || (settings_.retry_failed && has_failed(line)));
        if (again) return Answer::None;
        // A file that nobody could read then is not read here: this process must not hang.
        if (line.digest.empty() || digests_.of(task.job.path) == line.digest) return Answer::Kept;
        return Answer::Changed;
    }

    /// Whether the row that the task left counts; `line` is the one that is kept otherwise, or null.
    bool take_row(std::size_t number, const Task& task, const io::ResultLine* line) {
        auto row = rows_->find(task.key);
        if (!row || answer_of(*row, task) != Answer::Kept) return false;
        rename_file(*row, task.job.path.string());
        if (line != nullptr && (!supersedes(*row, *line) || adds_nothing(*row, *line))) return false;
        earlier_.kept.push_back({number, earlier_.lines.size(), true});
        earlier_.lines.push_back(std::move(*row));
        return true;
    }

    /// Rows of tasks that this run does not ask for and results.jsonl does not have.
    void find_strays() {
        std::unordered_set<std::uint64_t> known;
        for (std::size_t i = 0; i < plan_.size(); ++i) known.insert(RowFiles::hash_of(plan_.key(i)));
        for (std::size_t i = 0; i < earlier_.journaled; ++i)
            known.insert(RowFiles::hash_of(earlier_.lines[i].key));
        rows_->each([&](std::uint64_t hash) { return !settings_.is_interrupted() && !known.contains(hash); },
                    [&](io::ResultLine line) { earlier_.strays.push_back(std::move(line)); });
        earlier_.others += earlier_.strays.size();
    }

    const Plan& plan_;
    const Settings& settings_;
    Earlier& earlier_;
    std::optional<RowFiles> rows_;
    std::unordered_map<std::string, std::size_t> by_key_;
    Digests digests_;
};

}  // namespace

Earlier earlier_in(const ResultsFolder& folder, const Plan& plan, const Settings& settings) {
    Earlier earlier;
    io::FoundResults found = folder.earlier();
    if (found.damaged > 0) folder.mend(found.lines);
    earlier.damaged = found.damaged;
    earlier.moved = found.moved && found.damaged == 0;
    earlier.lines = std::move(found.lines);
    earlier.others = earlier.journaled = earlier.lines.size();
    Sorting(folder, plan, settings, earlier).sort();
    return earlier;
}

}  // namespace tutti::batch

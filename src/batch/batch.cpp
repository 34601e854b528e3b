#include "batch/batch.hpp"

#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "batch/solu_files.hpp"
#include "batch/summary.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>

namespace tutti::batch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{100};

/// What an earlier run into the same folder left for this one.
struct Legacy {
    std::map<std::size_t, io::ResultLine> kept{};  ///< what still answers its task, by the task's number
    std::vector<io::ResultLine> moved{};           ///< lines whose paths are now others
    std::size_t damaged = 0;                       ///< lines that cannot be read
    std::size_t changed = 0;                       ///< tasks whose files are others
    std::size_t others = 0;                        ///< lines that answer no task of this run
};

bool is_done(const Task& task, const io::ResultLine& line, const Settings& settings) {
    // What went wrong then need not go wrong now.
    if (line.failure == io::Failure::Lost || line.failure == io::Failure::Output) return false;
    if (line.failure == io::Failure::Input && line.digest.empty()) return false;
    if (settings.retry_failed && line.failure != io::Failure::None) return false;
    return line.asked == task.variant.method && line.seed == task.variant.seed &&
           line.asked_heuristic == task.variant.heuristic &&
           line.options == changed_options(task.variant.options);
}

Legacy legacy_of(const std::vector<Task>& tasks, const Settings& settings, const ResultsFolder& folder) {
    Legacy legacy;
    io::FoundResults earlier = folder.earlier();
    legacy.damaged = earlier.damaged;
    if (earlier.damaged > 0) {
        folder.mend(earlier.lines);
    } else if (earlier.moved) {
        legacy.moved = earlier.lines;
    }
    legacy.others = earlier.lines.size();
    std::map<std::string_view, io::ResultLine*> by_key;
    for (io::ResultLine& line : earlier.lines) by_key.emplace(line.key, &line);
    std::map<std::filesystem::path, std::string> digests;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        const auto found = by_key.find(tasks[i].key);
        if (found == by_key.end()) continue;
        --legacy.others;
        if (!is_done(tasks[i], *found->second, settings)) continue;
        // A file that nobody could read then is not read here: this process must not hang.
        const bool unread = found->second->digest.empty();
        std::string& digest = digests[tasks[i].job.path];
        if (digest.empty() && !unread) digest = digest_of(tasks[i].job.path);
        if (unread || digest == found->second->digest) {
            legacy.kept.emplace(i, *found->second);
        } else {
            ++legacy.changed;
        }
    }
    return legacy;
}

/// The work between the first task and the last line.
class Driver {
  public:
    Driver(const std::vector<Task>& tasks, const Settings& settings, Executor& executor,
           const SoluFiles& known, io::ResultJournal& journal, const ProgressView& view)
        : tasks_(tasks),
          settings_(settings),
          executor_(executor),
          known_(known),
          journal_(journal),
          progress_(view, tasks.size()),
          names_(names_of(tasks)),
          rows_(tasks.size()) {}

    void keep(std::map<std::size_t, io::ResultLine> lines) {
        for (auto& [number, line] : lines) {
            Row row{tasks_[number], line, false};
            row.failed = known_.judge(row.task, row.line);
            if (row.line != line) journal_.append(row.line);  // a .solu file has changed
            rows_[number] = std::move(row);
        }
        const auto failed = std::ranges::count_if(rows_, [](const auto& row) { return row && row->failed; });
        progress_.kept(lines.size(), static_cast<std::size_t>(failed));
        kept_ = lines.size();
    }

    void work() {
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (!rows_[i]) waiting_.push_back(i);
        }
        left_ = waiting_.size();
        while (left_ > 0 && !interrupted()) {
            begin_what_fits();
            for (TaskEvent& event : executor_.wait(kBetweenLooks)) take(std::move(event));
            if (unsynced_) journal_.sync();
            unsynced_ = false;
            progress_.tick();
        }
        executor_.stop();
        journal_.sync();
    }

    [[nodiscard]] Outcome outcome() && {
        Outcome outcome;
        outcome.planned = tasks_.size();
        outcome.kept = kept_;
        for (std::optional<Row>& row : rows_) {
            if (row) outcome.rows.push_back(std::move(*row));
        }
        return outcome;
    }

  private:
    [[nodiscard]] bool interrupted() const {
        return settings_.interrupted != nullptr && settings_.interrupted->load();
    }

    /// In order, so that small tasks cannot keep a wide one waiting for ever.
    void begin_what_fits() {
        while (!waiting_.empty() && !interrupted() &&
               executor_.has_room(tasks_[waiting_.front()].variant.threads)) {
            const std::size_t number = waiting_.front();
            waiting_.pop_front();
            progress_.begin(number, names_[number]);
            executor_.begin(number, tasks_[number]);
        }
    }

    void take(TaskEvent event) {
        if (event.kind == TaskEvent::Kind::Ended) {
            end(event.task, std::move(*event.line));
        } else {
            progress_.found(event.task, event.makespan, event.lower_bound);
        }
    }

    void end(std::size_t number, io::ResultLine line) {
        Row row{tasks_[number], std::move(line), false};
        row.failed = known_.judge(row.task, row.line);
        journal_.append(row.line);
        unsynced_ = true;
        progress_.end(number, row.failed ? row.line.error : std::string());
        rows_[number] = std::move(row);
        --left_;
    }

    const std::vector<Task>& tasks_;
    const Settings& settings_;
    Executor& executor_;
    const SoluFiles& known_;
    io::ResultJournal& journal_;
    Progress progress_;
    const std::vector<std::string> names_;
    std::deque<std::size_t> waiting_;
    std::vector<std::optional<Row>> rows_;
    std::size_t left_ = 0, kept_ = 0;
    bool unsynced_ = false;
};

void write_file(const std::string& path, std::string_view text) {
    io::AtomicFile file(path);
    file.write(text);
    file.commit();
}

Legacy prepare(const std::vector<Task>& tasks, const Settings& settings, const ResultsFolder& folder) {
    const auto remark = [&](const std::string& text) {
        if (settings.remark) settings.remark(text);
    };
    Legacy legacy;
    if (settings.resume) {
        if (std::error_code error; std::filesystem::exists(folder.file("run.json"), error)) {
            for (const std::string& difference :
                 differences(read_run_file(folder.file("run.json")), settings.run))
                remark("warning: not as in the run that this one goes on with: " + difference);
        }
        legacy = legacy_of(tasks, settings, folder);
        if (legacy.damaged > 0)
            remark(
                fmt::format("warning: {} of results.jsonl cannot be read: done again; the file is kept as "
                            "results.jsonl.damaged",
                            text::count_text(legacy.damaged, "line")));
        if (legacy.changed > 0)
            remark(fmt::format("the instances of {} changed since the earlier run: solved again",
                               text::count_text(legacy.changed, "task")));
        if (legacy.others > 0)
            remark(fmt::format("{} of other instances or settings stay in results.jsonl and in the report",
                               text::count_text(legacy.others, "row")));
        remark(fmt::format("going on: {} of {} done before", legacy.kept.size(), tasks.size()));
    } else if (const std::string aside = folder.put_aside(); !aside.empty()) {
        remark("the results of an earlier run are now " + aside);
    }
    RunFile run = settings.run;
    run.tasks = tasks.size();
    write_run_file(folder.file("run.json"), run);
    return legacy;
}

}  // namespace

std::size_t Outcome::failures() const {
    return static_cast<std::size_t>(std::ranges::count(rows, true, &Row::failed));
}

Outcome run(const std::vector<Task>& tasks, const Settings& settings, Executor& executor,
            const ProgressView& view) {
    const auto begin = Clock::now();
    const SoluFiles known(tasks);
    const ResultsFolder folder(settings.results);
    folder.sweep();
    Legacy legacy = prepare(tasks, settings, folder);
    io::ResultJournal journal(folder.file("results.jsonl"));
    for (const io::ResultLine& line : legacy.moved) journal.append(line);
    Outcome outcome;
    {
        Driver driver(tasks, settings, executor, known, journal, view);
        std::string cut_short;
        try {
            driver.keep(std::move(legacy.kept));
            driver.work();
        } catch (const OutputError& error) {
            executor.stop();
            cut_short = error.what();
        }
        outcome = std::move(driver).outcome();
        outcome.cut_short = cut_short;
    }
    folder.sweep();
    outcome.problems = known.warnings();
    SoluFiles::Results results;
    for (const Row& row : outcome.rows) results.emplace_back(&row.task, &row.line);
    for (const std::string& news : known.news(results))
        outcome.news.push_back(news + (settings.update_solu ? "; written" : "; --update-solu writes it"));
    if (settings.update_solu) {
        for (std::string& why : known.update(results)) outcome.problems.push_back(std::move(why));
    }
    outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    try {
        write_file(folder.file("table.txt"), table_text(outcome));
    } catch (const OutputError& error) {
        outcome.problems.emplace_back(error.what());
    }
    return outcome;
}

}  // namespace tutti::batch

#include "batch/batch.hpp"

#include "batch/earlier.hpp"
#include "batch/read_run.hpp"
#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "batch/row_files.hpp"
#include "batch/solu_files.hpp"
#include "batch/summary.hpp"
#include "batch/task_list.hpp"
#include "batch/task_locks.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

namespace tutti::batch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{100};
constexpr std::size_t kMostLooks = 2000;  ///< at tasks that other processes may be running

/// The work between the first task and the last line.
class Driver {
  public:
    Driver(const Plan& plan, const Settings& settings, Executor& executor, const SoluFiles& known,
           io::ResultJournal& journal, const ResultsFolder& folder, const ProgressView& view)
        : plan_(plan),
          settings_(settings),
          executor_(executor),
          known_(known),
          journal_(journal),
          progress_(view, plan.size()),
          rows_(plan.size()) {
        if (folder.has_tasks()) shared_.emplace(settings.results);
    }

    void keep(Earlier& earlier) {
        std::size_t failed = 0;
        for (const auto& [number, place, is_new] : earlier.kept) {
            io::ResultLine& line = earlier.lines[place];
            io::ResultLine judged = line;
            const bool is_failure = known_.judge(plan_.job(number), judged);
            if (is_new || judged != line) journal_.append(judged);  // or a .solu file has changed
            add(number, std::move(judged), is_failure);
            line = {};
            failed += is_failure ? 1U : 0U;
        }
        kept_ = earlier.kept.size();
        earlier.lines = {};
        journal_.sync();
        progress_.kept(kept_, failed);
    }

    void work() {
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (!rows_[i]) waiting_.push_back(i);
        }
        left_ = waiting_.size();
        while (left_ > 0 && !settings_.is_interrupted()) {
            begin_what_fits();
            if (running_ == 0) std::this_thread::sleep_for(kBetweenLooks);  // other processes do what is left
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
        outcome.planned = plan_.size();
        outcome.kept = kept_;
        const auto done = [](const std::unique_ptr<Row>& row) { return row != nullptr; };
        outcome.rows.reserve(static_cast<std::size_t>(std::ranges::count_if(rows_, done)));
        for (std::unique_ptr<Row>& row : rows_) {
            if (row) outcome.rows.push_back(std::move(*row));
            row.reset();
        }
        return outcome;
    }

  private:
    /// In order, so that small tasks cannot keep a wide one waiting for ever. What another process is running
    /// goes to the end of the queue; when everything in the queue was such, it is looked at again next time.
    void begin_what_fits() {
        for (std::size_t looks = std::min(waiting_.size(), kMostLooks);
             looks > 0 && !settings_.is_interrupted() && executor_.has_room(plan_.threads()); --looks) {
            const std::size_t number = waiting_.front();
            waiting_.pop_front();
            if (shared_ && !claim(number)) continue;
            progress_.begin(number, plan_.name(number));
            executor_.begin(number, plan_[number]);
            ++running_;
        }
    }

    /// Whether the task is ours to do. If another process has just done it, its row is taken.
    bool claim(std::size_t number) {
        const Task task = plan_[number];
        if (!shared_->locks.lock(task.key)) {
            waiting_.push_back(number);
            return false;
        }
        auto row = shared_->rows.find(task.key);
        if (!row || !settles(*row, task) || (settings_.retry_failed && has_failed(*row))) return true;
        shared_->locks.unlock(task.key);
        rename_file(*row, task.job.path.string());
        progress_.begin(number, plan_.name(number));
        end(number, std::move(*row));
        return false;
    }

    void take(TaskEvent event) {
        if (event.kind == TaskEvent::Kind::Ended) {
            --running_;
            if (shared_) shared_->locks.unlock(plan_.key(event.task));
            end(event.task, std::move(*event.line));
        } else {
            progress_.found(event.task, event.makespan, event.lower_bound);
        }
    }

    void end(std::size_t number, io::ResultLine line) {
        const bool failed = known_.judge(plan_.job(number), line);
        journal_.append(line);
        unsynced_ = true;
        progress_.end(number, failed ? line.error : std::string());
        add(number, std::move(line), failed);
        --left_;
    }

    void add(std::size_t number, io::ResultLine line, bool failed) {
        rows_[number] = std::make_unique<Row>(Row{number, plan_.name(number), std::move(line), failed});
    }

    /// What single tasks of the same folder, in other processes, share with this run.
    struct Shared {
        explicit Shared(const std::string& results) : locks(results), rows(results) {}
        TaskLocks locks;
        RowFiles rows;
    };

    const Plan& plan_;
    const Settings& settings_;
    Executor& executor_;
    const SoluFiles& known_;
    io::ResultJournal& journal_;
    Progress progress_;
    std::deque<std::size_t> waiting_;
    std::vector<std::unique_ptr<Row>> rows_;  ///< by task; none: it is not done
    std::optional<Shared> shared_;
    std::size_t left_ = 0, kept_ = 0, running_ = 0;
    bool unsynced_ = false;
};

void write_file(const std::string& path, std::string_view text) {
    io::AtomicFile file(path);
    file.write(text);
    file.commit();
}

Earlier prepare(const Plan& plan, const Settings& settings, const ResultsFolder& folder) {
    const auto remark = [&](const std::string& text) {
        if (settings.remark) settings.remark(text);
    };
    Earlier earlier;
    if (settings.resume) {
        if (std::error_code error; std::filesystem::exists(folder.file("run.json"), error)) {
            for (const std::string& difference :
                 differences(read_run_file(folder.file("run.json")), settings.run))
                remark("warning: not as in the run that this one goes on with: " + difference);
        }
        earlier = earlier_in(folder, plan, settings);
        if (earlier.damaged > 0)
            remark(
                fmt::format("warning: {} of results.jsonl cannot be read: done again; the file is kept as "
                            "results.jsonl.damaged",
                            text::count_text(earlier.damaged, "line")));
        if (earlier.changed > 0)
            remark(fmt::format("the instances of {} changed since the earlier run: solved again",
                               text::count_text(earlier.changed, "task")));
        if (earlier.others > 0)
            remark(fmt::format("{} of other instances or settings stay in results.jsonl and in the report",
                               text::count_text(earlier.others, "row")));
        remark(fmt::format("going on: {} of {} done before", earlier.kept.size(), plan.size()));
    } else {
        for (const std::string& aside : folder.put_aside())
            remark("the results of an earlier run are now " + aside);
    }
    RunFile run = settings.run;
    run.tasks = plan.size();
    write_run_file(folder.file("run.json"), run);
    return earlier;
}

/// Lines that results.jsonl does not have, or not with paths as seen from here.
void journal_moved(const Earlier& earlier, io::ResultJournal& journal) {
    for (std::size_t i = 0; earlier.moved && i < earlier.journaled; ++i) journal.append(earlier.lines[i]);
    for (const io::ResultLine& line : earlier.strays) journal.append(line);
}

}  // namespace

std::size_t Outcome::failures() const {
    return static_cast<std::size_t>(std::ranges::count(rows, true, &Row::failed));
}

Outcome run(const Plan& plan, const Settings& settings, Executor& executor, const ProgressView& view) {
    const auto begin = Clock::now();
    const SoluFiles known(plan.jobs());
    const ResultsFolder folder(settings.results);
    folder.sweep();
    Earlier earlier = prepare(plan, settings, folder);
    io::ResultJournal journal(folder.file("results.jsonl"));
    journal_moved(earlier, journal);
    Outcome outcome;
    {
        Driver driver(plan, settings, executor, known, journal, folder, view);
        std::string cut_short;
        try {
            driver.keep(earlier);
            if (!settings.collect) driver.work();
        } catch (const OutputError& error) {
            executor.stop();
            cut_short = error.what();
        }
        outcome = std::move(driver).outcome();
        outcome.cut_short = cut_short;
        outcome.collected = settings.collect;
    }
    folder.sweep();
    outcome.problems = known.warnings();
    SoluFiles::Results results;
    for (const Row& row : outcome.rows) results.emplace_back(&plan.job(row.number), &row.line);
    for (const std::string& news : known.news(results))
        outcome.news.push_back(news + (settings.update_solu ? "; written" : "; --update-solu writes it"));
    if (settings.update_solu) {
        for (std::string& why : known.update(results)) outcome.problems.push_back(std::move(why));
    }
    outcome.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    try {
        write_file(folder.file("table.txt"), table_text(outcome).str());
    } catch (const OutputError& error) {
        outcome.problems.emplace_back(error.what());
    }
    return outcome;
}

Listed list_tasks(const Plan& plan, const Settings& settings,
                  const std::function<bool(const std::string& key)>& tell) {
    const SoluFiles known(plan.jobs());  // to refuse now what the last command would refuse
    const ResultsFolder folder(settings.results);
    folder.sweep();
    const Earlier earlier = prepare(plan, settings, folder);
    if (settings.resume) {
        io::ResultJournal journal(folder.file("results.jsonl"));
        journal_moved(earlier, journal);
        for (const Earlier::Kept& kept : earlier.kept) {
            if (kept.is_new) journal.append(earlier.lines[kept.line]);
        }
        journal.sync();
    }
    Listed listed{plan.size(), earlier.kept.size(), settings.is_interrupted()};
    if (listed.interrupted) return listed;
    write_task_list(settings.results, plan, settings.run.limits);
    const RowFiles rows(settings.results);
    auto kept = earlier.kept.begin();
    for (std::size_t i = 0; i < plan.size() && !listed.interrupted; ++i) {
        if (kept != earlier.kept.end() && kept->task == i) {
            ++kept;
            continue;
        }
        const std::string key = plan.key(i);
        if (settings.retry_failed) rows.remove(key);  // or the task would count as done
        listed.interrupted = !tell(key) || settings.is_interrupted();
    }
    return listed;
}

}  // namespace tutti::batch

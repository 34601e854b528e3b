#include "batch/batch.hpp"

#include "batch/earlier.hpp"
#include "batch/results_folder.hpp"
#include "batch/solu_files.hpp"
#include "batch/summary.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>

namespace tutti::batch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenLooks{100};

/// The work between the first task and the last line.
class Driver {
  public:
    Driver(const Plan& plan, const Settings& settings, Executor& executor, const SoluFiles& known,
           io::ResultJournal& journal, const ProgressView& view)
        : plan_(plan),
          settings_(settings),
          executor_(executor),
          known_(known),
          journal_(journal),
          progress_(view, plan.size()),
          rows_(plan.size()) {}

    void keep(Earlier& earlier) {
        std::size_t failed = 0;
        for (const auto& [number, place] : earlier.kept) {
            io::ResultLine& line = earlier.lines[place];
            io::ResultLine judged = line;
            const bool is_failure = known_.judge(plan_.job(number), judged);
            if (judged != line) journal_.append(judged);  // a .solu file has changed
            add(number, std::move(judged), is_failure);
            line = {};
            failed += is_failure ? 1U : 0U;
        }
        kept_ = earlier.kept.size();
        earlier.lines = {};
        progress_.kept(kept_, failed);
    }

    void work() {
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            if (!rows_[i]) waiting_.push_back(i);
        }
        left_ = waiting_.size();
        while (left_ > 0 && !settings_.is_interrupted()) {
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
    /// In order, so that small tasks cannot keep a wide one waiting for ever.
    void begin_what_fits() {
        while (!waiting_.empty() && !settings_.is_interrupted() && executor_.has_room(plan_.threads())) {
            const std::size_t number = waiting_.front();
            waiting_.pop_front();
            progress_.begin(number, plan_.name(number));
            executor_.begin(number, plan_[number]);
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

    const Plan& plan_;
    const Settings& settings_;
    Executor& executor_;
    const SoluFiles& known_;
    io::ResultJournal& journal_;
    Progress progress_;
    std::deque<std::size_t> waiting_;
    std::vector<std::unique_ptr<Row>> rows_;  ///< by task; none: it is not done
    std::size_t left_ = 0, kept_ = 0;
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
    } else if (const std::string aside = folder.put_aside(); !aside.empty()) {
        remark("the results of an earlier run are now " + aside);
    }
    RunFile run = settings.run;
    run.tasks = plan.size();
    write_run_file(folder.file("run.json"), run);
    return earlier;
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
    if (earlier.moved) {
        for (const io::ResultLine& line : earlier.lines) journal.append(line);
    }
    Outcome outcome;
    {
        Driver driver(plan, settings, executor, known, journal, view);
        std::string cut_short;
        try {
            driver.keep(earlier);
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

}  // namespace tutti::batch

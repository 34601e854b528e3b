#include "batch/batch.hpp"

#include "batch/figures.hpp"
#include "batch/known_values.hpp"
#include "batch/memory.hpp"
#include "batch/result_line.hpp"
#include "batch/schedule_output.hpp"
#include "batch/summary.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/instance_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <thread>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

bool raised(const std::atomic<bool>* flag) { return flag != nullptr && flag->load(); }

void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && !fs::is_directory(folder, error)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) throw InputError("the folder cannot be made: " + error.message(), {}, folder.string());
}

fs::path schedule_stem(const Job& job, const Settings& settings) {
    fs::path folder = fs::path(settings.results) / "schedules";
    for (const fs::path& part : fs::path(job.family)) folder /= file_name_of(part.string());
    return folder / file_name_of(job.name);
}

void synthesize_into(io::ResultLine& line, const Job& job, const Settings& settings) {
    const Instance instance = io::read_instance(job.path.string());
    line.instance = instance.name();
    synth::Request request;
    request.method = settings.method;
    request.seed = settings.seed;
    request.threads = settings.threads;
    request.memory_bytes = settings.memory_limit;
    request.stop =
        Stop(settings.time_limit ? std::optional(std::chrono::duration<double>(*settings.time_limit))
                                 : std::nullopt,
             settings.interrupted);
    const fs::path stem = schedule_stem(job, settings);
    make_folder(stem.parent_path());
    ScheduleOutput output(instance, {.stem = stem.string()});
    request.tap = [&output](SendSource& sends) { return output.tap(sends); };
    const synth::Result result = synth::synthesize(instance, request);
    enter(line, result);
    line.schedule = output.write(result);
}

/// A .solu file knows instances by name, so it cannot speak of two that have the same.
void drop_shared_names(std::vector<io::ResultLine>& lines) {
    std::map<std::string, int> uses;
    for (const io::ResultLine& line : lines) ++uses[line.instance];
    std::erase_if(lines, [&](const io::ResultLine& line) { return uses[line.instance] > 1; });
}

/// The .solu files of the jobs' folders, each read once.
class SoluFiles {
  public:
    explicit SoluFiles(const std::vector<Job>& jobs) {
        for (const Job& job : jobs) {
            const fs::path path = solu_path(job.path.parent_path());
            const auto [file, added] = files_.try_emplace(path.string());
            if (!added || !fs::exists(path)) continue;
            file->second.entries = io::read_solu(path.string());
            file->second.values = known_values(file->second.entries);
        }
    }

    void judge(Row& row) const {
        const KnownValues& values = files_.at(solu_path(row.job.path.parent_path()).string()).values;
        const auto known = values.find(row.line.instance);
        row.failed = !row.line.error.empty();
        if (known == values.end()) return;
        if (const auto complaint = contradiction(row.line, known->second)) {
            row.line.error = *complaint;
            row.failed = true;
        } else if (row.line.status == Status::Infeasible && known->second.infeasible) {
            row.failed = false;
        }
    }

    void update(const std::vector<Row>& rows) const {
        std::map<std::string, std::vector<io::ResultLine>> results;
        for (const Row& row : rows)
            results[solu_path(row.job.path.parent_path()).string()].push_back(row.line);
        for (auto& [path, lines] : results) {
            drop_shared_names(lines);
            const auto entries = updated(files_.at(path).entries, lines);
            if (entries != files_.at(path).entries) io::write_solu(path, entries);
        }
    }

  private:
    struct File {
        std::vector<io::SoluEntry> entries;
        KnownValues values;
    };
    std::map<std::string, File> files_;
};

/// Workers take jobs in order and hand their results to the one thread that writes and talks.
class Pool {
  public:
    struct News {
        std::size_t job;
        bool finished;                       ///< else it has just begun
        std::optional<io::ResultLine> line;  ///< of a finished job, unless it was interrupted
    };

    Pool(const std::vector<Job>& jobs, const Settings& settings) : jobs_(jobs), settings_(settings) {
        const std::size_t count =
            std::clamp<std::size_t>(settings.jobs, 1, std::max<std::size_t>(jobs.size(), 1));
        working_ = count;
        for (std::size_t i = 0; i < count; ++i) workers_.emplace_back([this] { work(); });
    }
    /// An exception on the way out must not have to wait for all the other jobs.
    ~Pool() { next_ = jobs_.size(); }

    /// What happened next, if anything does within the time. `over` when nothing will happen any more.
    std::optional<News> wait(std::chrono::milliseconds time, bool& over) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, time, [&] { return !news_.empty() || working_ == 0; });
        over = news_.empty() && working_ == 0;
        if (news_.empty()) return std::nullopt;
        News first = std::move(news_.front());
        news_.pop_front();
        return first;
    }

  private:
    void work() {
        for (std::size_t job = next_++; job < jobs_.size() && !raised(settings_.interrupted); job = next_++) {
            tell({job, false, std::nullopt});
            tell({job, true, solve(jobs_[job], settings_)});
        }
        const std::lock_guard lock(mutex_);
        --working_;
        changed_.notify_one();
    }

    void tell(News news) {
        const std::lock_guard lock(mutex_);
        news_.push_back(std::move(news));
        changed_.notify_one();
    }

    const std::vector<Job>& jobs_;
    const Settings& settings_;
    std::atomic<std::size_t> next_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<News> news_;
    std::size_t working_ = 0;
    std::vector<std::jthread> workers_;  ///< last: they use all of the above until they are joined
};

void write_file(const fs::path& path, std::string_view text) {
    io::AtomicFile file(path.string());
    file.write(text);
    file.commit();
}

}  // namespace

std::size_t Outcome::failures() const {
    return static_cast<std::size_t>(std::ranges::count(rows, true, &Row::failed));
}

std::optional<io::ResultLine> solve(const Job& job, const Settings& settings) {
    // With several jobs at a time, the peak is that of all of them.
    if (settings.jobs == 1) forget_peak_memory();
    const auto begin = Clock::now();
    io::ResultLine line;
    line.instance = job.name;
    line.file = job.path.string();
    line.method = settings.method;
    line.seed = settings.seed;
    try {
        synthesize_into(line, job, settings);
    } catch (const InfeasibleError& error) {
        line.status = Status::Infeasible;
        line.error = error.what();
    } catch (const LimitError& error) {
        if (raised(settings.interrupted)) return std::nullopt;
        line.error = error.what();
    } catch (const InputError& error) {
        line.error = error.what();
    } catch (const std::bad_alloc&) {
        line.error = "out of memory";
    } catch (const std::exception& error) {
        line.error = fmt::format("a bug in tutti: {} (to see it again: tutti synth {} --method {} --seed {})",
                                 error.what(), job.path.string(), settings.method, settings.seed);
    }
    line.seconds = seconds_since(begin);
    line.peak_memory_bytes = peak_memory_bytes();
    return line;
}

Outcome run(const std::vector<Job>& jobs, const Settings& settings, const ProgressView& view) {
    const auto begin = Clock::now();
    const SoluFiles known(jobs);
    const fs::path folder(settings.results);
    make_folder(folder);
    write_file(folder / "results.jsonl", "");
    io::ResultJournal journal((folder / "results.jsonl").string());

    std::vector<std::optional<Row>> rows(jobs.size());
    {
        Progress progress(view, jobs.size());
        Pool pool(jobs, settings);
        for (bool over = false; !over;) {
            const auto news = pool.wait(std::chrono::milliseconds(100), over);
            if (!news) {
                progress.tick();
            } else if (!news->finished) {
                progress.working_on(jobs[news->job].label());
            } else if (news->line) {
                Row row{jobs[news->job], *news->line, false};
                known.judge(row);
                journal.append(row.line);
                progress.done(row.failed);
                rows[news->job] = std::move(row);
            }
        }
    }

    Outcome outcome;
    outcome.planned = jobs.size();
    for (std::optional<Row>& row : rows) {
        if (row) outcome.rows.push_back(std::move(*row));
    }
    outcome.seconds = seconds_since(begin);
    write_file(folder / "table.txt", table_text(outcome));
    if (settings.update_solu) known.update(outcome.rows);
    return outcome;
}

}  // namespace tutti::batch

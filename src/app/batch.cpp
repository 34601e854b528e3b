#include "app/batch.hpp"

#include "app/solve.hpp"
#include "batch/cluster/cluster_executor.hpp"
#include "batch/cluster/worker.hpp"
#include "batch/expand.hpp"
#include "batch/local_executor.hpp"
#include "batch/result_line.hpp"
#include "batch/summary.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "report/report.hpp"

#include <fmt/chrono.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// What the run file says, and where the command line says otherwise, that.
batch::RunFile overruled(batch::RunFile run, const BatchOptions::Asked& asked) {
    const auto list = [](auto& values, const auto& wanted) {
        if (!wanted.empty()) values.assign(wanted.begin(), wanted.end());
    };
    list(run.instances, asked.paths);
    if (!asked.paths.empty()) run.set.clear();
    if (asked.set) run.set = *asked.set;
    list(run.matrix.methods, asked.methods);
    list(run.matrix.chunks, asked.chunks);
    list(run.matrix.seeds, asked.seeds);
    if (!asked.bytes.empty()) run.matrix.bytes.clear();
    for (const std::int64_t bytes : asked.bytes) run.matrix.bytes.push_back({bytes});
    run.matrix.threads = asked.threads.value_or(run.matrix.threads);
    if (asked.jobs) run.jobs = asked.jobs;
    if (asked.time_limit) run.limits.time = asked.time_limit;
    if (asked.memory_limit) run.limits.memory = asked.memory_limit;
    if (asked.shard) run.shard = batch::Shard{asked.shard->first, asked.shard->second};
    return run;
}

/// A run file, or that of the run to go on with, if nothing else says what to do.
batch::RunFile run_of(const BatchOptions& options) {
    if (options.run) return overruled(batch::read_run_file(*options.run), options.asked);
    const std::string stored = (fs::path(options.results) / "run.json").string();
    const bool says_nothing = options.asked.paths.empty() && !options.asked.set;
    if (!options.resume || !says_nothing) return overruled({}, options.asked);
    if (std::error_code error; !fs::exists(stored, error)) {
        throw InputError("there is no run to go on with, and no path says what to run", {}, stored);
    }
    return overruled(batch::read_run_file(stored), options.asked);
}

std::vector<batch::Task> tasks_of(const batch::RunFile& run) {
    std::vector<batch::Job> jobs;
    if (run.set.empty()) {
        if (run.instances.empty()) throw InputError("the run names no instances; say which with PATH...");
        jobs = batch::expand(run.instances);
    } else {
        const auto set = batch::read_test_set(run.set);
        jobs =
            run.instances.empty() ? batch::expand(set) : batch::restricted(batch::expand(run.instances), set);
        if (jobs.empty()) throw InputError("lists none of the instances that were given", {}, run.set);
    }
    auto tasks = batch::tasks_of(jobs, run.matrix);
    return run.shard ? batch::shard_of(std::move(tasks), *run.shard) : tasks;
}

std::string default_results() {
    return fmt::format("results/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

/// The page is a convenience: what keeps it from being made is told, and no failure of the run.
void make_report(const std::string& results, const std::function<void(const std::string&)>& note) {
    constexpr double kMostSeconds = 30;
    report::ReportOptions page;
    page.instance = [](const io::ResultLine& line) { return batch::instance_of(batch::task_of(line)); };
    page.stop = Stop(Stop::Seconds(kMostSeconds));
    try {
        note(fmt::format("a page to look at: {}", report::write_report(results, {}, page).path));
    } catch (const std::exception& error) {
        note(fmt::format("warning: the report could not be made: {}", error.what()));
    }
}

/// Makes each task last that many seconds longer, so that tests can meet it at work.
batch::Work work_of_process() {
    const char* slow = std::getenv("TUTTI_TEST_SLOW");
    if (slow == nullptr) return solve;
    return [wait = std::chrono::duration<double>(std::strtod(slow, nullptr))](auto&&... arguments) {
        std::this_thread::sleep_for(wait);
        return solve(arguments...);
    };
}

std::unique_ptr<batch::Executor> executor_for(const batch::cluster::Ranks& ranks,
                                              const batch::Settings& settings) {
    const batch::RunFile& run = settings.run;
    if (ranks.size == 1 && !ranks.follow_parent) {
        const unsigned cores = run.jobs.value_or(std::max(1U, std::thread::hardware_concurrency()));
        return std::make_unique<batch::LocalExecutor>(
            batch::LocalExecutor::Settings{settings.results, run.limits, cores, work_of_process()});
    }
    auto executor =
        std::make_unique<batch::cluster::ClusterExecutor>(batch::cluster::ClusterExecutor::Settings{
            ranks, settings.results, run.limits, run.jobs, work_of_process()});
    executor->on_remark(settings.remark);
    return executor;
}

batch::cluster::Ranks ranks_of_process() {
    return batch::cluster::ranks_in([](const char* name) { return std::getenv(name); });
}

}  // namespace

std::optional<bool> serve_as_rank(const BatchOptions& options, const Watch& watch, std::ostream& err) {
    const auto ranks = ranks_of_process();
    if (ranks.rank == 0) return std::nullopt;
    if (options.results.empty()) return true;  // the first rank complains
    batch::cluster::Service service{ranks, options.results, watch.interrupted, work_of_process()};
    service.err = &err;
    return batch::cluster::serve(service) == batch::cluster::Served::ToTheEnd;
}

BatchRun batch(const BatchOptions& options, const batch::ProgressView& progress, const Watch& watch) {
    const auto ranks = ranks_of_process();
    if (ranks.size > 1 && options.results.empty())
        throw InputError("several ranks need a folder of results that all of them know: give one with -o");
    batch::Settings settings;
    settings.results = options.results.empty() ? default_results() : options.results;
    settings.run = run_of(options);
    settings.resume = options.resume;
    settings.retry_failed = options.retry_failed;
    settings.update_solu = options.update_solu;
    settings.interrupted = watch.interrupted;
    settings.remark = watch.say;

    // Before anything can be refused: the other ranks hear of an end only from an executor.
    const auto executor = executor_for(ranks, settings);
    const auto tasks = tasks_of(settings.run);
    BatchRun run{batch::run(tasks, settings, *executor, progress), settings.results};
    return run;
}

void write_report(const BatchRun& run, const Watch& watch) {
    make_report(run.results, [&](const std::string& text) {
        if (watch.say) watch.say(text);
    });
}

io::Json json_of(const BatchRun& run) {
    io::Json json = batch::outcome_json(run.outcome);
    json["results_folder"] = run.results;
    return json;
}

}  // namespace tutti::app

#include "app/batch.hpp"

#include "app/page_bounds.hpp"
#include "app/solve.hpp"
#include "batch/executor.hpp"
#include "batch/expand.hpp"
#include "batch/result_line.hpp"
#include "batch/summary.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "report/report.hpp"

#include <fmt/chrono.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <thread>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// The run file, with the options that the command line overrides.
batch::RunFile overruled(batch::RunFile run, const BatchOptions::Asked& asked) {
    const auto list = [](auto& values, const auto& wanted) {
        if (!wanted.empty()) values.assign(wanted.begin(), wanted.end());
    };
    list(run.instances, asked.paths);
    if (!asked.paths.empty()) run.set.clear();
    if (asked.set) run.set = *asked.set;
    list(run.matrix.methods, asked.methods);
    list(run.matrix.heuristics, asked.heuristics);
    for (const auto& [name, value] : asked.options) find_search_option(name)->set(run.matrix.options, value);
    list(run.matrix.chunks, asked.chunks);
    list(run.matrix.seeds, asked.seeds);
    if (!asked.bytes.empty()) run.matrix.bytes.clear();
    for (const std::int64_t bytes : asked.bytes) run.matrix.bytes.push_back({bytes});
    for (const std::string& method : run.matrix.methods) {
        if (!run.matrix.heuristics.empty() && method != "auto" && method != "greedy")
            throw InputError(fmt::format("the method {} asks solvers, and a heuristic runs alone", method));
    }
    run.matrix.threads = asked.threads.value_or(run.matrix.threads);
    if (asked.jobs) run.jobs = asked.jobs;
    if (asked.time_limit) run.limits.time = asked.time_limit;
    if (asked.memory_limit) run.limits.memory = asked.memory_limit;
    if (asked.shard) run.shard = batch::Shard{asked.shard->first, asked.shard->second};
    return run;
}

/// The given run file, or that of the run to resume if nothing else is given.
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

batch::Plan plan_of(const batch::RunFile& run, const Stop& stop) {
    std::vector<batch::Job> jobs;
    if (run.set.empty()) {
        if (run.instances.empty()) throw InputError("the run names no instances; say which with PATH...");
        jobs = batch::expand(run.instances, stop);
    } else {
        const auto set = batch::read_test_set(run.set);
        jobs = run.instances.empty() ? batch::expand(set, stop)
                                     : batch::restricted(batch::expand(run.instances, stop), set);
        if (jobs.empty()) throw InputError("lists none of the instances that were given", {}, run.set);
    }
    return {std::move(jobs), run.matrix, run.shard.value_or(batch::Shard())};
}

std::string default_results() {
    return fmt::format("results/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

/// The page is a convenience: an error while making it is noted, and is no failure of the run.
void make_report(const std::string& results, const std::function<void(const std::string&)>& note) {
    constexpr double kMostSeconds = 30;
    report::ReportOptions page;
    page.instance = [](const io::ResultLine& line) { return batch::instance_of(batch::task_of(line)); };
    page.stop = Stop(Stop::Seconds(kMostSeconds));
    page.bounds = page_bounds;
    try {
        note(fmt::format("a page to look at: {}", report::write_report(results, {}, page).path));
    } catch (const std::exception& error) {
        note(fmt::format("warning: the report could not be made: {}", error.what()));
    }
}

batch::Settings settings_of(const BatchOptions& options, const Watch& watch) {
    batch::Settings settings;
    settings.results = options.results.empty() ? default_results() : options.results;
    settings.run = run_of(options);
    settings.resume = options.resume;
    settings.retry_failed = options.retry_failed;
    settings.collect = options.collect;
    settings.update_solu = options.update_solu;
    settings.interrupted = watch.interrupted;
    settings.remark = watch.say;
    return settings;
}

}  // namespace

BatchRun batch(const BatchOptions& options, const batch::ProgressView& progress, const Watch& watch) {
    const batch::Settings settings = settings_of(options, watch);
    const batch::Plan plan = plan_of(settings.run, watch.stop());
    if (watch.was_interrupted()) return {{.unplanned = true}, settings.results};
    const unsigned cores = settings.run.jobs.value_or(std::max(1U, std::thread::hardware_concurrency()));
    batch::Executor executor({settings.results, settings.run.limits, cores, solve});
    return {batch::run(plan, settings, executor, progress), settings.results};
}

batch::Listed list_tasks(const BatchOptions& options, const std::function<bool(const std::string& key)>& tell,
                         const Watch& watch) {
    const batch::Settings settings = settings_of(options, watch);
    const batch::Plan plan = plan_of(settings.run, watch.stop());
    if (watch.was_interrupted()) return {.interrupted = true};
    return batch::list_tasks(plan, settings, tell);
}

batch::SingleTask run_task(const std::string& results, const std::string& key, const Watch& watch) {
    return batch::run_single_task(results, key, solve, watch.stop());
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

#include "batch/batch.hpp"

#include "batch/expand.hpp"
#include "batch/summary.hpp"
#include "cli/run.hpp"
#include "cli/terminal.hpp"
#include "core/error.hpp"
#include "io/json_text.hpp"

#include <fmt/chrono.h>

#include <ctime>

namespace tutti::cli {
namespace {

std::vector<batch::Job> jobs_of(const BatchOptions& options) {
    if (options.set.empty()) return batch::expand(options.paths);
    const auto set = batch::read_test_set(options.set);
    if (options.paths.empty()) return batch::expand(set);
    auto jobs = batch::restricted(batch::expand(options.paths), set);
    if (jobs.empty()) throw InputError("lists none of the instances that were given", {}, options.set);
    return jobs;
}

std::string default_results() {
    return fmt::format("results/{:%Y%m%d-%H%M%S}", fmt::localtime(std::time(nullptr)));
}

batch::Settings settings_of(const BatchOptions& options, const Process& process) {
    batch::Settings settings;
    settings.results = options.results.empty() ? default_results() : options.results;
    settings.method = options.method;
    settings.seed = options.seed;
    settings.threads = options.threads;
    settings.jobs = options.jobs;
    settings.time_limit = options.time_limit;
    settings.memory_limit = options.memory_limit;
    settings.update_solu = options.update_solu;
    settings.interrupted = process.interrupted;
    return settings;
}

batch::ProgressView view_of(const BatchOptions& options, const Streams& streams) {
    using Kind = batch::ProgressView::Kind;
    batch::ProgressView view;
    view.kind = options.quiet ? Kind::Silent : streams.terminal_err ? Kind::Bar : Kind::Lines;
    view.out = &streams.err;
    view.columns = terminal_columns;
    return view;
}

}  // namespace

ExitCode run_batch(const BatchOptions& options, const Process& process) {
    const batch::Settings settings = settings_of(options, process);
    const auto jobs = jobs_of(options);
    const batch::Outcome outcome = batch::run(jobs, settings, view_of(options, process.streams));
    const ExitCode code = !outcome.complete()      ? ExitCode::Interrupted
                          : outcome.failures() > 0 ? ExitCode::Failed
                                                   : ExitCode::Done;
    if (options.json) {
        io::Json json = batch::outcome_json(outcome);
        json["results_folder"] = settings.results;
        json["exit_code"] = static_cast<int>(code);
        process.streams.out << io::json_line(json) << '\n';
    } else {
        process.streams.out << batch::table_text(outcome);
    }
    if (!options.quiet) process.streams.err << "results are in " << settings.results << '\n';
    return code;
}

}  // namespace tutti::cli

#include "app/solve.hpp"

#include "app/library_schedules.hpp"
#include "app/result_facts.hpp"
#include "app/schedule_output.hpp"
#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "io/instance_json.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <system_error>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using batch::Limits;
using batch::Task;
using batch::TaskListener;

/// At this share of its memory limit a search ends with the best schedule so far, before it is killed.
std::optional<std::size_t> soft_limit(const Limits& limits) {
    if (!limits.memory) return std::nullopt;
    return static_cast<std::size_t>(*limits.memory - *limits.memory / 8);
}

void fail(io::ResultLine& line, io::Failure failure, const std::string& error) {
    line.failure = failure;
    line.error = error;
    // If there was a schedule, it was not written.
    line.makespan.reset();
    line.collectives.clear();
    line.algbw_GBps.reset();
    line.busbw_GBps.reset();
    line.verified = false;
    if (line.status != Status::Infeasible) line.status = Status::Unknown;
}

/// As the command takes it: " --chunks 2 --bytes 1024".
std::string options_of(const Variation& variation) {
    std::string options;
    if (variation.chunks) options += fmt::format(" --chunks {}", *variation.chunks);
    if (variation.bytes) options += fmt::format(" --bytes {}", variation.bytes->count);
    return options;
}

/// Calls `work`; an exception becomes a failure in the line.
template <class Work>
void guarded(io::ResultLine& line, const Task& task, const Work& work) {
    try {
        work();
    } catch (const InfeasibleError& error) {
        line.status = Status::Infeasible;
        fail(line, io::Failure::Infeasible, error.what());
    } catch (const LimitError& error) {
        line.stopped = true;
        fail(line, io::Failure::Limit, error.what());
    } catch (const OutputError& error) {
        fail(line, io::Failure::Output, error.what());
    } catch (const InputError& error) {
        fail(line, io::Failure::Input, error.what());
    } catch (const std::bad_alloc&) {
        fail(line, io::Failure::Memory, "out of memory: more than this machine or its limits let it have");
    } catch (const std::system_error& error) {
        // The system cannot start a thread.
        fail(line, io::Failure::Limit, error.what());
    } catch (const std::exception& error) {
        fail(line, io::Failure::Bug,
             fmt::format("a bug in tutti: {} (to see it again: tutti synth {} --method {} --seed {}{})",
                         error.what(), task.job.path.string(), task.variant.method, task.variant.seed,
                         options_of(task.variant.variation())));
    }
}

/// Solves one task and fills in its line.
class Solving {
  public:
    Solving(const Task& task, const std::string& results, const Limits& limits, const TaskListener& listener)
        : task_(task),
          stem_(fs::path(results) / task.stem),
          limits_(limits),
          listener_(listener),
          line_(batch::line_of(task, limits)) {}

    io::ResultLine line() {
        guarded(line_, task_, [this] { synthesize(); });
        return signed_now(line_);
    }

  private:
    void synthesize() {
        const Stop stop(limits_.time ? std::optional(Stop::Seconds(*limits_.time)) : std::nullopt);
        line_.digest = batch::digest_of(task_.job.path);
        if (listener_.digested) listener_.digested(line_.digest);
        const Instance instance = batch::instance_of(task_);
        const batch::Variant& variant = task_.variant;
        enter(line_, instance, variant.variation());
        batch::make_folder(stem_.parent_path());
        if (variant.variation().any()) io::save_instance(stem_.string() + ".instance.json", instance);
        ScheduleOutput output(instance, {.stem = stem_.string()});
        synth::Request request;
        request.method = variant.method;
        request.heuristic = variant.heuristic;
        request.options = variant.options;
        request.seed = variant.seed;
        request.threads = variant.threads;
        request.memory_bytes = soft_limit(limits_);
        request.stop = stop;
        request.found = listener_.found;
        request.proposals = propose_library;
        request.tap = [&output](SendSource& sends) { return output.tap(sends); };
        const synth::Result result = synth::synthesize(instance, request);
        enter(line_, instance, result);
        line_.schedule = output.write(result);
    }

    [[nodiscard]] io::ResultLine signed_now(io::ResultLine line) const {
        line.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
        batch::sign(line);
        return line;
    }

    const Task& task_;
    const fs::path stem_;
    const Limits& limits_;
    const TaskListener& listener_;
    const Clock::time_point begin_ = Clock::now();
    io::ResultLine line_;
};

}  // namespace

io::ResultLine solve(const Task& task, const std::string& results, const Limits& limits,
                     const TaskListener& listener) {
    return Solving(task, results, limits, listener).line();
}

}  // namespace tutti::app

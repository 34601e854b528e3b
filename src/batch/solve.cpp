#include "batch/solve.hpp"

#include "batch/call.hpp"
#include "batch/result_line.hpp"
#include "batch/results_folder.hpp"
#include "batch/schedule_output.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <new>
#include <system_error>

namespace tutti::batch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Beyond this part of what it may have, a search ends with the best so far, before it is killed.
std::optional<std::size_t> soft_limit(const Limits& limits) {
    if (!limits.memory) return std::nullopt;
    return static_cast<std::size_t>(*limits.memory - *limits.memory / 8);
}

/// What was solved is not what the file says, and whoever verifies the schedule needs it.
void write_instance(const Instance& instance, const std::string& path) {
    io::AtomicFile file(path);
    file.write(io::json_page(io::write_instance(instance)));
    file.commit();
}

void synthesize_into(io::ResultLine& line, const Task& task, const std::string& results, const Limits& limits,
                     const OnFound& found) {
    const Stop stop(limits.time ? std::optional(Stop::Seconds(*limits.time)) : std::nullopt);
    const Instance instance = instance_of(task);
    enter(line, instance);
    if (task.variant.bytes) line.bytes = static_cast<std::uint64_t>(task.variant.bytes->count);
    synth::Request request;
    request.method = task.variant.method;
    request.seed = task.variant.seed;
    request.threads = task.variant.threads;
    request.memory_bytes = soft_limit(limits);
    request.stop = stop;
    request.found = found;
    const fs::path stem = fs::path(results) / task.stem;
    make_folder(stem.parent_path());
    if (task.variant.chunks || task.variant.bytes) write_instance(instance, stem.string() + ".instance.json");
    ScheduleOutput output(instance, {.stem = stem.string()});
    request.tap = [&output](SendSource& sends) { return output.tap(sends); };
    const synth::Result result = synth::synthesize(instance, request);
    enter(line, result);
    line.schedule = output.write(result);
    enter_bandwidths(line);
}

void fail(io::ResultLine& line, io::Failure failure, const std::string& error) {
    line.failure = failure;
    line.error = error;
    // Nobody has the schedule, if there was one.
    line.makespan.reset();
    line.verified = false;
    if (line.status != Status::Infeasible) line.status = Status::Unknown;
}

}  // namespace

io::ResultLine solve(const Task& task, const std::string& results, const Limits& limits,
                     const OnFound& found) {
    const auto begin = Clock::now();
    io::ResultLine line = line_of(task, limits);
    try {
        synthesize_into(line, task, results, limits, found);
    } catch (const InfeasibleError& error) {
        line.status = Status::Infeasible;
        fail(line, io::Failure::Infeasible, error.what());
    } catch (const LimitError& error) {
        line.stopped = true;
        fail(line, io::Failure::Limit, error.what());
    } catch (const InputError& error) {
        fail(line, io::Failure::Input, error.what());
    } catch (const std::bad_alloc&) {
        fail(line, io::Failure::Memory, "out of memory: more than this machine or its limits let it have");
    } catch (const std::system_error& error) {
        // Threads that the system refuses to give.
        fail(line, io::Failure::Limit, error.what());
    } catch (const std::exception& error) {
        fail(line, io::Failure::Bug,
             fmt::format("a bug in tutti: {} (to see it again: tutti synth {} --method {} --seed {})",
                         error.what(), task.job.path.string(), task.variant.method, task.variant.seed));
    }
    line.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    sign(line);
    return line;
}

}  // namespace tutti::batch

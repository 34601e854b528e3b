#include "batch/memory.hpp"
#include "batch/result_line.hpp"
#include "batch/schedule_output.hpp"
#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/output_check.hpp"
#include "cli/run.hpp"
#include "io/bound_json.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/result_jsonl.hpp"
#include "synth/baselines.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <chrono>
#include <new>

namespace tutti::cli {
namespace {

batch::OutputOptions output_options(const SynthOptions& options, const Instance& instance) {
    return {options.output, text::file_name_of(instance.name()), options.format, options.expand};
}

synth::Request request_of(const SynthOptions& options, const Process& process, Heartbeat& heartbeat,
                          batch::ScheduleOutput& output) {
    synth::Request request;
    request.tap = [&output](SendSource& sends) { return output.tap(sends); };
    request.method = options.method;
    request.heuristic = options.heuristic;
    request.options = options.options;
    request.seed = options.seed;
    request.threads = options.threads;
    request.memory_bytes = options.memory_limit;
    request.stop = Stop(
        options.time_limit ? std::optional(std::chrono::duration<double>(*options.time_limit)) : std::nullopt,
        process.interrupted);
    if (!options.quiet) {
        request.story = [&heartbeat, colours = process.streams.colour_err](const std::string& line) {
            heartbeat.say(toned(Tone::Quiet, line, colours));
        };
    }
    return request;
}

std::string text_of(const synth::Baseline& baseline, Units units) {
    return baseline.makespan
               ? text::ticks_text(*baseline.makespan, units)
               : fmt::format("{}: {}", baseline.infeasible ? "impossible" : "not found", baseline.why_not);
}

io::Json json_of(const synth::Baseline& baseline) {
    io::Json json{{"makespan", nullptr}};
    if (baseline.makespan) json["makespan"] = baseline.makespan->count();
    if (!baseline.why_not.empty()) json["why_not"] = baseline.why_not;
    return json;
}

std::string summary(const io::ResultLine& line, const std::optional<synth::Baselines>& baselines, Units units,
                    bool colours) {
    const auto ticks = [&](const std::optional<Ticks>& value) {
        return text::ticks_text(value.value_or(Ticks(0)), units);
    };
    const std::string status(name_of(line.status));
    std::vector<std::pair<std::string, std::string>> facts{
        {"instance", line.instance},
        {"method", line.method},
        {"status", line.status == Status::Optimal ? toned(Tone::Good, status, colours) : status},
        {"makespan", ticks(line.makespan)},
        {"bound", fmt::format("{}, {}", ticks(line.lower_bound), line.bound_kind)},
        {"gap", text::gap_text(line.gap())},
        {"proof", line.proof.empty() ? "-" : line.proof},
        {"sends", std::to_string(line.sends)},
        {"verified", line.verified ? "yes" : "no"},
        {"seconds", text::seconds_text(line.seconds)},
        {"schedule", line.schedule == "-" ? "standard output" : line.schedule}};
    if (line.composed) {
        facts.emplace_back("composed", fmt::format("{} is the optimum as reduce-scatter, then all-gather",
                                                   ticks(line.composed)));
    }
    if (baselines) {
        facts.emplace_back("members only", text_of(baselines->members_only, units));
        facts.emplace_back("one after another", text_of(baselines->one_after_another, units));
    }
    if (line.stopped)
        facts.emplace_back("search", "stopped by a limit or an interrupt; a longer one may find more");
    return text::fact_sheet(facts);
}

/// Tells what was found and written.
ExitCode tell(io::ResultLine line, const synth::Result& result,
              const std::optional<synth::Baselines>& baselines, Units units, const SynthOptions& options,
              const Process& process) {
    batch::enter(line, result);
    line.peak_memory_bytes = batch::peak_memory_bytes();
    const Streams& streams = process.streams;
    if (options.json) {
        io::Json object = io::result_json(line);
        object["certificate"] = io::bound_json(result.bound)["certificate"];
        if (baselines) {
            object["baselines"] = {{"members_only", json_of(baselines->members_only)},
                                   {"one_after_another", json_of(baselines->one_after_another)}};
        }
        streams.out << io::json_line(object) << '\n';
    } else if (line.schedule != "-") {
        streams.out << summary(line, baselines, units, streams.colour_out);
    } else if (!options.quiet) {
        streams.err << summary(line, baselines, units, streams.colour_err);
    }
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    return interrupted && result.stopped ? ExitCode::Interrupted : ExitCode::Done;
}

/// There is no schedule. The JSON object then has its usual keys, and the error.
ExitCode refuse(io::ResultLine line, Status status, Failure failure, bool json, const Process& process) {
    const bool interrupted = process.interrupted != nullptr && process.interrupted->load();
    if (failure.code == ExitCode::LimitReached && interrupted) {
        failure.code = ExitCode::Interrupted;
        failure.message = "interrupted: " + failure.message;
    }
    line.status = status;
    line.peak_memory_bytes = batch::peak_memory_bytes();
    if (json) {
        io::Json object = io::result_json(line);
        object.update(failure_json(failure));
        process.streams.out << io::json_line(object) << '\n';
    }
    report(failure, {}, process.streams);
    return failure.code;
}

}  // namespace

ExitCode run_synth(const SynthOptions& options, const Process& process) {
    const Instance instance = io::read_instance(options.instance);
    io::ResultLine line;
    line.instance = instance.name();
    line.file = options.instance;
    line.method = options.method;
    batch::ScheduleOutput output(instance, output_options(options, instance));
    check_output(output.path(), options.instance);
    line.seed = options.seed;
    line.options = changed_options(options.options);

    const auto begin = std::chrono::steady_clock::now();
    const auto no_schedule = [&](Status status) {
        line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return refuse(line, status, failure_of(std::current_exception()), options.json, process);
    };
    const Units units = instance.topology().units();
    synth::Result result;
    std::optional<synth::Baselines> baselines;
    try {
        Streams streams = process.streams;
        streams.terminal_err = streams.terminal_err && !options.quiet;
        Heartbeat heartbeat(streams);
        synth::Request request = request_of(options, process, heartbeat, output);
        if (process.leave && !options.baselines) {
            request.abandon = [&](const synth::Result& best) {
                heartbeat.end();
                try {
                    line.schedule = output.write(best, Stop(std::nullopt, process.interrupted));
                    process.leave(tell(line, best, {}, units, options, process));
                } catch (...) {
                    const Failure failure = failure_of(std::current_exception());
                    report(failure, {}, process.streams);
                    process.leave(failure.code);
                }
            };
        }
        with_reproducer(instance, [&] {
            result = synth::synthesize(instance, request);
            if (options.baselines) {
                // They have the quick search's time, whatever the schedule itself took.
                synth::Request quick = request;
                quick.stop = Stop(std::nullopt, process.interrupted);
                baselines = synth::baselines(instance, quick);
            }
            // A time limit is one of the search.
            line.schedule = output.write(result, Stop(std::nullopt, process.interrupted));
        });
    } catch (const InputError& error) {
        throw error.file().empty() ? error.in_file(options.instance) : error;
    } catch (const InfeasibleError&) {
        return no_schedule(Status::Infeasible);
    } catch (const LimitError&) {
        return no_schedule(Status::Unknown);
    } catch (const std::bad_alloc&) {
        return no_schedule(Status::Unknown);
    }
    return tell(std::move(line), result, baselines, units, options, process);
}

}  // namespace tutti::cli

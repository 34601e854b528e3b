#include "app/synthesize.hpp"

#include "app/bug.hpp"
#include "app/library_schedules.hpp"
#include "app/memory.hpp"
#include "app/output_check.hpp"
#include "app/result_facts.hpp"
#include "io/bound_json.hpp"
#include "io/instance_json.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <chrono>
#include <new>

namespace tutti::app {
namespace {

synth::Request request_of(const SynthesisOptions& options, const Watch& watch, ScheduleOutput& output) {
    synth::Request request;
    request.tap = [&output](SendSource& sends) { return output.tap(sends); };
    request.method = options.method;
    request.heuristic = options.heuristic;
    request.options = options.options;
    request.seed = options.seed;
    request.threads = options.threads;
    request.memory_bytes = options.memory_limit;
    request.stop = watch.stop(options.time_limit);
    request.story = watch.say;
    request.proposals = propose_library;
    return request;
}

/// What the schedule's file is called if nobody says: with what was varied, as files of a batch are.
std::string stem_of(const Instance& instance, const Variation& variation) {
    std::string stem = text::file_name_of(instance.name());
    if (variation.chunks) stem += fmt::format("_chunks={}", *variation.chunks);
    if (variation.bytes) stem += fmt::format("_bytes={}", variation.bytes->count);
    return stem;
}

io::Json baseline_json(const synth::Baseline& baseline) {
    io::Json json{{"makespan", nullptr}};
    if (baseline.makespan) json["makespan"] = baseline.makespan->count();
    if (!baseline.why_not.empty()) json["why_not"] = baseline.why_not;
    return json;
}

/// Calls `work`; where there is no schedule, enters why.
template <class Work>
void answered(Synthesized& answer, const Work& work) {
    const auto begin = std::chrono::steady_clock::now();
    const auto none = [&](Status status, std::string why) {
        answer.line.status = status;
        answer.line.error = std::move(why);
        answer.line.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    try {
        work();
    } catch (const InfeasibleError& error) {
        none(Status::Infeasible, error.what());
    } catch (const LimitError& error) {
        none(Status::Unknown, error.what());
    } catch (const std::bad_alloc&) {
        none(Status::Unknown, "out of memory: the instance is too large for this machine or its limits");
    }
}

}  // namespace

Synthesized synthesize(const SynthesisOptions& options, const Watch& watch) {
    const Instance instance = io::read_instance(options.instance, options.variation, watch.stop());
    ScheduleOutput output(
        instance, {options.output, stem_of(instance, options.variation), options.format, options.expand});
    check_output(output.path(), options.instance);
    Synthesized answer;
    if (options.variation.any() && output.path() != "-") {
        answer.instance_file = instance_beside(output.path());
        check_output(answer.instance_file, options.instance, "the one that is solved");
    }
    answer.units = instance.topology().units();
    enter(answer.line, instance, options.variation);
    answer.line.file = options.instance;
    answer.line.method = options.method;
    answer.line.seed = options.seed;
    answer.line.options = changed_options(options.options);
    try {
        answered(answer, [&] {
            with_instance(instance, [&] {
                const synth::Request request = request_of(options, watch, output);
                synth::Result result = synth::synthesize(instance, request);
                if (options.baselines) {
                    // Baselines get the time of the quick search, whatever the schedule itself took.
                    synth::Request quick = request;
                    quick.stop = watch.stop();
                    answer.baselines = synth::baselines(instance, quick);
                }
                // First, so that the schedule never exists without its instance.
                if (!answer.instance_file.empty()) io::save_instance(answer.instance_file, instance);
                // The time limit applies to the search, not to writing.
                answer.line.schedule = output.write(result, watch.stop());
                enter(answer.line, instance, result);
                answer.result = std::move(result);
            });
        });
    } catch (const InputError& error) {
        throw error.file().empty() ? error.in_file(options.instance) : error;
    }
    answer.line.peak_memory_bytes = peak_memory_bytes();
    return answer;
}

io::Json json_of(const Synthesized& synthesized) {
    io::Json json = io::result_json(synthesized.line);
    if (!synthesized.instance_file.empty()) json["instance_file"] = synthesized.instance_file;
    if (synthesized.result) json["certificate"] = io::bound_json(synthesized.result->bound)["certificate"];
    if (synthesized.baselines) {
        json["baselines"] = {{"members_only", baseline_json(synthesized.baselines->members_only)},
                             {"one_after_another", baseline_json(synthesized.baselines->one_after_another)}};
    }
    return json;
}

}  // namespace tutti::app

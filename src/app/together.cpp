#include "app/together.hpp"

#include "app/bug.hpp"
#include "io/instance_json.hpp"
#include "synth/synthesize.hpp"

#include <fmt/format.h>

#include <chrono>

namespace tutti::app {
namespace {

/// Of each search, unless a limit says otherwise: beyond it a few per cent are still to be had, seldom more.
constexpr double kSecondsOfEachRun = 10;

Together::Run searched_run(const Instance& instance, std::string name, const Stop& stop, double seconds) {
    synth::Request request;
    request.stop = stop.within(Stop::Seconds(seconds));
    synth::Result result = with_instance(instance, [&] { return synth::synthesize(instance, request); });
    return {std::move(name), result.schedule.makespan, std::move(result.bound)};
}

InstanceParts only_collective(const Instance& instance, std::size_t collective) {
    return {.name = instance.collectives()[collective].id,
            .topology = instance.topology().parts(),
            .groups = instance.groups(),
            .collectives = {instance.collectives()[collective]}};
}

io::Json run_json(const Together::Run& run) {
    return {{"name", run.name},
            {"makespan", run.makespan.count()},
            {"lower_bound", run.bound.value.count()},
            {"bound_kind", run.bound.kind}};
}

}  // namespace

Ticks Together::apart() const {
    Ticks sum;
    for (const Run& run : alone) sum += run.makespan;
    return sum;
}

Ticks Together::apart_at_least() const {
    Ticks sum;
    for (const Run& run : alone) sum += run.bound.value;
    return sum;
}

bool Together::is_proven() const {
    return pays() ? both.makespan < apart_at_least() : both.bound.value >= apart();
}

Together together(const TogetherOptions& options, const Watch& watch) {
    const auto begin = std::chrono::steady_clock::now();
    const Stop stop = watch.stop(options.time_limit);
    const Instance instance = io::read_instance(options.instance, {}, stop);
    const std::size_t count = instance.collectives().size();
    if (count < 2) {
        throw InputError(fmt::format("expected at least two collectives, found {}", count), "/collectives",
                         options.instance);
    }
    const double each =
        options.time_limit ? *options.time_limit / static_cast<double>(count + 1) : kSecondsOfEachRun;
    Together made{.instance = instance.name(), .units = instance.topology().units(), .alone = {}, .both = {}};
    for (std::size_t c = 0; c < count; ++c) {
        const std::string& id = instance.collectives()[c].id;
        if (watch.say) watch.say(fmt::format("alone    {}", id));
        made.alone.push_back(searched_run(Instance(only_collective(instance, c)), id, stop, each));
    }
    if (watch.say) watch.say(fmt::format("together {} collectives", count));
    made.both = searched_run(instance, "together", stop, each);
    made.stopped = stop.requested();
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return made;
}

io::Json json_of(const Together& together) {
    io::Json alone = io::Json::array();
    for (const Together::Run& run : together.alone) alone.push_back(run_json(run));
    return {{"instance", together.instance},
            {"alone", std::move(alone)},
            {"apart", together.apart().count()},
            {"apart_at_least", together.apart_at_least().count()},
            {"together", together.both.makespan.count()},
            {"lower_bound", together.both.bound.value.count()},
            {"bound_kind", together.both.bound.kind},
            {"pays", together.pays()},
            {"proven", together.is_proven()},
            {"seconds", together.seconds}};
}

}  // namespace tutti::app

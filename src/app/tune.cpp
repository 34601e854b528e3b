#include "app/tune.hpp"

#include "app/page_bounds.hpp"
#include "app/scheduled_program.hpp"
#include "app/tune_files.hpp"
#include "app/tune_measure.hpp"
#include "core/outcome.hpp"
#include "io/atomic_file.hpp"
#include "io/device_json.hpp"
#include "io/tensor_json.hpp"
#include "io/tensor_schedule_json.hpp"
#include "io/tensor_schedule_text.hpp"
#include "io/topology_file.hpp"
#include "rewrite/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

/// A schedule of one call is mostly there at once; heuristics that could go on get so long, and of a limited
/// search at most this share.
constexpr double kSecondsEach = 0.3, kShareEach = 0.04;
constexpr double kSecondsRefine = 5;

std::vector<std::string> step_lines(const std::vector<tensor::Step>& steps) {
    std::vector<std::string> lines;
    for (const tensor::Step& step : steps) lines.push_back(io::tensor_step_text(step));
    return lines;
}

std::vector<TunedCall> calls_of(const tune::Prediction& prediction, tune::CallSchedules& calls) {
    std::vector<TunedCall> list;
    for (const tune::Call& call : prediction.calls) {
        const tune::CallSchedule& made = calls.of(call);
        TunedCall one{.call = call,
                      .words = tune::words_of(calls.mesh(), call),
                      .axes = {},
                      .chunks = made.chunks,
                      .makespan = made.makespan,
                      .lower_bound = made.bound.value,
                      .method = made.method};
        for (const tensor::AxisId axis : call.axes) one.axes.push_back(calls.mesh().name(axis));
        list.push_back(std::move(one));
    }
    return list;
}

/// A rate that the device has not is missing in its file.
template <class Work>
auto with_device(const std::string& file, const Work& work) {
    try {
        return work();
    } catch (const InputError& error) {
        const bool is_rate = error.place().starts_with("/") && error.file().empty();
        if (is_rate && std::string_view(error.place()).find('/', 1) == std::string_view::npos)
            throw error.in_file(file);
        throw;
    }
}

void measure(TuneAnswer& answer, const tensor::Program& program, const Topology& topology,
             tune::CallSchedules& calls, std::size_t count, const Watch& watch) {
    TuneMeasure measure(program, topology, calls, watch);
    const auto us = [&](const tensor::Program& form, const char* what) {
        if (watch.say) watch.say(fmt::format("measure  {}", what));
        return measure.us(form);
    };
    answer.measured_us.resize(answer.result.schedules.size());
    answer.unscheduled_measured_us = us(program, "the program as written");
    for (std::size_t i = 0; i < std::min(count, answer.measured_us.size()); ++i)
        answer.measured_us[i] = us(answer.result.schedules[i].program, "a schedule");
    answer.not_measured = measure.why();
}

double tuning_seconds(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

TuneAnswer tune(const TuneOptions& options, const Watch& watch) {
    const auto begin = std::chrono::steady_clock::now();
    const Stop stop = watch.stop(options.time_limit);
    const tensor::Program program = at_sizes(io::read_tensor_program(options.program, stop), options.sizes);
    const Topology topology = io::read_topology_file(options.topology);
    const tensor::Device device = io::read_device(options.device);
    if (!options.output.empty()) make_folder(options.output);
    const double seconds_each =
        options.time_limit ? std::min(kSecondsEach, kShareEach * *options.time_limit) : kSecondsEach;
    tune::CallSchedules calls = [&] {
        try {
            return tune::CallSchedules(topology, program.mesh(), stop, watch.say, seconds_each);
        } catch (const InputError& error) {
            throw error.file().empty() ? error.in_file(options.topology) : error;
        }
    }();
    tune::TuneRequest request;
    request.pieces = options.pieces;
    if (options.memory_GB) request.most_state_bytes = *options.memory_GB * 1e9;
    request.top = options.top;
    request.stop = stop;
    request.say = watch.say;
    request.seconds_refine = kSecondsRefine;
    TuneAnswer answer{
        .program = program.name(),
        .device = device.name,
        .ranks = program.mesh().ranks(),
        .result = with_device(options.device, [&] { return tune::tune(program, device, calls, request); })};
    for (const tune::Tuned& one : answer.result.schedules) answer.steps.push_back(step_lines(one.steps));
    if (!answer.result.schedules.empty()) {
        answer.collectives = calls_of(answer.result.schedules.front().prediction, calls);
    }
    answer.seconds = tuning_seconds(begin);
    if (options.measure > 0) measure(answer, program, topology, calls, options.measure, watch);
    if (!options.output.empty() && !answer.result.schedules.empty()) {
        const fs::path folder(options.output);
        const tune::Tuned& best = answer.result.schedules.front();
        write_calls(folder / "collectives", "collectives", calls, answer.collectives, stop);
        io::save_tensor_program((folder / "program.json").string(), best.program);
        io::save_tensor_schedule((folder / "schedule.json").string(),
                                 {program.name(), best.steps, best.prediction.us});
        answer.timeline = (folder / "timeline.html").string();
        (void)write_timeline_page(answer.timeline, answer);
        io::write_file((folder / "tune.json").string(), io::json_page(json_of(answer)));
    }
    return answer;
}

io::Json json_of(const TuneAnswer& answer) {
    io::Json schedules = io::Json::array();
    const auto number_or_null = [](const std::optional<double>& us) {
        return us ? io::Json(*us) : io::Json(nullptr);
    };
    for (std::size_t i = 0; i < answer.result.schedules.size(); ++i) {
        const tune::Tuned& one = answer.result.schedules[i];
        io::Json steps = io::Json::array();
        for (const tensor::Step& step : one.steps) steps.push_back(io::write_tensor_step(step));
        schedules.push_back(
            {{"steps", std::move(steps)},
             {"predicted_us", one.prediction.us},
             {"state_bytes", one.prediction.state_bytes},
             {"wire_bytes", one.prediction.wire_bytes},
             {"kernels", one.prediction.kernels},
             {"measured_us",
              i < answer.measured_us.size() ? number_or_null(answer.measured_us[i]) : io::Json(nullptr)}});
    }
    io::Json collectives = io::Json::array();
    for (const TunedCall& one : answer.collectives) {
        const std::optional<double> gap = tutti::gap(one.makespan, one.lower_bound);
        const auto file = [](const std::string& name) {
            return name.empty() ? io::Json(nullptr) : io::Json(name);
        };
        collectives.push_back({{"op", name_of(one.call.op)},
                               {"axes", one.axes},
                               {"bytes", one.call.bytes},
                               {"pieces", one.call.pieces},
                               {"chunks", one.chunks},
                               {"makespan", one.makespan.count()},
                               {"lower_bound", one.lower_bound.count()},
                               {"gap", gap ? io::Json(*gap) : io::Json(nullptr)},
                               {"method", one.method},
                               {"instance", file(one.instance)},
                               {"schedule", file(one.schedule)},
                               {"page", file(one.page)}});
    }
    return {{"program", answer.program},
            {"device", answer.device},
            {"unscheduled_us", answer.result.unscheduled.us},
            {"unscheduled_measured_us", number_or_null(answer.unscheduled_measured_us)},
            {"programs", answer.result.programs},
            {"tried", answer.result.tried},
            {"schedules", std::move(schedules)},
            {"best", answer.result.schedules.empty() ? io::Json(nullptr) : io::Json(0)},
            {"collectives", std::move(collectives)},
            {"timeline", answer.timeline.empty() ? io::Json(nullptr) : io::Json(answer.timeline)},
            {"stopped", answer.result.stopped},
            {"seconds", answer.seconds}};
}

Timeline timeline(const TimelineOptions& options, const Watch& watch) {
    const auto begin = std::chrono::steady_clock::now();
    const Stop stop = watch.stop(options.time_limit);
    const tensor::Program program = io::read_tensor_program(options.program, stop);
    const auto [schedule, transformed] = scheduled_program(program, options.program, options.schedule, stop);
    const Topology topology = io::read_topology_file(options.topology);
    const tensor::Device device = io::read_device(options.device);
    tune::CallSchedules calls(topology, program.mesh(), stop, watch.say, kSecondsEach);
    Timeline made;
    made.answer.program = program.name();
    made.answer.device = device.name;
    made.answer.ranks = program.mesh().ranks();
    made.answer.result.unscheduled =
        with_device(options.device, [&] { return tune::predict(program, device, calls); });
    made.answer.result.schedules.push_back(
        {schedule.steps, transformed,
         tune::predict(transformed, device, calls, {.bars = true, .joint = false})});
    made.answer.steps.push_back(step_lines(schedule.steps));
    made.answer.collectives = calls_of(made.answer.result.schedules.front().prediction, calls);
    const fs::path page = options.output.empty()
                              ? fs::path(fs::path(options.schedule).stem().string() + ".html")
                              : fs::path(options.output);
    const std::string folder = page.stem().string() + "-collectives";
    write_calls(page.parent_path() / folder, folder, calls, made.answer.collectives, stop);
    made.page = page.string();
    made.answer.seconds = tuning_seconds(begin);
    made.bytes = write_timeline_page(made.page, made.answer);
    return made;
}

}  // namespace tutti::app

#include "app/pareto.hpp"

#include "app/bug.hpp"
#include "core/expects.hpp"
#include "io/instance_json.hpp"
#include "io/schedule_json.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace tutti::app {
namespace {

using synth::ParetoPoint;

models::ParetoRequest request_of(const ParetoOptions& options, const Watch& watch) {
    models::ParetoRequest request;
    request.max_steps = options.max_steps;
    request.max_chunks = options.max_chunks;
    request.max_rounds = options.max_rounds;
    request.k = options.k;
    request.backend = options.backend;
    request.seconds = options.time_limit;
    request.interrupted = watch.interrupted;
    request.threads = options.threads;
    request.seed = options.seed;
    request.story = watch.say;
    return request;
}

/// Creates the folder if necessary. Called before the search, so that errors come early.
void make_output_folder(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw InputError("cannot be made: " + error.message(), {}, folder);
    if (!std::filesystem::is_directory(folder)) throw InputError("expected a folder", {}, folder);
}

/// Writes the algorithm by rounds and in ticks; without a folder the names are empty.
ParetoFiles write_point(const std::string& folder, const ParetoPoint& point) {
    if (folder.empty()) return {};
    const Instance& instance = point.rounds.realised.instance;
    const std::string stem = (std::filesystem::path(folder) / text::file_name_of(instance.name())).string();
    ParetoFiles files{stem + ".json", stem + ".schedule.json", stem + ".ticks.json",
                      stem + ".ticks.schedule.json"};
    io::save_instance(files.instance, instance);
    io::write_schedule_json(files.schedule, point.rounds.realised.schedule);
    io::save_instance(files.ticks_instance, point.ticks.instance);
    io::write_schedule_json(files.ticks_schedule, point.ticks.schedule);
    return files;
}

template <class Search>
auto searched(const Instance& instance, const ParetoOptions& options, const Search& search) {
    try {
        return with_instance(instance, search);
    } catch (const InputError& error) {
        throw error.file().empty() ? error.in_file(options.instance) : error;
    }
}

io::Json point_json(const ParetoPoint& point, const ParetoFiles& files) {
    const Schedule& ticks = point.ticks.schedule;
    io::Json json{{"steps", point.point.steps},
                  {"rounds", point.point.rounds},
                  {"chunks", point.point.chunks},
                  {"chunks_per_node", point.sccl_chunks},
                  {"rounds_per_chunk", text_of(point.ratio)},
                  {"proven", point.proven},
                  {"latency_optimal", point.latency_optimal},
                  {"bandwidth_optimal", point.bandwidth_optimal},
                  {"makespan", ticks.makespan.count()},
                  {"sends", ticks.sends.size()},
                  {"verified", true},
                  {"by", point.by},
                  {"seconds", point.seconds}};
    if (!files.instance.empty()) {
        json["instance"] = files.instance;
        json["schedule"] = files.schedule;
        json["ticks_instance"] = files.ticks_instance;
        json["ticks_schedule"] = files.ticks_schedule;
    }
    return json;
}

}  // namespace

ParetoFrontier pareto(const ParetoOptions& options, const Watch& watch) {
    expects(!options.point);
    ParetoFrontier frontier{io::read_instance(options.instance, {}, watch.stop())};
    make_output_folder(options.output);
    frontier.result = searched(frontier.instance, options,
                               [&] { return synth::pareto(frontier.instance, request_of(options, watch)); });
    for (const ParetoPoint& point : frontier.result.points)
        frontier.files.push_back(write_point(options.output, point));
    return frontier;
}

ParetoAnswer pareto_point(const ParetoOptions& options, const Watch& watch) {
    expects(options.point.has_value());
    ParetoAnswer answer{io::read_instance(options.instance, {}, watch.stop())};
    make_output_folder(options.output);
    const auto& [steps, rounds, chunks] = options.point.value();
    const models::StepPoint point{steps, rounds, chunks};
    answer.result = searched(answer.instance, options, [&] {
        return synth::pareto_point(answer.instance, point, request_of(options, watch));
    });
    if (answer.result.found) answer.files = write_point(options.output, *answer.result.found);
    return answer;
}

io::Json json_of(const ParetoFrontier& frontier) {
    const synth::ParetoResult& result = frontier.result;
    io::Json json{{"instance", frontier.instance.name()},
                  {"collective", name_of(frontier.instance.collectives().front().kind)},
                  {"composition", result.composition},
                  {"fewest_steps", result.fewest_steps},
                  {"least_rounds_per_chunk", text_of(result.least_ratio)},
                  {"max_chunks", result.max_chunks},
                  {"complete", result.complete},
                  {"end", result.end},
                  {"refuted", result.refuted}};
    io::Json& points = json["points"] = io::Json::array();
    for (std::size_t i = 0; i < frontier.files.size(); ++i)
        points.push_back(point_json(result.points[i], frontier.files[i]));
    io::Json& undecided = json["undecided"] = io::Json::array();
    for (const models::PointAnswer& answer : result.undecided) {
        undecided.push_back({{"steps", answer.point.steps},
                             {"rounds", answer.point.rounds},
                             {"chunks", answer.point.chunks}});
    }
    json["seconds"] = result.seconds;
    return json;
}

io::Json json_of(const ParetoAnswer& answer, const std::array<int, 3>& point) {
    const auto& [steps, rounds, chunks] = point;
    const synth::PointResult& result = answer.result;
    io::Json json{{"instance", answer.instance.name()},
                  {"collective", name_of(answer.instance.collectives().front().kind)},
                  {"composition", result.composition},
                  {"steps", steps},
                  {"rounds", rounds},
                  {"chunks", chunks},
                  {"status", name_of(result.decision)},
                  {"by", result.by},
                  {"argument", result.words},
                  {"seconds", result.seconds}};
    if (result.found) json["point"] = point_json(*result.found, answer.files);
    return json;
}

std::string text_of(models::Ratio ratio) {
    return ratio.den == 1 ? std::to_string(ratio.num) : fmt::format("{}/{}", ratio.num, ratio.den);
}

std::string_view name_of(models::Decision decision) {
    switch (decision) {
        case models::Decision::Feasible:
            return "feasible";
        case models::Decision::Infeasible:
            return "infeasible";
        case models::Decision::Undecided:
            break;
    }
    return "unknown";
}

}  // namespace tutti::app

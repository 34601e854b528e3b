#include "synth/pareto.hpp"
#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/run.hpp"
#include "io/instance_json.hpp"
#include "io/json_text.hpp"
#include "io/schedule_json.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <filesystem>
#include <system_error>

namespace tutti::cli {
namespace {

using models::Decision;
using models::Ratio;
using synth::ParetoPoint;

std::string text_of(Ratio ratio) {
    return ratio.den == 1 ? std::to_string(ratio.num) : fmt::format("{}/{}", ratio.num, ratio.den);
}

models::ParetoRequest request_of(const ParetoOptions& options, const Process& process, Heartbeat& heartbeat) {
    models::ParetoRequest request;
    request.max_steps = options.max_steps;
    request.max_chunks = options.max_chunks;
    request.max_rounds = options.max_rounds;
    request.k = options.k;
    request.backend = options.backend;
    request.seconds = options.time_limit;
    request.interrupted = process.interrupted;
    request.threads = options.threads;
    request.seed = options.seed;
    if (!options.quiet) {
        request.story = [&heartbeat, colours = process.streams.colour_err](const std::string& line) {
            heartbeat.say(toned(Tone::Quiet, line, colours));
        };
    }
    return request;
}

/// The folder, made if need be: found out before the search, not after it.
void prepare(const std::string& folder) {
    if (folder.empty()) return;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw InputError("cannot be made: " + error.message(), {}, folder);
    if (!std::filesystem::is_directory(folder)) throw InputError("expected a folder", {}, folder);
}

struct Files {
    std::string instance, schedule, ticks_instance, ticks_schedule;
};

/// Writes the algorithm both ways; empty names without a folder.
Files write(const std::string& folder, const ParetoPoint& point) {
    if (folder.empty()) return {};
    const Instance& instance = point.rounds.realised.instance;
    const std::string stem = (std::filesystem::path(folder) / text::file_name_of(instance.name())).string();
    Files files{stem + ".json", stem + ".schedule.json", stem + ".ticks.json", stem + ".ticks.schedule.json"};
    io::save_instance(files.instance, instance);
    io::write_schedule_json(files.schedule, point.rounds.realised.schedule);
    io::save_instance(files.ticks_instance, point.ticks.instance);
    io::write_schedule_json(files.ticks_schedule, point.ticks.schedule);
    return files;
}

std::string marks_of(const ParetoPoint& point) {
    std::string marks;
    const auto add = [&](bool is, const char* mark) {
        if (is) marks += fmt::format("{}{}", marks.empty() ? "" : ", ", mark);
    };
    add(point.latency_optimal, "latency-optimal");
    add(point.bandwidth_optimal, "bandwidth-optimal");
    add(!point.proven, "better ones undecided");
    return marks;
}

io::Json point_json(const ParetoPoint& point, const Files& files) {
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

std::string table_of(const std::vector<ParetoPoint>& points, Units units) {
    using text::Align;
    text::Table table({{"steps", text::Align::Right},
                       {"rounds", text::Align::Right},
                       {"chunks", text::Align::Right},
                       {"C per node", text::Align::Right},
                       {"R/C", text::Align::Right},
                       {"sends", text::Align::Right},
                       {units == Units::Physical ? "makespan (ps)" : "makespan", text::Align::Right},
                       {"seconds", text::Align::Right},
                       {"verified"},
                       {"remarks"}});
    for (const ParetoPoint& point : points) {
        table.add({std::to_string(point.point.steps), std::to_string(point.point.rounds),
                   std::to_string(point.point.chunks), std::to_string(point.sccl_chunks),
                   text_of(point.ratio), std::to_string(point.ticks.schedule.sends.size()),
                   std::to_string(point.ticks.schedule.makespan.count()), text::seconds_text(point.seconds),
                   "yes", marks_of(point)});
    }
    return table.text();
}

bool was_interrupted(const Process& process) {
    return process.interrupted != nullptr && process.interrupted->load();
}

ExitCode exit_code(bool decided, const Process& process) {
    if (decided) return ExitCode::Done;
    return was_interrupted(process) ? ExitCode::Interrupted : ExitCode::LimitReached;
}

ExitCode show(const synth::ParetoResult& result, const Instance& instance, const ParetoOptions& options,
              const Process& process) {
    std::vector<Files> files;
    for (const ParetoPoint& point : result.points) files.push_back(write(options.output, point));
    const ExitCode code = exit_code(result.complete, process);
    std::ostream& out = process.streams.out;
    if (options.json) {
        io::Json json{{"instance", instance.name()},
                      {"collective", name_of(instance.collectives().front().kind)},
                      {"composition", result.composition},
                      {"fewest_steps", result.fewest_steps},
                      {"least_rounds_per_chunk", text_of(result.least_ratio)},
                      {"max_chunks", result.max_chunks},
                      {"complete", result.complete},
                      {"end", result.end},
                      {"refuted", result.refuted}};
        io::Json& points = json["points"] = io::Json::array();
        for (std::size_t i = 0; i < files.size(); ++i)
            points.push_back(point_json(result.points[i], files[i]));
        io::Json& undecided = json["undecided"] = io::Json::array();
        for (const models::PointAnswer& answer : result.undecided) {
            undecided.push_back({{"steps", answer.point.steps},
                                 {"rounds", answer.point.rounds},
                                 {"chunks", answer.point.chunks}});
        }
        json["seconds"] = result.seconds;
        json["exit_code"] = static_cast<int>(code);
        out << io::json_line(json) << '\n';
        return code;
    }
    std::vector<std::pair<std::string, std::string>> facts{
        {"instance", instance.name()},
        {"collective",
         fmt::format("{}{}", name_of(instance.collectives().front().kind),
                     result.composition ? ", as composition: reduce-scatter, then all-gather" : "")},
        {"bounds", fmt::format("S >= {}, R/C >= {}", result.fewest_steps, text_of(result.least_ratio))},
        {"proof", result.complete ? result.end : "incomplete: " + result.end},
        {"refuted", text::count_text(result.refuted, "point")},
        {"seconds", text::seconds_text(result.seconds)}};
    if (!result.undecided.empty())
        facts.emplace_back("undecided", text::count_text(result.undecided.size(), "point"));
    if (!options.output.empty()) facts.emplace_back("written to", options.output);
    out << text::fact_sheet(facts) << '\n' << table_of(result.points, instance.topology().units());
    return code;
}

ExitCode show(const synth::PointResult& result, const Instance& instance, const ParetoOptions& options,
              const Process& process) {
    const auto& [steps, rounds, chunks] = *options.point;
    const ExitCode code = exit_code(result.decision != Decision::Undecided, process);
    const std::string_view status = result.decision == Decision::Feasible     ? "feasible"
                                    : result.decision == Decision::Infeasible ? "infeasible"
                                                                              : "unknown";
    const Files files = result.found ? write(options.output, *result.found) : Files{};
    std::ostream& out = process.streams.out;
    if (options.json) {
        io::Json json{{"instance", instance.name()},
                      {"collective", name_of(instance.collectives().front().kind)},
                      {"composition", result.composition},
                      {"steps", steps},
                      {"rounds", rounds},
                      {"chunks", chunks},
                      {"status", status},
                      {"by", result.by},
                      {"argument", result.words},
                      {"seconds", result.seconds}};
        if (result.found) json["point"] = point_json(*result.found, files);
        json["exit_code"] = static_cast<int>(code);
        out << io::json_line(json) << '\n';
        return code;
    }
    const std::string how = result.decision == Decision::Infeasible ? ", proven" : "";
    std::vector<std::pair<std::string, std::string>> facts{
        {"instance", instance.name()},
        {"collective",
         fmt::format("{}{}", name_of(instance.collectives().front().kind),
                     result.composition ? ", as composition: reduce-scatter, then all-gather" : "")},
        {"point", fmt::format("S={} R={} C={}", steps, rounds, chunks)},
        {"status", fmt::format("{}{}", status, how)},
        {"by", result.by}};
    if (!result.words.empty())
        facts.emplace_back(result.decision == Decision::Infeasible ? "because" : "remark", result.words);
    facts.emplace_back("seconds", text::seconds_text(result.seconds));
    if (result.found) facts.emplace_back("verified", "yes");
    if (!files.schedule.empty()) facts.emplace_back("schedule", files.schedule);
    out << text::fact_sheet(facts);
    return code;
}

}  // namespace

ExitCode run_pareto(const ParetoOptions& options, const Process& process) {
    const Instance instance = io::read_instance(options.instance);
    prepare(options.output);
    Streams streams = process.streams;
    streams.terminal_err = streams.terminal_err && !options.quiet;
    const auto searched = [&](const auto& search) {
        try {
            Heartbeat heartbeat(streams);
            return with_reproducer(instance, [&] { return search(request_of(options, process, heartbeat)); });
        } catch (const InputError& error) {
            throw error.file().empty() ? error.in_file(options.instance) : error;
        }
    };
    if (options.point) {
        const models::StepPoint point{(*options.point)[0], (*options.point)[1], (*options.point)[2]};
        const auto result =
            searched([&](const auto& request) { return synth::pareto_point(instance, point, request); });
        return show(result, instance, options, process);
    }
    const auto result = searched([&](const auto& request) { return synth::pareto(instance, request); });
    return show(result, instance, options, process);
}

}  // namespace tutti::cli

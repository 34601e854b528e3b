#include "app/pareto.hpp"

#include "app/doctor.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <boost/program_options.hpp>

#include <array>
#include <charconv>

namespace tutti::cli {
namespace {

using models::Decision;
using synth::ParetoPoint;

/// The largest number of steps, rounds and chunks: far more than can be solved, and nothing overflows.
constexpr int kMostParetoSize = 10'000;

/// "S,R,C": three whole numbers of at least 1.
std::optional<std::array<int, 3>> point_of(const Values& values) {
    const auto text = values.text("point");
    if (!text) return std::nullopt;
    std::array<int, 3> point{};
    const char* at = text->data();
    const char* const end = at + text->size();
    for (std::size_t i = 0; i < point.size(); ++i) {
        const auto [stop, error] = std::from_chars(at, end, point[i]);
        const bool ends_well = i + 1 < point.size() ? stop != end && *stop == ',' : stop == end;
        if (error != std::errc() || point[i] < 1 || point[i] > kMostParetoSize || !ends_well) {
            values.refuse(
                fmt::format("option --point: expected steps,rounds,chunks, each from 1 to {}, found '{}'",
                            kMostParetoSize, *text));
        }
        at = stop + 1;
    }
    return point;
}

app::ParetoOptions pareto_options(const Values& values) {
    app::ParetoOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    const auto limit = [&](const char* name, int least) -> std::optional<int> {
        if (!values.flag(name)) return std::nullopt;
        return values.number<int>(name, least, least, kMostParetoSize);
    };
    options.max_steps = limit("max-steps", 1);
    options.max_chunks = limit("max-chunks", 1);
    options.max_rounds = limit("max-rounds", 1);
    options.k = limit("k", 0);
    options.point = point_of(values);
    if (options.point && (options.max_steps || options.max_chunks || options.max_rounds || options.k)) {
        values.refuse("--point asks about one point; limits of the enumeration have no effect beside it");
    }
    Names backends{"auto"};
    for (const std::string_view name : app::solver_names()) backends.push_back(name);
    options.backend = std::string(backends[values.choice("backend", backends)]);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    return options;
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

text::SafeText table_of(const std::vector<ParetoPoint>& points, Units units) {
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
                   app::text_of(point.ratio), std::to_string(point.ticks.schedule.sends.size()),
                   std::to_string(point.ticks.schedule.makespan.count()), text::seconds_text(point.seconds),
                   "yes", marks_of(point)});
    }
    return table.text();
}

ExitCode code_of(bool decided, const Process& process) {
    if (decided) return ExitCode::Done;
    return process.was_interrupted() ? ExitCode::Interrupted : ExitCode::LimitReached;
}

std::string collective_text(const Instance& instance, bool composition) {
    return fmt::format("{}{}", name_of(instance.collectives().front().kind),
                       composition ? ", as composition: reduce-scatter, then all-gather" : "");
}

void print_json(io::Json json, ExitCode code, const text::Output& out) {
    json["exit_code"] = static_cast<int>(code);
    out.print("{}\n", io::json_line(json));
}

void print_frontier(const app::ParetoFrontier& frontier, const std::string& folder, const text::Output& out) {
    const synth::ParetoResult& result = frontier.result;
    text::Facts facts{
        {"instance", frontier.instance.name()},
        {"collective", collective_text(frontier.instance, result.composition)},
        {"bounds", fmt::format("S >= {}, R/C >= {}", result.fewest_steps, app::text_of(result.least_ratio))},
        {"proof", result.complete ? result.end : "incomplete: " + result.end},
        {"refuted", text::count_text(result.refuted, "point")},
        {"seconds", text::seconds_text(result.seconds)}};
    if (!result.undecided.empty())
        facts.emplace_back("undecided", text::count_text(result.undecided.size(), "point"));
    if (!folder.empty()) facts.emplace_back("written to", folder);
    out.print("{}\n{}", text::fact_sheet(facts),
              table_of(result.points, frontier.instance.topology().units()));
}

void print_answer(const app::ParetoAnswer& answer, const std::array<int, 3>& point, const text::Output& out) {
    const synth::PointResult& result = answer.result;
    const bool refuted = result.decision == Decision::Infeasible;
    text::Facts facts{
        {"instance", answer.instance.name()},
        {"collective", collective_text(answer.instance, result.composition)},
        {"point", fmt::format("S={} R={} C={}", point[0], point[1], point[2])},
        {"status", fmt::format("{}{}", app::name_of(result.decision), refuted ? ", proven" : "")},
        {"by", result.by}};
    if (!result.words.empty()) facts.emplace_back(refuted ? "because" : "remark", result.words);
    facts.emplace_back("seconds", text::seconds_text(result.seconds));
    if (result.found) facts.emplace_back("verified", "yes");
    if (!answer.files.schedule.empty()) facts.emplace_back("schedule", answer.files.schedule);
    out << text::fact_sheet(facts);
}

ExitCode run_pareto(const app::ParetoOptions& options, const Talk& talk, const Process& process) {
    const text::Output& out = process.streams.out;
    if (options.point) {
        const app::ParetoAnswer answer = [&] {
            Heartbeat heartbeat(process.streams, talk);
            return app::pareto_point(options, heartbeat.watch(process));
        }();
        const ExitCode code = code_of(answer.result.decision != Decision::Undecided, process);
        if (talk.json) {
            print_json(app::json_of(answer, *options.point), code, out);
        } else {
            print_answer(answer, *options.point, out);
        }
        return code;
    }
    const app::ParetoFrontier frontier = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::pareto(options, heartbeat.watch(process));
    }();
    const ExitCode code = code_of(frontier.result.complete, process);
    if (talk.json) {
        print_json(app::json_of(frontier), code, out);
    } else {
        print_frontier(frontier, options.output, out);
    }
    return code;
}

}  // namespace

Command pareto_command() {
    Command command;
    command.name = "pareto";
    command.summary = "find every best trade of latency against bandwidth (SCCL's question)";
    command.usage = "INSTANCE [--point S,R,C] [-o DIR] [options]";
    command.about =
        "SCCL's question: which synchronous algorithms of the instance's one collective are\n"
        "Pareto-optimal? An algorithm has S steps; step s lasts at least one round, R in sum;\n"
        "in a round a pair of NPUs passes as many chunks as it has links (of a faster link:\n"
        "as often as it is as fast as the slowest one, rounded down). C is the number of\n"
        "chunks, as the field 'chunks' counts them; the instance's own is ignored. S is what\n"
        "latency costs, R/C what bandwidth costs. Whatever is better than a row of the table is\n"
        "proven infeasible, by distances and cuts or by a solver; docs/pareto.md says how. An\n"
        "all-reduce is composed of a reduce-scatter and an all-gather. Every algorithm has\n"
        "passed the verifier. Networks with switches are refused. The exit code is 3 if the\n"
        "time limit left something open.\n";
    command.examples =
        "tutti pareto dgx1.json\n"
        "tutti pareto dgx1.json --max-chunks 6 --k 0 -o algorithms\n"
        "tutti pareto dgx1.json --point 2,7,6\n";
    OptionGroup limits{"Limits of the enumeration"};
    limits.options.add_options()  //
        ("point", text_value("S,R,C"),
         "ask about this one point only: steps, rounds and chunks; \"infeasible\" is an answer too")  //
        ("max-steps", text_value("N"), "no algorithms of more steps")                                 //
        ("max-rounds", text_value("N"), "no algorithms of more rounds")                               //
        ("max-chunks", text_value("N"),
         "no algorithms of more chunks (default: as many as it takes to meet the bound on R/C, at least 4; 4 "
         "if "
         "that is more than 12)")  //
        ("k", text_value("K"), "only k-synchronous algorithms: R <= S + K (of an all-reduce: each half)");
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text_value("DIR"),
         "write each algorithm there, by rounds (NAME-sS-rR-cC.json and .schedule.json, alpha 0) and in "
         "ticks on the "
         "network as it is (NAME-sS-rR-cC.ticks.json and .ticks.schedule.json)");
    OptionGroup search{"Search"};
    search.options.add_options()  //
        ("backend", text_value("NAME"),
         "the solver: auto, cpsat, highs or z3 (default auto: highs for all-to-all and the like, else "
         "cpsat)")                                                 //
        ("seed", text_value("N"), "of the solver (default 1)")     //
        ("threads", text_value("N"), "of the solver (default 1)")  //
        ("time-limit", text_value("SECONDS"),
         "for everything; a question gets a quarter of what remains, and the enumeration continues without "
         "its "
         "answer");
    command.groups = std::vector<OptionGroup>{limits, output, search, common_options()};
    command.positional = "instance";
    command.parse = parsed_by(pareto_options, run_pareto);
    return command;
}

}  // namespace tutti::cli

#include "app/sweep.hpp"

#include "cli/failure.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/collective_table.hpp"
#include "text/format.hpp"
#include "text/size_table.hpp"
#include "text/table.hpp"

#include <boost/program_options.hpp>

namespace tutti::cli {
namespace {

std::optional<app::ScheduleFormat> schedule_format(const Values& values) {
    using enum app::ScheduleFormat;
    if (!values.flag("format")) return std::nullopt;
    return values.choice("format", {"json", "stream"}) == 0 ? Json : Stream;
}

app::SynthesisOptions synth_options(const Values& values) {
    app::SynthesisOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    options.output = values.text("output").value_or("");
    options.format = schedule_format(values);
    options.expand = values.flag("expand");
    options.method = method_names()[values.choice("method", method_names())];
    if (values.flag("heuristic"))
        options.heuristic = heuristic_names()[values.choice("heuristic", heuristic_names())];
    options.options = chosen_options(values);
    options.seed = values.number<std::uint64_t>("seed", 1, 0);
    options.threads = values.number<unsigned>("threads", 1, 1, kMostThreads);
    options.time_limit = values.seconds("time-limit");
    options.memory_limit = memory_limit(values);
    options.baselines = values.flag("baselines");
    if (values.flag("json") && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return options;
}

std::string text_of(const synth::Baseline& baseline, Units units) {
    return baseline.makespan
               ? text::ticks_text(*baseline.makespan, units)
               : fmt::format("{}: {}", baseline.infeasible ? "impossible" : "not found", baseline.why_not);
}

using text::Facts;

/// The size of the call and how fast it is, where sizes mean something.
void add_call(Facts& facts, const app::Synthesized& answer) {
    const io::ResultLine& line = answer.line;
    if (answer.units == Units::Abstract) return;
    if (line.bytes) facts.emplace_back("size", text::call_size_text(*line.bytes));
    if (!line.algbw_GBps) return;
    facts.emplace_back("algbw", text::bandwidth_text(line.algbw_GBps));
    facts.emplace_back("busbw", text::bandwidth_text(line.busbw_GBps));
}

text::SafeText summary(const app::Synthesized& answer, bool colours) {
    const io::ResultLine& line = answer.line;
    const Units units = answer.units;
    const auto ticks = [&](const std::optional<Ticks>& value) {
        return text::ticks_text(value.value_or(Ticks(0)), units);
    };
    const std::string status(name_of(line.status));
    Facts facts{{"instance", line.instance},
                {"method", line.heuristic.empty() || line.heuristic == line.method
                               ? line.method
                               : fmt::format("{}, {}", line.method, line.heuristic)},
                {"status", toned(line.status == Status::Optimal ? Tone::Good : Tone::Plain, status, colours)},
                {"makespan", ticks(line.makespan)},
                {"bound", fmt::format("{}, {}", ticks(line.lower_bound), line.bound_kind)},
                {"gap", text::gap_text(line.gap())}};
    const bool has_gap = line.status != Status::Optimal;
    if (has_gap && !line.skipped.empty()) facts.emplace_back("skipped", text::skipped_text(line.skipped));
    add_call(facts, answer);
    facts.emplace_back("proof", line.proof.empty() ? "-" : line.proof);
    facts.emplace_back("sends", std::to_string(line.sends));
    facts.emplace_back("verified", line.verified ? "yes" : "no");
    facts.emplace_back("seconds", text::seconds_text(line.seconds));
    facts.emplace_back("schedule", line.schedule == "-" ? "standard output" : line.schedule);
    if (!answer.instance_file.empty()) facts.emplace_back("solved", answer.instance_file);
    if (line.composed) {
        facts.emplace_back("composed", fmt::format("{} is the optimum as reduce-scatter, then all-gather",
                                                   ticks(line.composed)));
    }
    if (answer.baselines) {
        facts.emplace_back("members only", text_of(answer.baselines->members_only, units));
        facts.emplace_back("one after another", text_of(answer.baselines->one_after_another, units));
    }
    if (line.stopped)
        facts.emplace_back("search", "stopped by a limit or an interrupt; a longer one may find more");
    const text::SafeText collectives = text::collective_table(line.collectives, units);
    return text::fact_sheet(facts) +
           (collectives.empty() ? collectives : text::safe_text("\n{}", collectives));
}

/// There is no schedule. The JSON object then has its usual keys, and the error.
ExitCode refuse(const app::Synthesized& answer, const Talk& talk, const Process& process) {
    Failure failure;
    failure.message = answer.line.error;
    failure.code = answer.line.status == Status::Infeasible ? ExitCode::Infeasible : ExitCode::LimitReached;
    if (failure.code == ExitCode::LimitReached && process.was_interrupted()) {
        failure.code = ExitCode::Interrupted;
        failure.message = "interrupted: " + failure.message;
    }
    if (talk.json) {
        io::Json object = app::json_of(answer);
        object.update(failure_json(failure));
        process.streams.out.print("{}\n", io::json_line(object));
    }
    report(failure, {}, process.streams);
    return failure.code;
}

ExitCode run_synth(const app::SynthesisOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::Synthesized answer = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::synthesize(options, heartbeat.watch(process));
    }();
    if (!answer.result) return refuse(answer, talk, process);
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(answer)));
    } else if (answer.line.schedule != "-") {
        streams.out << summary(answer, streams.colour_out);
    } else if (!talk.quiet) {
        streams.err << summary(answer, streams.colour_err);
    }
    return process.was_interrupted() && answer.line.stopped ? ExitCode::Interrupted : ExitCode::Done;
}

app::SweepOptions sweep_options(const Values& values) {
    app::SweepOptions options{synth_options(values), chunk_counts(values), byte_sizes(values, "bytes")};
    if (!options.each.output.empty())
        values.refuse("several sizes or numbers of chunks have a schedule each; expected no --output");
    return options;
}

app::SynthesisOptions one_synthesis(const Values& values) {
    app::SynthesisOptions options = synth_options(values);
    options.variation = one_variation(values);
    return options;
}

text::SizeRow row_of(const app::Synthesized& answer, bool fastest) {
    const io::ResultLine& line = answer.line;
    text::SizeRow row{fastest, line.asked_chunks ? std::to_string(*line.asked_chunks) : "-", line.bytes};
    row.time = line.makespan;
    row.bound = line.lower_bound;
    row.gap = line.gap();
    row.algbw_GBps = line.algbw_GBps;
    row.busbw_GBps = line.busbw_GBps;
    row.remark = answer.result ? line.schedule : line.error;
    return row;
}

/// A row for each combination, then the crossovers.
text::SafeText sweep_page(const app::Sweep& sweep) {
    std::vector<text::SizeRow> rows;
    for (std::size_t i = 0; i < sweep.all.size(); ++i) rows.push_back(row_of(sweep.all[i], sweep.fastest[i]));
    std::vector<std::string> names;
    for (const std::uint64_t chunks : sweep.chunks) names.push_back(text::count_text(chunks, "chunk"));
    const Units units = sweep.all.empty() ? Units::Abstract : sweep.all.front().units;
    return text::size_table("chunks", rows, units) + text::crossover_lines(names, sweep.crossovers);
}

ExitCode run_sweep(const app::SweepOptions& options, const Talk& talk, const Process& process) {
    const app::Sweep sweep = [&] {
        Heartbeat heartbeat(process.streams, talk);
        return app::sweep(options, heartbeat.watch(process));
    }();
    ExitCode code = ExitCode::Done;
    for (const app::Synthesized& answer : sweep.all) {
        if (!answer.result)
            code = std::max(code, answer.line.status == Status::Infeasible ? ExitCode::Infeasible
                                                                           : ExitCode::LimitReached);
    }
    if (process.was_interrupted()) code = ExitCode::Interrupted;
    if (talk.json) {
        io::Json json = app::json_of(sweep);
        json["exit_code"] = static_cast<int>(code);
        process.streams.out.print("{}\n", io::json_line(json));
    } else {
        process.streams.out << sweep_page(sweep);
    }
    return code;
}

/// Several sizes or numbers of chunks are a sweep.
Call synth_call(const Values& values) {
    const bool sweeps = byte_sizes(values, "bytes").size() > 1 || chunk_counts(values).size() > 1;
    return sweeps ? parsed_by(sweep_options, run_sweep)(values) : parsed_by(one_synthesis, run_synth)(values);
}

}  // namespace

Command synth_command() {
    Command command;
    command.name = "synth";
    command.summary = "find a schedule for an instance, verify it, write it";
    command.usage = "INSTANCE [-o FILE] [options]";
    command.about =
        "Reads an instance (- is standard input), finds a schedule and a lower bound,\n"
        "verifies the schedule and writes it. What it writes has always passed the\n"
        "verifier. \"optimal\" means that the makespan meets the bound: either a bound that\n"
        "anybody can check, or a solver's proof that no schedule is shorter. How it gets there\n"
        "is told on standard error. Without a time limit, auto looks for a proof for a minute\n"
        "and the exact methods until there is one.\n";
    command.examples =
        "tutti synth mesh3x3.json\n"
        "tutti synth mesh3x3.json -o best.schedule.json --seed 7\n"
        "tutti synth mesh3x3.json --method exact --threads 4 --time-limit 600\n"
        "tutti synth dgx1.json --bytes 64M --chunks 4\n"
        "tutti synth dgx1.json --bytes 64K,1G --chunks 1,2,4\n"
        "tutti synth big.json -o big.tsch --json\n"
        "tutti synth - -o - < mesh3x3.json | tutti verify mesh3x3.json -\n";
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text_value("FILE"),
         "where the schedule goes (default <name>.schedule.json in this folder, or <name>.tsch beyond a "
         "million sends; the instance's name with _ for odd characters); - is standard output, "
         "and the summary then goes to standard error")  //
        ("format", text_value("json|stream"),
         "text to be read, or the compact stream for large schedules (default: stream "
         "if FILE ends in .tsch, else json)")  //
        ("expand", flag(),
         "write out schedules that are too large to hold and repeat under a symmetry of the network; without "
         "it they are written as symmetries and the sends of one chunk, as JSON whatever FILE is called "
         "(docs/symmetric-schedules.md)");
    OptionGroup comparison{"Comparison"};
    comparison.options.add_options()  //
        ("baselines", flag(),
         "say also what the same collectives would take with only members of a group relaying its chunks, "
         "and "
         "one after the other");
    command.groups =
        std::vector<OptionGroup>{output, variation_options(true),
                                 search_options("search for about this time where a gap is left, and "
                                                "end with the best schedule so far; exit code 3 "
                                                "if there is none"),
                                 comparison, common_options()};
    command.positional = "instance";
    command.parse = synth_call;
    return command;
}

}  // namespace tutti::cli

#include "app/model.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "text/format.hpp"

#include <boost/program_options.hpp>

namespace tutti::cli {
namespace {

/// The largest horizon, in ticks.
constexpr std::int64_t kMostHorizon = std::int64_t{1} << 53;

app::ModelOptions model_options(const Values& values) {
    app::ModelOptions options;
    options.instance = values.one_positional("instance", "an instance file, or - for standard input");
    if (values.flag("horizon")) options.horizon = values.number<std::int64_t>("horizon", 0, 0, kMostHorizon);
    options.encoding = static_cast<app::ModelEncoding>(
        values.choice("encoding", {"time-indexed", "symmetric", "intervals", "alone"}));
    if (values.flag("format")) {
        options.format = static_cast<app::ModelFormat>(values.choice("format", {"mps", "smt2", "cpsat"}));
    }
    options.output = values.text("output").value_or("");
    if (values.flag("json") && (options.output.empty() || options.output == "-")) {
        values.refuse("--json and the model both want standard output; give the model a file with --output");
    }
    return options;
}

ExitCode run_model(const app::ModelOptions& options, const Talk& talk, const Process& process) {
    const app::WrittenModel model = app::model(options, {.interrupted = process.interrupted});
    if (!talk.quiet) {
        process.streams.err.print(
            "{}, makespan <= {}: {}, {}; \"infeasible\" {}\n", app::name_of(model.encoding),
            text::ticks_text(model.horizon, model.units), text::count_text(model.variables, "variable"),
            text::count_text(model.constraints, "constraint"),
            model.doubt.empty() ? "proves that there is no such schedule" : "proves nothing: " + model.doubt);
    }
    if (talk.json) process.streams.out.print("{}\n", io::json_line(app::json_of(model)));
    return ExitCode::Done;
}

}  // namespace

Command model_command() {
    Command command;
    command.name = "model";
    command.summary = "write the question that exact synthesis asks, for any solver to answer";
    command.usage = "INSTANCE [--horizon T] [-o FILE] [options]";
    command.about =
        "Writes \"is there a schedule of makespan <= T ticks?\" as text: solutions are\n"
        "schedules, and \"infeasible\" proves that every schedule takes longer (a line on\n"
        "standard error says whether it does, and if not why). Check our proofs with a solver of\n"
        "your own, look at a small model, or send its author a hard one. No solver is needed.\n"
        "Names are readable: chunk0.link3.t2 is 1 if chunk 0 starts on link 3 at unit 2,\n"
        "chunk0.at1.t4 if NPU 1 has it by unit 4; a unit is the common divisor of all times.\n"
        "models/README.md has the mathematics, constraint by constraint.\n";
    command.examples =
        "tutti model ring4.json | less\n"
        "tutti model ring4.json --horizon 8 -o ring4.mps\n"
        "tutti model ring4.json --horizon 8 -o ring4.smt2 && z3 ring4.smt2\n"
        "tutti model ring4.json --encoding intervals -o ring4.pbtxt\n";
    OptionGroup question{"Question"};
    question.options.add_options()  //
        ("horizon", text_value("T"),
         "the makespan allowed, in ticks (default: the best lower bound, see tutti bound)")  //
        ("encoding", text_value("NAME"),
         "how it is asked (default time-indexed):\n"
         "time-indexed: a Boolean for each chunk, link and time; says everything\n"
         "symmetric: the same, for schedules that repeat under a symmetry of the network; much smaller, but "
         "\"infeasible\" proves nothing\n"
         "intervals: integers for arrival times; small even where times are large, not for every instance\n"
         "alone: one of the equal chunks of an all-reduce with its share of the links; a solution is no "
         "schedule, but \"infeasible\" is a proof");
    OptionGroup output{"Output"};
    output.options.add_options()                                                             //
        ("output,o", text_value("FILE"), "where the model goes (default: standard output)")  //
        ("format", text_value("mps|smt2|cpsat"),
         "free MPS, SMT-LIB 2.6, or CP-SAT's CpModelProto as text (default: by FILE's ending, .mps, .smt2, "
         ".pbtxt or "
         ".txt; mps for standard output)");
    command.groups = std::vector<OptionGroup>{question, output, common_options()};
    command.positional = "instance";
    command.parse = parsed_by(model_options, run_model);
    return command;
}

}  // namespace tutti::cli

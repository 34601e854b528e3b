// Finds the best schedule of a tensor program for a network and a device; and says whether collectives had
// better run together.

#include "app/tune.hpp"

#include "app/together.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "cli/tensor_sizes.hpp"
#include "text/format.hpp"
#include "text/table.hpp"

#include <fmt/ranges.h>
#include <boost/program_options.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::cli {
namespace {

/// One of the two.
struct TuneCall {
    app::TuneOptions tune{};
    std::optional<app::TogetherOptions> together{};
};

TuneCall tune_options(const Values& values) {
    constexpr std::int64_t kMostPieces = 1024;
    TuneCall call;
    if (values.flag("together")) {
        if (!values.list("program").empty()) values.refuse("--together takes an instance and no program");
        call.together = app::TogetherOptions{.instance = *values.text("together"),
                                             .time_limit = values.seconds("time-limit")};
        return call;
    }
    app::TuneOptions& options = call.tune;
    options.program = values.one_positional("program", "a tensor program");
    const auto topology = values.text("topology"), device = values.text("device");
    if (!topology) values.refuse("expected --topology FILE: the network that the program is tuned for");
    if (!device) values.refuse("expected --device FILE: what the devices can do");
    options.topology = *topology;
    options.device = *device;
    options.output = values.text("output").value_or("");
    if (values.flag("pieces")) {
        options.pieces = comma_list<std::int64_t>(
            values, "pieces", fmt::format("whole numbers from 2 to {} with commas", kMostPieces),
            whole_number<std::int64_t>(2, kMostPieces));
    }
    if (const auto memory = values.text("memory")) {
        double size = 0;
        const auto [end, error] = std::from_chars(memory->data(), memory->data() + memory->size(), size);
        if (error != std::errc() || end != memory->data() + memory->size() || !std::isfinite(size) ||
            size <= 0) {
            values.refuse(
                fmt::format("option --memory: expected a positive number of GB, found '{}'", *memory));
        }
        options.memory_GB = size;
    }
    options.top = values.number<std::size_t>("top", 10, 1, 1000);
    options.time_limit = values.seconds("time-limit");
    options.measure = values.number<std::size_t>("measure", 0, 1, 1000);
    options.sizes = tensor_sizes(values);
    return call;
}

/// "1.458 ms": four digits, in the largest unit that leaves at least 1.
std::string us_text(double us) { return text::time_text(Ticks(std::llround(us * 1e6)), Units::Physical, 4); }

/// A step without the values that it moves or fuses.
std::string shortened(const std::string& step) {
    return step.substr(0, std::min(step.find(": "), step.find(" past ")));
}

std::string shortened(const std::vector<std::string>& steps) {
    if (steps.empty()) return "as written";
    std::string line;
    for (const std::string& step : steps) line += (line.empty() ? "" : "; ") + shortened(step);
    return line;
}

text::SafeText tuned_table(const app::TuneAnswer& answer) {
    using text::Align;
    std::vector<text::Table::Column> columns{{"predicted", Align::Right}};
    if (!answer.measured_us.empty()) columns.push_back({"measured", Align::Right});
    for (const text::Table::Column& column : {text::Table::Column{"state", Align::Right},
                                              {"wires", Align::Right},
                                              {"kernels", Align::Right},
                                              {"steps"}})
        columns.push_back(column);
    text::Table table(columns);
    for (std::size_t i = 0; i < answer.result.schedules.size(); ++i) {
        const tune::Prediction& prediction = answer.result.schedules[i].prediction;
        std::vector<std::string> cells{us_text(prediction.us)};
        if (!answer.measured_us.empty())
            cells.push_back(answer.measured_us[i] ? us_text(*answer.measured_us[i]) : "-");
        for (std::string& cell :
             std::vector{text::memory_text(static_cast<std::uint64_t>(prediction.state_bytes)),
                         text::memory_text(prediction.wire_bytes), std::to_string(prediction.kernels),
                         shortened(answer.steps[i])})
            cells.push_back(std::move(cell));
        table.add(cells);
    }
    return table.text();
}

text::SafeText calls_table(const app::TuneAnswer& answer) {
    using text::Align;
    text::Table table({{"collective"},
                       {"axes"},
                       {"bytes", Align::Right},
                       {"chunks", Align::Right},
                       {"makespan", Align::Right},
                       {"bound", Align::Right},
                       {"gap", Align::Right},
                       {"schedule"}});
    for (const app::TunedCall& one : answer.collectives) {
        table.add({std::string(name_of(one.call.op)), fmt::format("{}", fmt::join(one.axes, ",")),
                   std::to_string(one.call.bytes), std::to_string(one.chunks),
                   text::time_text(one.makespan, Units::Physical),
                   text::time_text(one.lower_bound, Units::Physical),
                   text::gap_text(gap(one.makespan, one.lower_bound)),
                   one.schedule.empty() ? "-" : one.schedule});
    }
    return table.text();
}

void print_measured(const app::TuneAnswer& answer, const Streams& streams) {
    if (answer.measured_us.empty()) return;
    if (const auto& us = answer.unscheduled_measured_us; us)
        streams.out.print("as written {} measured, on threads of this machine and emulated links\n",
                          us_text(*us));
    if (!answer.not_measured.empty())
        streams.err.print("note: not everything was measured: {}\n", answer.not_measured);
}

ExitCode run_tune_program(const app::TuneOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::TuneAnswer answer = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::tune(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(answer)));
    } else if (!answer.result.schedules.empty()) {
        streams.out.print("{}\n", tuned_table(answer));
        if (!answer.steps.front().empty()) streams.out.print("steps of the best\n");
        for (const std::string& step : answer.steps.front()) streams.out.print("  {}\n", step);
        streams.out.print("\n{}", calls_table(answer));
        const double best = answer.result.schedules.front().prediction.us;
        streams.out.print("\nas written {}; {} of {} tried in {} s{}\n",
                          us_text(answer.result.unscheduled.us),
                          text::count_text(answer.result.tried, "schedule"),
                          text::count_text(answer.result.programs, "program"),
                          text::seconds_text(answer.seconds), answer.result.stopped ? ", stopped" : "");
        if (best > 0)
            streams.out.print("the best is {:.2f} times as fast as the program as written\n",
                              answer.result.unscheduled.us / best);
        print_measured(answer, streams);
        if (!answer.timeline.empty()) streams.out.print("timeline {}\n", answer.timeline);
    }
    if (answer.result.schedules.empty()) {
        const auto least = answer.result.least_state_bytes;
        streams.err.print("error: no schedule needs so little memory{}\n",
                          least ? fmt::format("; the least that one needs is {:.4g} GB of each rank",
                                              static_cast<double>(*least) / 1e9)
                                : std::string());
        return ExitCode::LimitReached;
    }
    return process.was_interrupted() ? ExitCode::Interrupted : ExitCode::Done;
}

ExitCode run_together(const app::TogetherOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const app::Together answer = [&] {
        Heartbeat heartbeat(streams, talk);
        return app::together(options, heartbeat.watch(process));
    }();
    if (talk.json) {
        streams.out.print("{}\n", io::json_line(app::json_of(answer)));
    } else {
        using text::Align;
        text::Table table(
            {{"run"}, {"makespan", Align::Right}, {"bound", Align::Right}, {"gap", Align::Right}});
        const auto add = [&](const std::string& name, Ticks makespan, Ticks bound) {
            table.add({name, text::time_text(makespan, answer.units), text::time_text(bound, answer.units),
                       text::gap_text(gap(makespan, bound))});
        };
        for (const app::Together::Run& run : answer.alone)
            add(run.name + " alone", run.makespan, run.bound.value);
        add("one after another", answer.apart(), answer.apart_at_least());
        add("together", answer.both.makespan, answer.both.bound.value);
        streams.out.print("{}", table.text());
        const double apart = static_cast<double>(answer.apart().count()),
                     both = static_cast<double>(answer.both.makespan.count());
        const char* const surely = answer.is_proven() ? "proven by the bounds" : "by what was found";
        if (answer.pays()) {
            streams.out.print("together pays: {:.1f} % less time, {}\n", 100 * (apart - both) / apart,
                              surely);
        } else {
            streams.out.print("together does not pay, {}\n", surely);
        }
    }
    return process.was_interrupted() ? ExitCode::Interrupted : ExitCode::Done;
}

ExitCode run_tune(const TuneCall& call, const Talk& talk, const Process& process) {
    return call.together ? run_together(*call.together, talk, process)
                         : run_tune_program(call.tune, talk, process);
}

}  // namespace

Command tune_command() {
    Command command;
    command.name = "tune";
    command.summary = "find the best schedule of a tensor program for a network and a device";
    command.usage = "PROGRAM --topology FILE --device FILE [-o FOLDER] | --together INSTANCE";
    command.about =
        "Takes a program of computation and communication (docs/tensor-programs.md), reaches all\n"
        "programs that splitting and reordering its collectives, slicing its state, fusing kernels\n"
        "and overlapping them by pieces lead to, and predicts what each takes: kernels by the\n"
        "device's rates, collectives by schedules that are synthesized and verified for the\n"
        "network, failed and slow links included. Prints the best, fastest first: time of a step,\n"
        "bytes of state on a rank, bytes on the wires, kernels, and the steps that lead there.\n"
        "The folder gets the transformed program, its schedule, each collective with its verified\n"
        "schedule and page, and timeline.html: what a rank does when. docs/tuning.md has the\n"
        "device file and how times are predicted.\n\n"
        "With --together it says whether collectives that share links had better run at the same\n"
        "time: each alone, one after the other, and all under one schedule.\n";
    command.examples =
        "tutti tune adam.json --topology dgx1.json --device v100.json\n"
        "tutti tune mlp.json --topology rails.json --device a100.json -o tuned --pieces 8,16\n"
        "tutti tune lamb.json --topology dgx1.json --device v100.json --memory 2.5 --top 3\n"
        "tutti tune adam.json --topology pair.json --device here.json --sizes N=65536 --measure 5\n"
        "tutti tune --together job.json\n";
    OptionGroup what{"Tuning"};
    what.options.add_options()  //
        ("topology", text_value("FILE"),
         "the network, in physical units: any format that 'tutti topology' reads")  //
        ("device", text_value("FILE"), "what the devices compute in a second")      //
        ("output,o", text_value("FOLDER"),
         "where everything about the best schedule goes (default: nowhere)")                                //
        ("pieces", text_value("LIST"), "numbers of pieces that overlaps are tried with (default: 4,8,16)")  //
        ("memory", text_value("GB"),
         "only schedules whose state takes at most 10^9 bytes times this on a rank")  //
        ("top", text_value("N"), "show the N best (default 10)")                      //
        ("time-limit", text_value("SECONDS"),
         "stop the search after about this time with the best so far")                            //
        ("sizes", text_value("LIST"), "use these sizes instead of the program's, as N=1000,B=8")  //
        ("mesh", text_value("LIST"), "so many ranks on these axes, as data=3,tensor=2")           //
        ("measure", text_value("N"),
         "run the N best and the program as written on threads of this machine, with messages that take the "
         "time of the network's links, and show what they take beside what was predicted: worth looking at "
         "with a device that 'tutti run --calibrate' wrote here")  //
        ("together", text_value("INSTANCE"), "compare the instance's collectives alone and together instead");
    command.groups = std::vector<OptionGroup>{what, common_options()};
    command.positional = "program";
    command.parse = parsed_by(tune_options, run_tune);
    return command;
}

}  // namespace tutti::cli

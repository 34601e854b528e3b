// Everything that tutti writes has been verified: schedules while they are rewritten, plans again as plans.

#include "app/convert.hpp"

#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"
#include "cli/tensor_sizes.hpp"
#include "text/format.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::ConvertFormat convert_format(const Values& values, const app::ConvertOptions& options) {
    if (values.flag("to")) {
        return static_cast<app::ConvertFormat>(values.choice(
            "to", {"json", "stream", "msccl-xml", "mscclpp-json", "sccl-json", "chakra", "perfetto",
                   "nccl-p2p", "mpi-p2p", "goal", "program", "dot", "torch", "cpp", "cuda"}));
    }
    if (!options.folder.empty() || options.output.ends_with(".xml")) return app::ConvertFormat::MscclXml;
    if (options.output.ends_with(".py")) return app::ConvertFormat::Torch;
    if (options.output.ends_with(".cpp")) return app::ConvertFormat::Cpp;
    if (options.output.ends_with(".cu")) return app::ConvertFormat::Cuda;
    if (options.output.ends_with(".dot")) return app::ConvertFormat::Dot;
    return options.output.ends_with(app::kStreamSuffix) ? app::ConvertFormat::Stream
                                                        : app::ConvertFormat::Json;
}

/// Rejects options that have no effect for the format.
void check_convert_format(const Values& values, const app::ConvertOptions& options) {
    const bool is_msccl = options.format == app::ConvertFormat::MscclXml;
    for (const char* name : {"target", "protocol", "directory"}) {
        if (values.flag(name) && !is_msccl) values.refuse(fmt::format("--{} is for --to msccl-xml", name));
    }
    const bool is_mscclpp = options.format == app::ConvertFormat::MscclppJson;
    using enum app::ConvertFormat;
    const bool is_goal = options.format == Goal;
    const bool is_rounds = is_goal || options.format == NcclP2p || options.format == MpiP2p;
    if (values.flag("bytes") && !is_goal) values.refuse("--bytes is for --to goal");
    if (values.flag("collective") && !is_msccl && !is_mscclpp && !is_rounds)
        values.refuse("--collective is for formats in which each collective is a plan of its own");
    for (const char* name : {"mode", "min-bytes", "max-bytes"}) {
        if (values.flag(name) && !is_msccl && !is_mscclpp) {
            values.refuse(fmt::format("--{} is for --to msccl-xml and --to mscclpp-json", name));
        }
    }
    if (options.format == app::ConvertFormat::Chakra && options.output == "-") {
        values.refuse("a Chakra trace is a file for each NPU; expected --output PREFIX");
    }
    for (const char* name : {"sizes", "mesh"}) {
        if (values.flag(name) && !app::is_tensor_format(options.format) && options.format != Json)
            values.refuse(fmt::format("--{} is for tensor programs", name));
    }
    const bool wrong_range = options.min_bytes && options.max_bytes && *options.max_bytes != 0 &&
                             *options.min_bytes > *options.max_bytes;
    if (wrong_range) values.refuse("--min-bytes is above --max-bytes");
}

app::ConvertOptions convert_options(const Values& values) {
    app::ConvertOptions options;
    options.files = values.list("files");
    options.output = values.text("output").value_or("");
    options.folder = values.text("directory").value_or("");
    options.format = convert_format(values, options);
    options.collective = values.text("collective");
    if (values.flag("target")) {
        options.target = static_cast<plan::Target>(values.choice("target", plan::msccl_target_names()));
    }
    options.protocol = static_cast<plan::Protocol>(values.choice("protocol", {"Simple", "LL", "LL128"}));
    options.mode = static_cast<app::CallMode>(values.choice("mode", {"both", "in-place", "out-of-place"}));
    options.min_bytes = byte_size(values, "min-bytes", 0);
    options.max_bytes = byte_size(values, "max-bytes", 0);
    options.bytes = byte_size(values, "bytes", 1);
    options.tensor_sizes = tensor_sizes(values);
    if (options.folder.empty()) {
        if (options.files.size() != 2 &&
            !(options.files.size() == 1 && app::is_tensor_format(options.format)))
            values.refuse("expected an instance and a schedule");
        if (options.output.empty()) values.refuse("expected --output FILE, where the schedule shall go");
    } else {
        if (options.files.empty()) {
            values.refuse("expected instances, each with its schedule, or a folder with results");
        }
        if (!options.output.empty()) values.refuse("expected one of --output and --directory");
    }
    if (std::ranges::count(options.files, "-") > 1) values.refuse("only one file can be standard input (-)");
    if (values.flag("json") && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    check_convert_format(values, options);
    return options;
}

void report_invalid(const app::Conversion& conversion, const Streams& streams) {
    const Violation& first = conversion.verdict.violations.front();
    streams.err.print("error: {}: the schedule is invalid and was not written; V{} {}: {}\n", conversion.file,
                      number_of(first.rule), code_of(first.rule), first.message);
    for (const std::string& note : conversion.notes) streams.err.print("note: {}\n", note);
}

void report_plan(const app::WrittenPlan& plan, const Streams& streams) {
    streams.err.print("{}: {}\n", plan.path, plan.plan.words);
    if (!plan.plan.ranks.empty()) streams.err.print("  {}\n", plan.plan.ranks);
}

/// What the plans take beside what the schedule takes.
void report_times(const app::Conversion& conversion, const Streams& streams) {
    const auto [schedule, plans] = *conversion.times;
    const auto time = [&](Ticks ticks) {
        return text::time_text(ticks, conversion.units, 4) +
               (conversion.units == Units::Abstract ? " ticks" : "");
    };
    const bool is_one = conversion.plans.size() == 1;
    streams.err.print("  schedule  {}\n  {}  {} here{}", time(schedule), is_one ? "plan    " : "plans   ",
                      time(plans), is_one ? "" : " together");
    if (schedule > Ticks(0)) {
        const double ratio = static_cast<double>(plans.count()) / static_cast<double>(schedule.count());
        streams.err.print(", {:.2f}x{}", ratio, plans > schedule ? " (docs/plan-costs.md says why)" : "");
    }
    streams.err.print("\n");
}

void report_folder(const app::Conversion& conversion, const Streams& streams) {
    for (const app::WrittenPlan& plan : conversion.plans) {
        report_plan(plan, streams);
        const io::Json& root = plan.plan.facts.at("root");
        if (!root.is_null()) {
            streams.err.print("  files name no root: use it only where all calls have root {}\n",
                              root.get<int>());
        }
    }
    streams.err.print("use with {}\n", conversion.environment);
}

void report_file(const app::Conversion& conversion, const app::ConvertOptions& options,
                 const Streams& streams) {
    if (!app::is_plan(options.format))
        streams.err.print("{}: {} sends, verified\n", options.output, conversion.verdict.sends);
    for (const app::WrittenPlan& plan : conversion.plans) {
        report_plan(plan, streams);
        if (!plan.condition_path.empty()) {
            streams.err.print("{}: what it must end with; tutti verify finds it there\n",
                              plan.condition_path);
        }
    }
    if (conversion.times) report_times(conversion, streams);
}

/// A tensor program and its schedule: what was written, or why nothing was.
ExitCode report_tensor(const app::TensorConversion& conversion, const app::ConvertOptions& options,
                       const Talk& talk, const Streams& streams) {
    if (!conversion.difference.empty()) {
        streams.err.print("error: {}: the result is not proven equal to {} and was not written; {}\n",
                          conversion.schedule, conversion.program, conversion.difference);
        return ExitCode::Failed;
    }
    if (!talk.quiet && !talk.json) {
        streams.err.print("{}: {} in {} after {}, equivalent\n", options.output,
                          text::count_text(conversion.values, "value"),
                          text::count_text(conversion.kernels, "kernel"),
                          text::count_text(conversion.steps, "step"));
    }
    return ExitCode::Done;
}

ExitCode run_convert(const app::ConvertOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    const bool is_folder = !options.folder.empty();
    try {
        const app::Conversion conversion = [&] {
            Heartbeat heartbeat(streams, talk);
            return app::convert(options, heartbeat.watch(process));
        }();
        if (conversion.tensor) {
            if (talk.json) streams.out.print("{}\n", io::json_line(app::json_of(conversion, options)));
            return report_tensor(*conversion.tensor, options, talk, streams);
        }
        const bool valid = conversion.verdict.valid();
        if (talk.json && (valid || !is_folder))
            streams.out.print("{}\n", io::json_line(app::json_of(conversion, options)));
        if (!valid) {
            report_invalid(conversion, streams);
            return ExitCode::Failed;
        }
        if (is_folder && !talk.quiet) report_folder(conversion, streams);
        if (!is_folder && !talk.quiet && !talk.json) report_file(conversion, options, streams);
        return ExitCode::Done;
    } catch (const LimitError&) {
        streams.err.print("error: interrupted; {} was not written\n",
                          is_folder ? options.folder : options.output);
        return ExitCode::Interrupted;
    }
}

}  // namespace

Command convert_command() {
    Command command;
    command.name = "convert";
    command.summary = "write a schedule in another format, or as a plan for a runtime";
    command.usage = "INSTANCE SCHEDULE -o FILE [options]";
    command.about =
        "Reads a schedule (JSON, stream or generator form), verifies it against its instance, and\n"
        "writes it anew. An invalid schedule is not written: the exit code is then 1, and tutti\n"
        "verify says what is wrong with it. Formats:\n"
        "  json, stream  all sends, as tutti reads them\n"
        "  mscclpp-json  an execution plan for MSCCL++ 0.9\n"
        "  msccl-xml     thread blocks, channels, steps and dependencies for MSCCL's runtimes,\n"
        "                which are no longer developed\n"
        "  nccl-p2p      a C++ source with one function that runs the plan by ncclSend and\n"
        "                ncclRecv, for NCCL and RCCL\n"
        "  mpi-p2p       the same with MPI_Isend and MPI_Irecv\n"
        "  goal          sends, receives and what they wait for, for LogGOPSim and ATLAHS\n"
        "  sccl-json     steps of sends, as SCCL and TACCL write them; of all collectives\n"
        "  chakra        traces for ASTRA-sim, FILE.0.et, FILE.1.et, ...; of all collectives\n"
        "  perfetto      a trace to look at: links as tracks, for ui.perfetto.dev and\n"
        "                chrome://tracing (docs/results.md)\n"
        "A tensor program and its schedule (docs/tensor-programs.md) become the program that the\n"
        "schedule makes, after it has been proven to compute the same:\n"
        "  program       in the format of tensor programs\n"
        "  torch         a PyTorch module with functional collectives (docs/torch.md)\n"
        "  cpp           a C++ program that runs its ranks on threads (docs/cpp-programs.md)\n"
        "  cuda          a CUDA program with NCCL, a process for each GPU (docs/cuda-programs.md)\n"
        "  dot           a graph, for Graphviz; of the program alone where no schedule is given\n"
        "Plans are verified once more, as plans, before the file appears. In the other formats\n"
        "each collective is a plan of its own; those that plan files have no name for come with\n"
        "a condition beside them (FILE.condition.json), with which tutti verify can judge them.\n"
        "NPUs outside a group that relay for it are ranks behind the group's; the command says\n"
        "who is who. What a plan cannot say is refused with the reason; docs/writing-plans.md\n"
        "tells the rest.\n"
        "\n"
        "With --directory several schedules become a folder of plans that a runtime can be\n"
        "pointed at. Plans of one collective for different sizes share the sizes; groups with the\n"
        "same plan share it, and where groups have different plans for the same calls each NPU\n"
        "gets a folder of its own.\n";
    command.examples =
        "tutti convert mesh3x3.json mesh3x3.schedule.json -o mesh3x3.tsch\n"
        "tutti convert mesh3x3.json mesh3x3.tsch --to json -o - | less\n"
        "tutti convert dgx1.json dgx1.schedule.json -o allreduce.xml --target msccl-executor\n"
        "tutti convert small.json small.schedule.json large.json large.schedule.json -d algos\n"
        "tutti convert mesh3x3.json mesh3x3.schedule.json --to perfetto -o trace.json\n"
        "tutti convert results/run1 -d algos\n"
        "tutti convert adam.json adam.schedule.json --to program -o adam.sliced.json\n";
    OptionGroup output{"Output"};
    output.options.add_options()                                                 //
        ("output,o", text_value("FILE"), "where it goes; - is standard output")  //
        ("directory,d", text_value("DIR"),
         "write plans of several schedules, or of a batch's results, there")  //
        ("to", text_value("FORMAT"),
         "json, stream, mscclpp-json, msccl-xml, nccl-p2p, mpi-p2p, goal, sccl-json, chakra, perfetto, "
         "program, torch, cpp, cuda or dot (default: stream if FILE ends in .tsch, msccl-xml if it ends in "
         ".xml, "
         "else "
         "json)");
    OptionGroup plans{"Plans"};
    plans.options.add_options()  //
        ("collective", text_value("ID"),
         "only this one (default: all; several get the id in their file's name)")  //
        ("target", text_value("NAME"),
         "msccl-executor (default), msccl (default for custom collectives) or rccl (releases before 2026): "
         "whose names and limits count")                                   //
        ("protocol", text_value("NAME"), "Simple (default), LL or LL128")  //
        ("mode", text_value("MODE"),
         "both (default), in-place or out-of-place: the calls that it shall serve; of both, in-place is "
         "given "
         "up where it cannot be right")                                                               //
        ("min-bytes", text_value("N"), "the least message that it is for (default 0); 64K, 1M, ...")  //
        ("max-bytes", text_value("N"), "the largest (default: any)")                                  //
        ("bytes", text_value("N"),
         "of goal: the size of the call, as nccl-tests counts it (default: what the instance's chunk_bytes "
         "make)");
    OptionGroup programs{"Tensor programs"};
    programs.options.add_options()                                                                //
        ("sizes", text_value("LIST"), "use these sizes instead of the program's, as N=1000,B=8")  //
        ("mesh", text_value("LIST"), "so many ranks on these axes, as data=3,tensor=2");
    command.groups = std::vector<OptionGroup>{output, plans, programs, common_options()};
    command.positional = "files";
    command.parse = parsed_by(convert_options, run_convert);
    return command;
}

}  // namespace tutti::cli

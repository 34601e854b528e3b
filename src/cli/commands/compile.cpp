#include "app/compile.hpp"

#include "cli/algorithm_options.hpp"
#include "cli/heartbeat.hpp"
#include "cli/option_groups.hpp"

#include <boost/program_options.hpp>

#include <algorithm>

namespace tutti::cli {
namespace {

app::CompileOptions compile_options(const Values& values) {
    app::CompileOptions options;
    std::vector<std::string> files = values.list("program");
    if (files.empty()) values.refuse("expected a program: a Python file or a trace file");
    options.program = files.front();
    options.arguments.assign(files.begin() + 1, files.end());
    if (!options.arguments.empty() && !options.program.ends_with(".py")) {
        values.refuse("only Python programs have arguments of their own");
    }
    if (values.flag("ranks")) options.algorithm = algorithm_request(values);
    for (const char* name : {"collective", "root", "set", "mode"}) {
        if (values.flag(name) && !values.flag("ranks")) {
            values.refuse(fmt::format("--{} is for algorithms of the library; expected --ranks N too", name));
        }
    }
    options.output = values.text("output").value_or("");
    options.check_only = values.flag("check-only");
    if (values.flag("dump-after")) {
        options.dump_after = static_cast<compile::Pass>(values.choice("dump-after", compile::pass_names()));
        options.dot = values.flag("dot");
        if (options.output.empty()) options.check_only = true;
        if (options.output == "-" || values.flag("json")) {
            values.refuse("--dump-after wants standard output for itself; give the plan a file");
        }
    } else if (values.flag("dot")) {
        values.refuse("--dot is for --dump-after PASS");
    }
    if (options.output.empty() && !options.check_only)
        values.refuse("expected --output FILE, or --check-only");
    if (values.flag("to")) {
        options.format = static_cast<app::CompileFormat>(
            values.choice("to", {"msccl-xml", "mscclpp-json", "nccl-p2p", "mpi-p2p", "goal", "trace"}));
    } else if (options.output.ends_with(".chunks")) {
        options.format = app::CompileFormat::Trace;
    } else if (options.output.ends_with(".json")) {
        options.format = app::CompileFormat::MscclppJson;
    }
    if (values.flag("target")) {
        options.target = static_cast<plan::Target>(values.choice("target", plan::msccl_target_names()));
    }
    const bool execution = options.format == app::CompileFormat::MscclppJson;
    if (values.flag("protocol")) {
        options.protocol = static_cast<plan::Protocol>(values.choice("protocol", {"Simple", "LL", "LL128"}));
    }
    if (values.flag("channel")) {
        options.channel = static_cast<plan::ChannelType>(values.choice("channel", {"memory", "port"}));
    }
    if (execution && options.target) values.refuse("--target is for MSCCL plans; MSCCL++ has one executor");
    if (execution && options.protocol == plan::Protocol::LL128)
        values.refuse("--protocol LL128 is for MSCCL plans; MSCCL++ has Simple and LL");
    if (options.protocol == plan::Protocol::LL && options.channel == plan::ChannelType::Port)
        values.refuse("--protocol LL is for memory channels: packets are written by the threads themselves");
    if (options.format != app::CompileFormat::MscclXml && !execution && options.dump_after) {
        values.refuse("--dump-after shows the passes to plans (--to msccl-xml or mscclpp-json)");
    }
    const auto after = options.dump_after.value_or(compile::Pass::Trace);
    if (execution && (after == compile::Pass::Sums || after == compile::Pass::Channels))
        values.refuse("--dump-after: plans of MSCCL++ go through trace, clock, lanes, blocks, order, steps");
    if (execution && options.dot && after > compile::Pass::Order)
        values.refuse("--dot: of a plan of MSCCL++ there is no graph, only of the passes up to order");
    if (!execution && values.flag("channel")) values.refuse("--channel is for --to mscclpp-json");
    options.topology = values.text("topology");
    options.min_bytes = byte_size(values, "min-bytes", 0);
    options.max_bytes = byte_size(values, "max-bytes", 0);
    options.bytes = byte_size(values, "bytes", 1);
    const bool is_goal = options.format == app::CompileFormat::Goal;
    if (is_goal && !options.bytes) values.refuse("--to goal needs --bytes N, the size of the call");
    if (options.bytes && !is_goal && !options.topology)
        values.refuse("--bytes is for --topology FILE, or --to goal");
    const bool is_rounds = is_goal || options.format == app::CompileFormat::NcclP2p ||
                           options.format == app::CompileFormat::MpiP2p;
    for (const char* name : {"target", "protocol", "topology", "instances", "min-bytes", "max-bytes"}) {
        if (values.flag(name) && is_rounds)
            values.refuse(fmt::format("--{} means nothing to rounds of messages", name));
    }
    if (values.flag("instances")) options.instances = values.number<std::uint32_t>("instances", 1, 1, 1024);
    if (values.flag("as")) {
        (void)values.choice("as", {"custom"});
        options.as_custom = true;
    }
    if (values.flag("json") && options.output == "-") {
        values.refuse("--json and --output - both want standard output; give one of them a file");
    }
    return options;
}

void report(const app::CompiledPlan& plan, const Streams& streams) {
    const std::string file = plan.path.empty() ? plan.name : plan.path;
    if (plan.steps == 0) {
        streams.err.print("{}: {} of {} ranks, {} verbs\n", file, plan.collective, plan.ranks, plan.verbs);
        return;
    }
    if (plan.rounds > 0) {
        streams.err.print("{}: {} of {} ranks, {} steps in {} round{}, {}\n", file, plan.collective,
                          plan.ranks, plan.steps, plan.rounds, plan.rounds == 1 ? "" : "s", plan.verdict);
        return;
    }
    streams.err.print("{}: {} of {} ranks, {} steps in {} thread blocks on {} channel{}, {}{}\n", file,
                      plan.collective, plan.ranks, plan.steps, plan.thread_blocks, plan.channels,
                      plan.channels == 1 ? "" : "s", plan.verdict,
                      plan.makespan ? fmt::format(", {} ticks", *plan.makespan) : "");
    if (!plan.condition_path.empty()) {
        streams.err.print("{}: what it must end with; tutti verify finds it there\n", plan.condition_path);
    }
}

ExitCode run_compile(const app::CompileOptions& options, const Talk& talk, const Process& process) {
    const Streams& streams = process.streams;
    try {
        const app::Compilation compilation = [&] {
            Heartbeat heartbeat(streams, talk);
            return app::compile_program(options, heartbeat.watch(process));
        }();
        if (talk.json) streams.out.print("{}\n", io::json_line(app::json_of(compilation, options)));
        for (const app::CompileFinding& finding : compilation.findings) {
            const bool told =
                finding.place.empty() || finding.message.find(finding.place) != std::string::npos;
            streams.err.print("error: {}: {}{}\n", options.program, told ? "" : "at " + finding.place + ": ",
                              finding.message);
        }
        if (!compilation.findings.empty()) return ExitCode::Failed;
        for (const app::CompiledPlan& plan : compilation.plans) {
            if (!plan.dump.empty()) streams.out.print("{}", text::SafeText::lines(plan.dump));
        }
        if (!talk.quiet && !talk.json) {
            for (const app::CompiledPlan& plan : compilation.plans) report(plan, streams);
        }
        return ExitCode::Done;
    } catch (const LimitError&) {
        streams.err.print("error: interrupted; nothing was written\n");
        return ExitCode::Interrupted;
    }
}

}  // namespace

Command compile_command() {
    Command command;
    command.name = "compile";
    command.summary = "make a plan of a chunk program, proven right before it is written";
    command.usage = "PROGRAM -o FILE [options] [-- ARGUMENTS OF THE PROGRAM]";
    command.about =
        "A chunk program copies and adds chunks of the ranks' buffers, as MSCCL's language does.\n"
        "PROGRAM is a Python program for msccl-tools or MSCCL++, unchanged (tutti's own packages\n"
        "stand in for msccl and mscclpp), a trace file (.chunks: one copy or reduction a line), or\n"
        "with --ranks the name of an algorithm of the library. It is traced,\n"
        "checked, compiled to thread blocks and steps, and the plan is verified for every\n"
        "interleaving before the file appears. A program that does not do what its collective\n"
        "wants is refused with the first chunk that is wrong and the exit code 1; one that cannot\n"
        "be run or read ends with the exit code 2. Nothing is written then.\n"
        "--to nccl-p2p and --to mpi-p2p write a C++ source with one function that runs the\n"
        "program by ncclSend and ncclRecv (NCCL, RCCL) or by MPI, --to goal what network\n"
        "simulators read (docs/writing-plans.md).\n"
        "A program for MSCCL++ names its thread blocks and operations itself; its plan is JSON.\n"
        "docs/chunk-programs.md has the language and the trace file, docs/mscclpp-programs.md\n"
        "programs for MSCCL++.\n";
    command.examples =
        "tutti compile allreduce_ring.py -o ring.xml -- 8 1 1\n"
        "tutti compile ring.py -o ring.chunks -- 8 1 1\n"
        "tutti compile allreduce_nvls.py -o nvls.json -- --name nvls --num_gpus 8\n"
        "tutti compile ring.chunks -o ring.xml --target msccl-executor\n"
        "tutti compile ring.chunks --check-only --json\n"
        "tutti compile ring.chunks -o ring.json --topology dgx1.json --bytes 1M\n"
        "tutti compile ring --ranks 8 --set channels=2 -o ring.xml\n";
    OptionGroup output{"Output"};
    output.options.add_options()  //
        ("output,o", text_value("FILE"),
         "where the plan goes; several plans of one program get numbers; - is standard output")  //
        ("to", text_value("FORMAT"),
         "msccl-xml (default), mscclpp-json (default if FILE ends in .json), nccl-p2p, mpi-p2p, goal, or "
         "trace "
         "(default if in .chunks)")                                             //
        ("check-only", flag(), "trace, compile and verify, but write nothing")  //
        ("dump-after", text_value("PASS"),
         "print what there is after a pass of the compiler: trace, clock, lanes, blocks, order, sums, "
         "channels, "
         "steps or replicate (docs/chunk-programs.md)")  //
        ("dot", flag(), "print it as a graph for Graphviz");
    OptionGroup library{"Algorithms of the library (tutti algorithms lists them)"};
    library.options.add_options()                                                             //
        ("ranks", text_value("N"), "PROGRAM is the name of an algorithm, for so many ranks")  //
        ("collective", text_value("KIND"),
         "all_reduce (default), all_gather, reduce_scatter, all_to_all, ...")  //
        ("root", text_value("RANK"), "of broadcast and reduce (default 0)")    //
        ("mode", text_value("MODE"),
         "in-place or out-of-place calls (default: in-place where the algorithm can do that)")  //
        ("set", text_value("NAME=VALUE"), "a parameter of the algorithm; may be given several times");
    OptionGroup plans{"Plans"};
    plans.options.add_options()  //
        ("target", text_value("NAME"),
         "msccl-executor, msccl or rccl (releases before 2026): whose limits must be kept")  //
        ("instances", text_value("M"),
         "how many copies of the program share the data (default: the program's)")  //
        ("protocol", text_value("NAME"),
         "Simple, LL (of mscclpp-json: packets) or LL128 (default: the program's)")  //
        ("channel", text_value("TYPE"),
         "of mscclpp-json: memory (default; one machine) or port (any network)")  //
        ("topology", text_value("FILE"),
         "take the plan that is the fastest on this network, by simulation")  //
        ("bytes", text_value("N"),
         "the size of the call that is simulated, or that goal tells; 64K, 1M, ...")                  //
        ("as", text_value("WHAT"), "custom: whatever the program ends with is what is wanted")        //
        ("min-bytes", text_value("N"), "the least message that it is for (default 0); 64K, 1M, ...")  //
        ("max-bytes", text_value("N"), "the largest (default: any)");
    command.groups = std::vector<OptionGroup>{output, library, plans, common_options()};
    command.positional = "program";
    command.parse = parsed_by(compile_options, run_compile);
    return command;
}

}  // namespace tutti::cli

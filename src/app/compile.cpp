#include "app/compile.hpp"

#include "app/compile_execution.hpp"
#include "app/compile_trace.hpp"
#include "app/condition_file.hpp"
#include "app/output_check.hpp"
#include "app/plan_network.hpp"
#include "app/python_program.hpp"
#include "app/round_formats.hpp"
#include "app/scratch_folder.hpp"
#include "compile/round_lowering.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/chunk_trace.hpp"
#include "io/json_text.hpp"
#include "io/msccl_xml.hpp"
#include "io/mscclpp_json.hpp"
#include "io/plan_condition_json.hpp"
#include "lang/contributions.hpp"
#include "lang/library.hpp"
#include "lang/tracer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// "plan.xml" and 2: "plan.2.xml"; the first keeps its name.
std::string numbered(const std::string& path, std::size_t number) {
    if (number == 1 || path == "-" || path.empty()) return path;
    const fs::path file(path);
    return (file.parent_path() /
            fmt::format("{}.{}{}", file.stem().string(), number, file.extension().string()))
        .string();
}

/// The trace as a custom collective that wants what it ends with.
lang::Trace as_custom(lang::Trace trace) {
    lang::Shape& shape = trace.shape;
    if (shape.kind == CollectiveKind::Custom) return trace;
    // In place only all_to_all's and all_reduce's aliases are those of a custom collective.
    lang::Shape custom{.kind = CollectiveKind::Custom, .ranks = shape.ranks, .chunks = shape.chunks};
    custom.custom_inputs = input_chunks(shape);
    custom.custom_outputs = output_chunks(shape);
    custom.in_place = shape.in_place;
    const lang::Slot probe{shape.ranks - 1, lang::kOutput, 0};
    const bool alike = !shape.in_place || resolved(shape, probe) == resolved(custom, probe);
    if (!alike)
        throw InputError(
            "--as custom: an in-place all_gather or reduce_scatter cannot be a custom collective");
    for (const lang::Initial& initial : initial_values(shape)) custom.initial.push_back(initial);
    shape = std::move(custom);
    return trace;
}

struct Made {
    CompiledPlan facts{};
    std::string text{}, condition{};
};

std::optional<RoundFormat> round_format(CompileFormat format) {
    switch (format) {
        case CompileFormat::NcclP2p:
            return RoundFormat::NcclP2p;
        case CompileFormat::MpiP2p:
            return RoundFormat::MpiP2p;
        case CompileFormat::Goal:
            return RoundFormat::Goal;
        default:
            return std::nullopt;
    }
}

/// The plan of a trace as rounds of messages; a program that cannot be verified leaves a trace file.
void make_rounds_of(const lang::Trace& trace, RoundFormat format, const CompileOptions& options, Made& made) {
    const auto start = Clock::now();
    const auto make = [&](bool in_place) {
        plan::RoundPlan plan = compile::lower_to_rounds(trace, in_place);
        plan.name = fmt::format("{} {} {}", trace.name, name_of(plan.kind), plan.ranks);
        return plan;
    };
    const std::uint64_t block_bytes =
        format == RoundFormat::Goal ? block_bytes_of(make(false), options.bytes.value_or(0)) : 0;
    try {
        RoundFile file = round_file(make, format, block_bytes);
        made.facts.verify_seconds = file.verify_seconds;
        made.facts.compile_seconds = seconds_since(start) - file.verify_seconds;
        made.facts.verdict = std::string(name_of(file.verdict.verdict));
        made.facts.steps = file.plan.size();
        made.facts.rounds = file.plan.rounds;
        made.text = std::move(file.text);
    } catch (const InternalError& error) {
        io::write_file("tutti-bug.chunks", io::chunk_trace_text(trace));
        throw InternalError(fmt::format("{}; the program is in tutti-bug.chunks", error.what()));
    }
}

/// The plan of a trace, or a finding.
Made make(lang::Trace trace, const CompileOptions& options, const std::optional<PlanNetwork>& network,
          Compilation& compilation) {
    if (options.protocol) trace.protocol = *options.protocol;
    if (options.instances) trace.instances = *options.instances;
    if (options.as_custom) trace = as_custom(std::move(trace));
    Made made;
    const bool writes_trace = options.format == CompileFormat::Trace && !options.check_only;
    const bool tells_trace = options.dump_after == compile::Pass::Trace && !options.dot;
    const std::string as_written = writes_trace || tells_trace ? io::chunk_trace_text(trace) : "";
    const auto start = Clock::now();
    const auto wrong = [&] {
        lang::Tracer tracer = lang::traced(std::move(trace));
        auto found = tracer.first_wrong();
        trace = std::move(tracer).take();
        return found;
    }();
    made.facts.trace_seconds = seconds_since(start);
    made.facts.name = trace.name;
    made.facts.collective = std::string(name_of(trace.shape.kind));
    made.facts.ranks = trace.shape.ranks;
    made.facts.verbs = trace.verbs.size();
    std::optional<lang::Wrong> reason;
    if (wrong) reason = why_wrong(trace, *wrong);
    if (trace.shape.kind == CollectiveKind::Custom) reason = counted_twice(trace);
    if (reason) {
        const std::string what = wrong ? fmt::format("the program is no {}: ", made.facts.collective) : "";
        compilation.findings.push_back(
            {wrong ? "check-failed" : "counted-twice", what + reason->words, reason->place});
        return made;
    }
    if (options.format == CompileFormat::Trace) {
        made.text = as_written;
        made.facts.verdict = "traced";
        return made;
    }
    if (const auto rounds = round_format(options.format)) {
        make_rounds_of(trace, *rounds, options, made);
        return made;
    }
    const compile::TraceOptions wanted{.target = options.target,
                                       .min_bytes = options.min_bytes,
                                       .max_bytes = options.max_bytes,
                                       .dump_after = options.dump_after,
                                       .dot = options.dot,
                                       .channel = options.channel};
    std::optional<TraceNetwork> on;
    if (network) on.emplace(network->topology, network->bytes);
    const TraceNetwork* const where = on ? &*on : nullptr;
    const auto finish = [&](const auto& plan) {
        made.facts.verify_seconds = plan.verify_seconds;
        made.facts.compile_seconds = plan.compile_seconds;
        made.facts.verdict = std::string(name_of(plan.verdict.verdict));
        made.facts.makespan = plan.time;
        if (plan.result.condition && !plan.result.condition->outputs.empty()) {
            made.condition =
                io::plan_condition_text(*plan.result.condition, fmt::format("of the program {}", trace.name));
        }
        for (const auto& gpu : plan.result.plan.gpus) {
            made.facts.thread_blocks += gpu.blocks.size();
            made.facts.scratch = std::max<std::int64_t>(made.facts.scratch, gpu.scratch_chunks);
        }
    };
    if (options.format == CompileFormat::MscclppJson) {
        const CompiledExecution plan = compile_verified_execution(trace, wanted, where);
        finish(plan);
        made.facts.steps = operations_of(plan.result.plan);
        for (const plan::ExecutionGpu& gpu : plan.result.plan.gpus) {
            made.facts.channels = std::max(made.facts.channels,
                                           static_cast<std::int32_t>(peers_of(gpu, options.channel).size()));
        }
        const bool tells_plan = options.dump_after && *options.dump_after > compile::Pass::Order;
        if (!options.check_only || tells_plan) made.text = io::mscclpp_json_text(plan.result.plan);
        made.facts.dump = tells_trace ? as_written : plan.result.dump ? plan.result.dump->text : "";
        if (tells_plan) made.facts.dump = made.text;
        return made;
    }
    const CompiledTrace plan = compile_verified(trace, wanted, where);
    finish(plan);
    if (tells_trace) {
        made.facts.dump = as_written;
    } else if (plan.result.dump) {
        const compile::PassDump& dump = *plan.result.dump;
        made.facts.dump = dump.plan ? io::msccl_xml_text(*dump.plan) : dump.text;
    }
    made.facts.steps = plan::steps_of(plan.result.plan);
    made.facts.channels = plan.result.plan.channels;
    if (!options.check_only) made.text = io::msccl_xml_text(plan.result.plan);
    return made;
}

/// Where the plans are timed; nothing without a topology.
std::optional<PlanNetwork> network_for(const CompileOptions& options) {
    PlanOptions network;
    network.topology = options.topology;
    network.bytes = options.bytes;
    return network_of(network);
}

std::vector<lang::Trace> read_traces(const std::vector<std::string>& files, const Stop& stop) {
    std::vector<lang::Trace> traces;
    for (const std::string& file : files) {
        io::Source source(file, stop);
        traces.push_back(io::read_chunk_trace(source));
    }
    return traces;
}

/// What the program describes: a Python program, a trace file, or an algorithm of the library by its name.
/// Plans that a program for MSCCL++, or an algorithm of the library, makes by itself are added to `plans`.
std::vector<lang::Trace> traces_of(const CompileOptions& options, const Stop& stop, Compilation& compilation,
                                   std::vector<Made>& plans) {
    if (options.algorithm.ranks > 0) {
        const lang::Algorithm& algorithm = lang::algorithm_named(options.program);
        if (algorithm.plan == nullptr) return {lang::program_of(algorithm, options.algorithm)};
        JudgedExecution made = verified_execution(lang::plan_of(algorithm, options.algorithm), options);
        plans.push_back({std::move(made.facts), std::move(made.text), ""});
        return {};
    }
    const auto named = [&](const lang::Algorithm* algorithm) { return algorithm->name == options.program; };
    if (!fs::exists(options.program) && std::ranges::any_of(lang::all_algorithms(), named))
        throw InputError("this is an algorithm of the library; expected --ranks N too", "", options.program);
    if (!options.program.ends_with(".py")) return read_traces({options.program}, stop);
    if (!fs::exists(options.program)) throw InputError("there is no such file", "", options.program);
    const ScratchFolder scratch("tutti-compile");
    const PythonTraces traces = trace_python(options.program, options.arguments, scratch.path(), stop);
    if (!traces.failed_check.empty()) {
        compilation.findings.push_back({"check-failed", traces.failed_check, traces.place});
        return {};
    }
    if (traces.files.empty() && traces.plans.empty()) {
        throw InputError("the program describes no plan; expected a call of XML() or JSON()", "",
                         options.program);
    }
    for (const PythonPlan& plan : traces.plans) {
        JudgedExecution made = verified_execution(plan, options, stop);
        std::ranges::move(made.findings, std::back_inserter(compilation.findings));
        plans.push_back({std::move(made.facts), std::move(made.text), ""});
    }
    try {
        return read_traces(traces.files, stop);
    } catch (const InputError& error) {
        // Of the file in between only the line of the program is of use to anybody.
        const auto comma = error.place().find(", ");
        const std::string place = comma == std::string::npos ? "" : error.place().substr(comma + 2);
        throw InputError(error.message(), place, options.program);
    }
}

/// A plan never replaces the program that it is made of.
void check_plan_output(const CompileOptions& options, const std::string& path) {
    const bool of_library = options.algorithm.ranks > 0;
    check_output(path, of_library ? "-" : options.program, "the plan", "program");
}

}  // namespace

Compilation compile_program(const CompileOptions& options, const Watch& watch) {
    Compilation compilation;
    if (!options.check_only) check_plan_output(options, options.output);
    const std::optional<PlanNetwork> network = network_for(options);
    std::vector<Made> all;
    for (lang::Trace& trace : traces_of(options, watch.stop(), compilation, all)) {
        try {
            all.push_back(make(std::move(trace), options, network, compilation));
        } catch (const InputError& error) {
            throw error.in_file(options.program);
        }
    }
    for (std::size_t i = 0; i < all.size() && !options.check_only; ++i) {
        check_plan_output(options, numbered(options.output, i + 1));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        Made& made = all[i];
        if (compilation.findings.empty() && !options.check_only) {
            made.facts.path = numbered(options.output, i + 1);
            if (!made.condition.empty() && made.facts.path != "-") {
                made.facts.condition_path = condition_beside(made.facts.path);
                io::write_file(made.facts.condition_path, made.condition);
            }
            io::write_file(made.facts.path, made.text);
        }
        if (compilation.findings.empty()) compilation.plans.push_back(std::move(made.facts));
    }
    return compilation;
}

io::Json json_of(const Compilation& compilation, const CompileOptions& options) {
    io::Json findings = io::Json::array(), plans = io::Json::array();
    for (const CompileFinding& finding : compilation.findings) {
        findings.push_back({{"code", finding.code}, {"message", finding.message}, {"place", finding.place}});
    }
    for (const CompiledPlan& plan : compilation.plans) {
        io::Json line = {
            {"file", plan.path.empty() ? io::Json() : io::Json(plan.path)},
            {"condition", plan.condition_path.empty() ? io::Json() : io::Json(plan.condition_path)},
            {"name", plan.name},
            {"collective", plan.collective},
            {"ranks", plan.ranks},
            {"verbs", plan.verbs},
            {"verdict", plan.verdict},
            {"steps", plan.steps},
            {"thread_blocks", plan.thread_blocks},
            {"channels", plan.channels},
            {"scratch", plan.scratch},
            {"makespan", plan.makespan ? io::Json(*plan.makespan) : io::Json()},
            {"trace_seconds", plan.trace_seconds},
            {"compile_seconds", plan.compile_seconds},
            {"verify_seconds", plan.verify_seconds}};
        if (plan.rounds > 0) line["rounds"] = plan.rounds;
        plans.push_back(std::move(line));
    }
    return {{"program", options.program},
            {"verdict", compilation.findings.empty() ? "compiled" : "refused"},
            {"findings", std::move(findings)},
            {"plans", std::move(plans)}};
}

}  // namespace tutti::app

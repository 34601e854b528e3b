#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "compile/pass.hpp"
#include "lang/library.hpp"
#include "plan/execution_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/target.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

enum class CompileFormat { MscclXml, MscclppJson, NcclP2p, MpiP2p, Goal, Trace };

struct CompileOptions {
    std::string program{};                 ///< a Python program, a trace file, or an algorithm's name
    lang::AlgorithmRequest algorithm{};    ///< with ranks: the program is an algorithm of the library
    std::vector<std::string> arguments{};  ///< the Python program's own
    std::string output{};                  ///< "-": standard output; empty with check_only
    CompileFormat format = CompileFormat::MscclXml;
    std::optional<plan::Target> target{};
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    std::optional<std::uint32_t> instances{};               ///< instead of the program's
    std::optional<plan::Protocol> protocol{};               ///< likewise
    plan::ChannelType channel = plan::ChannelType::Memory;  ///< of execution plans
    std::optional<std::string> topology{};                  ///< the plan that is the fastest there is taken
    std::optional<std::int64_t> bytes{};        ///< of the call: timed on the topology, or told by goal
    std::optional<compile::Pass> dump_after{};  ///< what there is after a pass is told
    bool dot = false;                           ///< as a graph for Graphviz
    bool check_only = false;                    ///< trace and compile, write nothing
    bool as_custom = false;                     ///< what the trace ends with is what is wanted
    friend bool operator==(const CompileOptions&, const CompileOptions&) = default;
};

/// Why a program was not compiled, in a form that programs can act on.
struct CompileFinding {
    std::string code{};  ///< check-failed, counted-twice; of a plan for MSCCL++ the verdict's
    std::string message{};
    std::string place{};  ///< "prog.py:12", as far as known
    friend bool operator==(const CompileFinding&, const CompileFinding&) = default;
};

/// One plan of a program.
struct CompiledPlan {
    std::string path{};            ///< empty: not written
    std::string condition_path{};  ///< what a custom collective must end with; empty: none
    std::string name{}, collective{};
    std::uint32_t ranks = 0;
    std::size_t verbs = 0, steps = 0, thread_blocks = 0;
    std::uint32_t rounds = 0;                ///< of plans that have rounds instead of thread blocks
    std::int32_t channels = 0;               ///< of execution plans: the most of a rank
    std::int64_t scratch = 0;                ///< chunks: the most of a rank
    std::optional<std::int64_t> makespan{};  ///< ticks, on the topology
    std::string dump{};                      ///< after the pass that was asked for
    std::string verdict{};
    double trace_seconds = 0, compile_seconds = 0, verify_seconds = 0;
};

struct Compilation {
    std::vector<CompiledPlan> plans{};
    std::vector<CompileFinding> findings{};  ///< empty: all is well
};

/// Runs a Python program, or reads a trace file, and compiles each program that it describes. Nothing is
/// written if there is a finding. Throws InputError (also for a program that raises), LimitError,
/// InternalError.
[[nodiscard]] Compilation compile_program(const CompileOptions& options, const Watch& watch = {});

/// `program`, `verdict`, `findings` (`code`, `message`, `place`), `plans`.
[[nodiscard]] io::Json json_of(const Compilation& compilation, const CompileOptions& options);

}  // namespace tutti::app

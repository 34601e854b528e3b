#pragma once

#include "compile/pass.hpp"
#include "lang/trace.hpp"
#include "plan/condition.hpp"
#include "plan/execution_plan.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/target.hpp"

#include <cstdint>
#include <functional>
#include <optional>

namespace tutti::compile {

/// What a user may ask of a plan beyond what the program says.
struct TraceOptions {
    std::optional<plan::Target> target{};  ///< whose limits are kept; none: nobody's
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    std::optional<Pass> dump_after{};  ///< what there is then is told
    bool dot = false;                  ///< as a graph for Graphviz
    bool timed = false;  ///< the judge tells times: all ways are tried, and the fastest plan is taken
    /// Of execution plans: how ranks reach each other.
    plan::ChannelType channel = plan::ChannelType::Memory;
};

struct TraceResult {
    plan::MscclPlan plan{};
    std::optional<plan::Condition> condition{};  ///< of a custom collective
    std::optional<Rank> root{};
    std::optional<PassDump> dump{};  ///< of the way that led to the plan, where asked for
    std::uint32_t judged = 0;        ///< which call of the judge was about it, from 0
};

/// What a judge says of a plan: its verdict, and what it takes where that decides between accepted plans.
struct Judgement {
    plan::PlanClass verdict{};
    std::int64_t time = 0;
    Judgement(plan::PlanClass what, std::int64_t ticks = 0) : verdict(what), time(ticks) {}
};
/// Judges a plan. A callback, because compile may include neither `verify` nor `timing`.
using TraceJudge = std::function<Judgement(const TraceResult&)>;

/// Compiles a program (src/compile/trace has the passes). Of several ways the fastest
/// plan, then the one with the fewest steps, thread blocks, channels among those that the judge likes best.
/// Throws InputError where the program's thread blocks contradict each other or a limit of the target is too
/// small; InternalError if the judge accepts none. Precondition: the verbs were traced, and the trace ends
/// with what its collective wants. O((instructions + edges) log instructions).
[[nodiscard]] TraceResult compile_trace(const lang::Trace& trace, const TraceOptions& options,
                                        const TraceJudge& judge);
/// The same of a program that nobody looks at meanwhile: its verbs are put aside, and are back in the end.
[[nodiscard]] TraceResult compile_trace(lang::Trace& trace, const TraceOptions& options,
                                        const TraceJudge& judge);

/// An execution plan of MSCCL++ for a program.
struct TraceExecution {
    plan::ExecutionPlan plan{};
    std::optional<plan::Condition> condition{};  ///< where the format has no name for what the plan does
    /// After one of the passes up to the order, where asked for; of a later one the plan is all there is.
    std::optional<PassDump> dump{};
    std::uint32_t judged = 0;  ///< which call of the judge was about it, from 0
};
using ExecutionJudge = std::function<Judgement(const TraceExecution&)>;

/// Compiles a program to an execution plan: a verb between ranks is a put, a signal and a wait. Of several
/// ways the fastest plan, then the one with the fewest operations, then thread blocks, that the judge calls
/// valid. With the protocol LL messages are packets, if every rank's result depends on all ranks. Throws
/// InputError where the program's thread blocks contradict each other, where a rank would need more of them
/// than can run, and for what is in place at one rank only; InternalError if the judge accepts none.
/// Precondition: as above. O((instructions + edges) log instructions), and up to 4096 steps for each message.
[[nodiscard]] TraceExecution compile_trace_to_execution(const lang::Trace& trace, const TraceOptions& options,
                                                        const ExecutionJudge& judge);

}  // namespace tutti::compile

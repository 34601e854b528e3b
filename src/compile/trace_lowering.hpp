#pragma once

#include "lang/trace.hpp"
#include "plan/condition.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/target.hpp"

#include <functional>
#include <optional>

namespace tutti::compile {

/// What a user may ask of a plan beyond what the program says.
struct TraceOptions {
    std::optional<plan::Target> target{};  ///< whose limits are kept; none: nobody's
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
};

struct TraceResult {
    plan::MscclPlan plan{};
    std::optional<plan::Condition> condition{};  ///< of a custom collective
    std::optional<Rank> root{};
};

/// Judges a plan. A callback, because compile may not include `verify`.
using TraceJudge = std::function<plan::PlanClass(const TraceResult&)>;

/// Compiles a program (src/compile/trace has the passes). Of several ways the plan with the fewest steps,
/// then thread blocks, then channels among those that the judge likes best. Throws InputError where the
/// program's thread blocks contradict each other or a limit of the target is too small; InternalError if the
/// judge accepts none. Precondition: the verbs were traced, and the trace ends with what its collective
/// wants. O((instructions + edges) log instructions).
[[nodiscard]] TraceResult compile_trace(const lang::Trace& trace, const TraceOptions& options,
                                        const TraceJudge& judge);

}  // namespace tutti::compile

#pragma once

#include "core/rng.hpp"
#include "plan/msccl_plan.hpp"

#include <functional>

namespace tutti::test {

enum class PlanOrigin {
    Algorithm,  ///< a known algorithm, lowered with all its dependencies: nearly always right
    Mutated,    ///< such a one, with something changed
    Careless,   ///< any operations, lowered with dependencies left out
    Wild        ///< matched messages, but any steps in any order, waiting for anything
};
inline constexpr int kPlanOrigins = 4;

/// A small plan of two or three gpus that can be explored.
[[nodiscard]] plan::MscclPlan random_plan(Rng& rng, PlanOrigin origin);

/// One change: a dependency dropped or redirected, steps swapped, duplicated, dropped or moved to another
/// block, an offset, count, type, peer, channel or hasdep changed, the mode flipped.
void mutate(plan::MscclPlan& plan, Rng& rng);

/// Less of the plan, as long as `fails` holds: without blocks, without a step (a send goes with its receive),
/// with fewer chunks, fewer dependencies.
[[nodiscard]] plan::MscclPlan shrunk(plan::MscclPlan plan,
                                     const std::function<bool(const plan::MscclPlan&)>& fails);

}  // namespace tutti::test

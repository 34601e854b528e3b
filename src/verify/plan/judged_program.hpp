#pragma once

#include "plan/program.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/plan/postcondition.hpp"

#include <vector>

namespace tutti::verify {

/// What a plan was judged as: a program for each of its call modes.
struct JudgedProgram {
    plan::Program program{};
    /// What its outputs must hold. Its condition, if any, is that of the reading.
    Postcondition postcondition{};
    bool in_place = false;
};
/// The same, and the programs that were judged, for who executes them. Of modes that could not be judged (and
/// of those whose root was sought in vain) there is none; whether they are right says the verdict.
[[nodiscard]] plan::PlanVerdict verify(const plan::MscclPlan& plan, const PlanReading& reading,
                                       std::vector<JudgedProgram>& programs);
[[nodiscard]] plan::PlanVerdict verify(const plan::ExecutionPlan& plan, const PlanReading& reading,
                                       std::vector<JudgedProgram>& programs);

}  // namespace tutti::verify

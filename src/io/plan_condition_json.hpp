#pragma once

#include "io/source.hpp"
#include "plan/condition.hpp"

#include <string>

namespace tutti::io {

inline constexpr int kConditionFormat = 1;

/// The precondition and postcondition of a custom collective; docs/plan-conditions.md describes the file.
/// Throws InputError with the path ("/outputs/3/0") or "line:column". The verifier checks whether the plan
/// has these ranks and chunks.
[[nodiscard]] plan::Condition read_plan_condition(Source& source);

/// A condition as such a file, with the comment if it is not empty. Neighbouring chunks are written as
/// ranges.
[[nodiscard]] std::string plan_condition_text(const plan::Condition& condition,
                                              const std::string& comment = {});

}  // namespace tutti::io

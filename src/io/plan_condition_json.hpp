#pragma once

#include "io/source.hpp"
#include "plan/condition.hpp"

#include <string>

namespace tutti::io {

inline constexpr int kConditionFormat = 1;

/// What a custom collective starts from and must end with, as docs/plan-conditions.md describes the file.
/// Throws InputError with the path ("/outputs/3/0") or "line:column". What only a plan can judge (ranks and
/// chunks that it has not) is left to the verifier.
[[nodiscard]] plan::Condition read_plan_condition(Source& source);

/// The same as such a file. Neighbouring chunks are written as ranges.
[[nodiscard]] std::string plan_condition_text(const plan::Condition& condition);

}  // namespace tutti::io

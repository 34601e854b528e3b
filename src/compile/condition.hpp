#pragma once

#include "compile/places.hpp"

#include "plan/condition.hpp"

namespace tutti::compile {

/// What a plan of this part starts from and must end with, for kinds that plan files have no name for
/// (docs/plan-conditions.md). Where several ranks hold the same plain chunk from the start, the condition
/// names the one whose copy the schedule brings: files have no way to say that two inputs are equal.
[[nodiscard]] plan::Condition condition_of(const Part& part, const Places& places);

}  // namespace tutti::compile

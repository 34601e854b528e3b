#pragma once

#include "app/judge_plans.hpp"
#include "app/schedule_judge.hpp"

#include <variant>

namespace tutti::app {

/// The result for a file of either kind.
using Judged = std::variant<JudgedSchedule, JudgedPlan>;

/// Judges files, recognised by content: our schedules with their instance, plans of other tools, folders of
/// plans. With a topology among the options, plans are timed too. Errors in a file are in its verdict. Throws
/// InputError when the files do not fit together, LimitError when interrupted.
[[nodiscard]] std::vector<Judged> judge(const JudgeOptions& options, const Watch& watch = {});

}  // namespace tutti::app

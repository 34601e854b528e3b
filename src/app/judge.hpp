#pragma once

#include "app/judge_plans.hpp"
#include "app/schedule_judge.hpp"

#include <variant>

namespace tutti::app {

/// What became of a file, whichever kind it is.
using Judged = std::variant<JudgedSchedule, JudgedPlan>;

/// Judges files whose content tells what they are: schedules of ours with their instance, plans of other
/// tools, folders of plans; with a topology among the options, plans are timed too. Whatever is wrong with a
/// file is in its verdict. Throws InputError when the files make no sense together, LimitError when
/// interrupted.
[[nodiscard]] std::vector<Judged> judge(const JudgeOptions& options, const Watch& watch = {});

}  // namespace tutti::app

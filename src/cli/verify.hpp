#pragma once

#include "app/judge.hpp"
#include "app/judge_calls.hpp"
#include "app/judge_tensor.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

/// The parts of `tutti verify`; each has its files judged, prints the results and returns the worst exit
/// code. The options were checked before, so that an error in them is printed before any verdict.

/// Our schedules, against their instance.
[[nodiscard]] ExitCode verify_schedules(const app::ScheduleFiles& files, const app::JudgeOptions& options,
                                        const Talk& talk, const Process& process);
/// Plans of other tools, a page or a line for each.
[[nodiscard]] ExitCode verify_plans(const std::vector<std::string>& files, const app::JudgeOptions& options,
                                    const std::optional<app::PlanNetwork>& network, const Talk& talk,
                                    const Process& process);
/// Every plan below the folders, and the plans named, as one table. The code is 1 if any is wrong.
[[nodiscard]] ExitCode verify_folders(const app::FilesToJudge& files, const app::JudgeOptions& options,
                                      const std::optional<app::PlanNetwork>& network, const Talk& talk,
                                      const Process& process);
/// A tensor program and what was made of it.
[[nodiscard]] ExitCode verify_tensor(const app::TensorJudgeOptions& options, const Talk& talk,
                                     const Process& process);
/// The calls of the ranks of a job: whether they fit together and all end.
[[nodiscard]] ExitCode verify_calls(const app::CallOptions& options, const Talk& talk,
                                    const Process& process);

}  // namespace tutti::cli

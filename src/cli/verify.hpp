#pragma once

#include "cli/file_kind.hpp"
#include "cli/run.hpp"

namespace tutti::cli {

/// The parts of `tutti verify`; each judges its files, prints and returns the worst code.

/// Schedules of ours, against their instance.
[[nodiscard]] ExitCode verify_schedules(const ScheduleFiles& files, const VerifyOptions& options,
                                        const Process& process);
/// Plans of other tools, a page or a line for each.
[[nodiscard]] ExitCode verify_plans(const VerifyFiles& files, const VerifyOptions& options,
                                    const Process& process);
/// Every plan below the folders, and the plans named, as one table. The code is 1 if any is wrong.
[[nodiscard]] ExitCode verify_folders(const VerifyFiles& files, const VerifyOptions& options,
                                      const Process& process);

/// How many files are judged at a time.
[[nodiscard]] unsigned threads_of(const VerifyOptions& options);

}  // namespace tutti::cli

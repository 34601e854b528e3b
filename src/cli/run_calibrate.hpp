#pragma once

#include "app/calibrate.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

/// `tutti run --calibrate`.
ExitCode run_calibrate(const app::CalibrateOptions& options, const Talk& talk, const Process& process);

}  // namespace tutti::cli

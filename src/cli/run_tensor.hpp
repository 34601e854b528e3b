#pragma once

#include "app/run_tensor.hpp"
#include "cli/command.hpp"

namespace tutti::cli {

/// tutti run for a tensor program.
[[nodiscard]] ExitCode run_tensor_program(const app::RunTensorOptions& options, const Talk& talk,
                                          const Process& process);

}  // namespace tutti::cli

#pragma once

#include "cli/command.hpp"

#include <vector>

namespace tutti::cli {

/// All commands, in the order of `tutti --help`.
[[nodiscard]] std::vector<Command> commands();

}  // namespace tutti::cli

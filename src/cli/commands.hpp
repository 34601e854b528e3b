#pragma once

#include "cli/command.hpp"

#include <vector>

namespace tutti::cli {

/// All commands, in the order in which people should meet them.
[[nodiscard]] std::vector<Command> commands();

}  // namespace tutti::cli

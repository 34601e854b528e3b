#pragma once

#include "models/backends/registry.hpp"

namespace tutti::models {

/// One function per backend, defined in the file of the same name; or, when that file is left out of the
/// build, in registry.cpp, where it answers with the reason.
[[nodiscard]] OpenedBackend open_cpsat();
[[nodiscard]] OpenedBackend open_highs();
[[nodiscard]] OpenedBackend open_z3();

}  // namespace tutti::models

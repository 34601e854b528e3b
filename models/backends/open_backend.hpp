#pragma once

#include "models/backends/registry.hpp"

namespace tutti::models {

/// The backend of a module; each backend's file defines it, and module_entry.cpp calls it.
[[nodiscard]] OpenedBackend open_backend();

}  // namespace tutti::models

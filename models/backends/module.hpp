#pragma once

#include "models/backends/registry.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

namespace tutti::models {

/// Where modules are looked for, in this order; the first folder that has the file decides:
/// 1. the folders in the environment variable TUTTI_MODULE_PATH, separated by colons;
/// 2. `modules` beside the file that holds this code (a program, libtutti.so, a Python extension);
/// 3. where `cmake --install` puts them, relative to that file, as libtutti.so and as bin/tutti see it.
[[nodiscard]] std::vector<std::filesystem::path> module_folders();

/// The same for given values of the variable and of the file's place.
[[nodiscard]] std::vector<std::filesystem::path> module_folders(std::string_view path_variable,
                                                                const std::filesystem::path& own_file);

/// Opens the backend in the module `file`. Absent, with a reason, if the file or the solver that it links
/// cannot be loaded, if it is not a module of tutti, or if it was built with another interface.
/// A loaded module stays in memory until the process ends: solvers do not survive being unloaded.
[[nodiscard]] OpenedBackend open_module(const std::filesystem::path& file);

}  // namespace tutti::models

#pragma once

#include "models/backend.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tutti::models {

/// A backend ready to solve, or else the reason why there is none.
struct OpenedBackend {
    std::unique_ptr<Backend> backend;
    std::string absence;

    explicit operator bool() const { return backend != nullptr; }
};

/// A line of the table of backends. Each backend is a module, a shared library that is opened at run time.
struct BackendEntry {
    std::string_view name;      ///< what the user types: "cpsat"
    std::string_view solver;    ///< what its authors call it: "OR-Tools CP-SAT"
    std::string_view left_out;  ///< why its module was not built with this program; empty where it was

    [[nodiscard]] bool built() const { return left_out.empty(); }

    /// Opens the first file tutti_<name>.so in the module folders (module.hpp), whether it was built with
    /// this program or not. The first call loads the solver: milliseconds, for OR-Tools fractions of a
    /// second.
    [[nodiscard]] OpenedBackend open() const;
};

/// Every backend that tutti knows, whether its module was built or not, sorted by name.
[[nodiscard]] std::span<const BackendEntry> backends();

/// The entry of that name, or null.
[[nodiscard]] const BackendEntry* find_backend(std::string_view name);

}  // namespace tutti::models

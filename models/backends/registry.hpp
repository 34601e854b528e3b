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

/// A line of the table of backends.
struct BackendEntry {
    std::string_view name;    ///< what the user types: "cpsat"
    std::string_view solver;  ///< what its authors call it: "OR-Tools CP-SAT"
    bool built_in;  ///< compiled into this program; opening it may still fail if its library has gone
    OpenedBackend (*open)();  ///< may load a library: fractions of a second
};

/// Every backend that tutti knows, whether built in or not, sorted by name.
[[nodiscard]] std::span<const BackendEntry> backends();

/// The entry of that name, or null.
[[nodiscard]] const BackendEntry* find_backend(std::string_view name);

}  // namespace tutti::models

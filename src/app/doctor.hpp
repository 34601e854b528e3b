#pragma once

#include "app/json.hpp"
#include "core/search_options.hpp"  // IWYU pragma: export
#include "models/backends/registry.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

/// The optimum of the toy problem that every solver is asked to find (models::toy).
inline constexpr std::int64_t kToyExpected = -models::kToyOptimum;

/// The check of one solver.
struct Examination {
    std::string_view name, solver;
    std::string absence;  ///< why it is not there; empty where it is
    models::SolverLibrary library;
    models::Answer answer;  ///< to the toy

    [[nodiscard]] bool present() const { return absence.empty(); }
    [[nodiscard]] bool right() const {
        return answer.ended == models::Ended::Optimal && answer.objective == models::kToyOptimum;
    }
    [[nodiscard]] bool ill() const { return present() && !right(); }
    /// The toy problem is a maximisation, and solvers minimise its negation; 0 if there is no answer.
    [[nodiscard]] std::int64_t found() const { return -answer.objective.value_or(0); }
};

/// Loads each solver and lets it solve the toy problem.
[[nodiscard]] std::vector<Examination> examine_solvers();

/// "cpsat", "highs", "z3": all supported solvers, whether they can be loaded or not.
[[nodiscard]] std::vector<std::string_view> solver_names();

/// The program and its machine.
struct Machine {
    std::string compiler{}, build{};
    unsigned threads = 0;
    std::uint64_t memory_bytes = 0;
};
[[nodiscard]] Machine this_machine();

/// What `tutti doctor --json` prints, except the exit code.
[[nodiscard]] io::Json json_of(const std::vector<Examination>& examinations, const Machine& machine);

/// The table of search options: `options`, a list of objects.
[[nodiscard]] io::Json search_options_json();

}  // namespace tutti::app

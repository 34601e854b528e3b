#pragma once

#include "core/rng.hpp"
#include "models/program.hpp"

#include <functional>

namespace tutti::test {

/// Any kind of constraint over a few variables, among them some with negative bounds: small enough to
/// enumerate (at most some thousand assignments). About a third have no solution.
[[nodiscard]] models::Program random_program(Rng& rng);

/// Whether the values solve the program, by the words of models/program.hpp and nothing of its code.
[[nodiscard]] bool solves(const models::Program& program, const std::vector<std::int64_t>& values);

/// Calls `body` with every assignment within the bounds.
void for_assignments(const models::Program& program,
                     const std::function<void(const std::vector<std::int64_t>&)>& body);

/// The least objective of all solutions (0 for each if there is no objective); none if there is no solution.
[[nodiscard]] std::optional<std::int64_t> enumerated_optimum(const models::Program& program);

/// `pigeons` into one hole less: no solution, and hard to refute for whoever does not count.
[[nodiscard]] models::Program pigeonhole(std::size_t pigeons);

}  // namespace tutti::test

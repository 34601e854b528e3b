#include "models/backend.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::models {

LinearAnswer Backend::solve(const LinearProgram&, const SolveLimits&) const {
    return {.words = "this solver takes no linear programs"};
}

std::string parameters_of(const SolveLimits& limits) {
    return fmt::format("seed {}, threads {}{}", limits.seed, limits.threads,
                       limits.presolve ? "" : ", no presolve");
}

Program toy() {
    Program program;
    const Var x = program.integer(0, 10, "x"), y = program.integer(0, 10, "y");
    program.row(std::array{Term{x, 1}, Term{y, 1}}, kMinusInfinity, 4);
    program.row(std::array{Term{x, 1}, Term{y, 3}}, kMinusInfinity, 6);
    program.row(std::array{Term{x, 1}}, kMinusInfinity, 3);
    program.minimise(std::array{Term{x, -3}, Term{y, -2}});
    return program;
}

}  // namespace tutti::models

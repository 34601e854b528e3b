#pragma once

#include "core/stop.hpp"
#include "models/encode/step.hpp"

#include <vector>

namespace tutti::models {

/// A group of symmetries of the problem (of its arcs with their capacities and of its classes with their
/// counts) in which all but the identity move every node. As large as a short search finds; the identity
/// comes first. Precondition: each class has one holder, or else only the identity is returned.
[[nodiscard]] std::vector<StepSymmetry> free_symmetries(const StepProblem& problem, const Stop& stop = {});

}  // namespace tutti::models

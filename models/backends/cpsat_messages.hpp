#pragma once

#include "models/backends/claim.hpp"

namespace tutti::models {

/// A CpModelProto. O(size of the program).
[[nodiscard]] std::string model_bytes(const Program& program);

/// SatParameters. The stop is not among them: it is the caller's to watch.
[[nodiscard]] std::string parameter_bytes(const SolveLimits& limits);

/// What a CpSolverResponse says; Failed if it cannot be read.
[[nodiscard]] Claim claim_of(const std::string& response);

}  // namespace tutti::models

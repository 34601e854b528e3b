#pragma once

#include "models/program.hpp"

#include <iosfwd>
#include <optional>
#include <string>

namespace tutti::models {

// A program as text: to look at, to give to another solver, to send to a solver's authors. Variables carry
// their names; constraints are numbered as in the program.

/// Free MPS, which every solver of integer programs reads. What is not a row is linearised
/// (models/linearise); the answer is why that cannot be done, and then nothing is written. Hints have no
/// place in it.
[[nodiscard]] std::optional<std::string> write_mps(std::ostream& out, const Program& program);

/// SMT-LIB 2.6, logic QF_LIA; the objective as `minimize`, which Z3 and OptiMathSAT know. Hints have no place
/// in it.
void write_smt2(std::ostream& out, const Program& program);

/// CP-SAT's CpModelProto in protobuf's text format, hints included.
void write_cpsat_text(std::ostream& out, const Program& program);

}  // namespace tutti::models

#pragma once

#include "run/program_run.hpp"
#include "verify/tensor/rank_machine.hpp"

#include <vector>

namespace tutti::run {

/// Every rank's part of the inputs, of arrays as the verifier has them, with real numbers or in the field.
/// Inputs that the
/// program does not have are left out. Throws InputError where an array is missing or has another shape.
[[nodiscard]] std::vector<RankTensors> rank_inputs(const tensor::Program& program,
                                                   const verify::Arrays& arrays, Precision precision);

/// What ranks ended with, to be compared with a program's meaning.
[[nodiscard]] verify::RankResults rank_results(const tensor::Program& program,
                                               const std::vector<RankTensors>& outputs);

}  // namespace tutti::run

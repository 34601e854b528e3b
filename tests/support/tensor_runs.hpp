#pragma once

#include "core/rng.hpp"
#include "tensor/program.hpp"
#include "tests/oracle/tensor_machine.hpp"
#include "verify/tensor/meaning.hpp"

#include <optional>
#include <string>

namespace tutti::test {

/// The oracle's arithmetic, by numbers of the verifier and the same inputs.
[[nodiscard]] oracle::TensorArithmetic arithmetic_of(const verify::Numbers& numbers,
                                                     const tensor::Program& program,
                                                     const verify::Arrays& inputs);

/// What the oracle's ranks hold of the outputs, compared with the meaning of another program: words about
/// the first difference, or nothing.
[[nodiscard]] std::string oracle_difference(const tensor::Program& original, const tensor::Program& changed,
                                            const verify::Numbers& numbers);
/// The same of the verifier's ranks.
[[nodiscard]] std::string machine_difference(const tensor::Program& original, const tensor::Program& changed,
                                             const verify::Numbers& numbers);

/// The program with one change: an operand, an attribute, an operation or a layout is another, or a value is
/// skipped. Nothing if it does not type, or is the same.
[[nodiscard]] std::optional<tensor::Program> random_mutant(const tensor::Program& program, Rng& rng);

}  // namespace tutti::test

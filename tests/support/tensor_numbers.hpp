#pragma once

#include "io/json_text.hpp"
#include "tensor/program.hpp"
#include "verify/tensor/rank_machine.hpp"
#include "verify/tensor/real_numbers.hpp"

#include <array>
#include <string>
#include <vector>

namespace tutti::test {

/// tests/data/tensor/numbers: what others computed for the programs of the set.
[[nodiscard]] std::vector<std::string> files_of_numbers();

/// The program at the sizes of the file.
[[nodiscard]] tensor::Program at_sizes_of(const io::Json& test, const tensor::Program& program);
[[nodiscard]] verify::Arrays inputs_of(const io::Json& test, const tensor::Program& program,
                                       const verify::Numbers& numbers);
[[nodiscard]] verify::Results outputs_of(const io::Json& test, const tensor::Program& program);

/// How programs are run, and how far what they give may be from the file.
struct NumberKind {
    verify::RealNumbers::Precision precision;
    verify::Tolerance tolerance;
};
inline constexpr std::array<NumberKind, 2> kNumberKinds{
    NumberKind{verify::RealNumbers::Precision::F64, {1e-9, 1e-12}},
    NumberKind{verify::RealNumbers::Precision::F32, {0, 1e-5}}};

/// The output in which the ranks of a program, already at the file's sizes, differ from it; "" if none does.
[[nodiscard]] std::string numbers_difference(const io::Json& test, const tensor::Program& program,
                                             const NumberKind& kind);

}  // namespace tutti::test

#pragma once

#include "tensor/program.hpp"

#include <string>

namespace tutti::emit {

/// A C++20 program of one source file: a function `step`, kernel after kernel, and a main that runs all ranks
/// on threads. It includes rank_program.hpp (installed with tutti) and needs no library.
[[nodiscard]] std::string cpp_program(const tensor::Program& program);

}  // namespace tutti::emit

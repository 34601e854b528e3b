#pragma once

#include "tensor/program.hpp"

#include <string>

namespace tutti::emit {

/// A Python module with the program as `step(inputs, groups, coords)`: plain tensor code and functional
/// collectives of PyTorch, for every rank the same text (docs/torch.md). What does not divide is padded
/// around the calls, random numbers are Philox in integer tensor code, overlaps are loops over pieces in
/// which collectives are used a turn after they are issued. Linear in the size of the program.
[[nodiscard]] std::string torch_module(const tensor::Program& program);

}  // namespace tutti::emit

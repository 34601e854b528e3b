#pragma once

#include "tensor/program.hpp"

#include <string>

namespace tutti::emit {

/// A CUDA C++20 program of one source file: kernels, a function `step` that puts them and NCCL's calls into
/// two streams, and a main for one process on each GPU. It includes gpu_program.hpp (installed with tutti)
/// and needs CUDA, cuBLAS and NCCL. Throws InputError, with the value's name, for what that cannot express.
[[nodiscard]] std::string cuda_program(const tensor::Program& program);

}  // namespace tutti::emit

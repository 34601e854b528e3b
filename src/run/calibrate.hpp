#pragma once

#include "core/stop.hpp"
#include "tensor/device.hpp"

#include <cstddef>

namespace tutti::run {

/// What one thread of this machine computes, while as many others do the same as `threads` says (0: one for
/// each core), as a rank of a program does here: the copy of a triad on arrays that no cache holds, matrix
/// products by the library or by blocks, a chain of products and sums in the nearest cache by the kernels
/// that programs get, and a kernel of one element. By type of the elements: halves are stored as f32 here,
/// whole numbers as f64 (local_tensor.hpp), and their rates say so. Takes about a second. Throws LimitError
/// when stopped.
[[nodiscard]] tensor::Device calibrate(std::size_t threads = 0, const Stop& stop = {});

}  // namespace tutti::run

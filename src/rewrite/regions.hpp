#pragma once

#include "tensor/program.hpp"

#include <vector>

namespace tutti::rewrite {

/// Pointwise values that belong together: the same ancestors among the operations that are not pointwise, the
/// same shape and layout; then, from the last value on, one that is no output and whose users all lie in one
/// other region of the same shape and layout joins that region. In the order of the program, by their first
/// value. Takes time n * m / 64 for n values and m operations that are not pointwise.
[[nodiscard]] std::vector<std::vector<tensor::ValueId>> regions(const tensor::Program& program);

/// What a gather can be moved past in one step: a region as far as it depends on the gather, or one einsum,
/// reduce, transpose, shift or all_reduce that does.
[[nodiscard]] std::vector<std::vector<tensor::ValueId>> units(
    const tensor::Program& program, tensor::ValueId gather,
    const std::vector<std::vector<tensor::ValueId>>& regions);

}  // namespace tutti::rewrite

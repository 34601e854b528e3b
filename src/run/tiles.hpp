#pragma once

#include "run/local_tensor.hpp"
#include "tensor/value.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// An operand of a step: what an earlier step of the same loop made, or elements of a tensor, broadcast to
/// the loop's shape by strides of 0.
struct TileOperand {
    std::optional<std::size_t> step{};
    View view{};
    tensor::DType dtype{};
};

/// A pointwise value.
struct TileStep {
    const tensor::Value* value = nullptr;
    std::vector<TileOperand> operands{};
    LocalTensor* out = nullptr;  ///< none: only steps of this loop read it, and it is never in memory
};

/// Computes pointwise values over the same elements as one loop: a tile of every value after the other, so
/// that what one step makes is still in the nearest cache when the next one reads it. Every element is
/// computed by the same operations in the same order as in one loop for each value: the same bits.
void run_tiles(std::span<const std::int64_t> shape, std::span<const TileStep> steps, Precision precision);

}  // namespace tutti::run

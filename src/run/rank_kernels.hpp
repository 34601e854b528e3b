#pragma once

#include "run/local_tensor.hpp"
#include "tensor/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::run {

/// What is not pointwise, of one rank's operands as they are read (tensor::read_type).

/// Every letter's size is that of the part that is read; contracted letters are summed in the order in which
/// the operands name them.
[[nodiscard]] LocalTensor einsum(const tensor::Value& value, std::span<const View> operands,
                                 std::vector<std::int64_t> shape, const Arithmetic& arithmetic);
[[nodiscard]] LocalTensor reduced(const tensor::Value& value, const View& operand,
                                  std::vector<std::int64_t> shape, const Arithmetic& arithmetic);
/// transpose, broadcast.
[[nodiscard]] LocalTensor moved(const tensor::Value& value, const View& operand,
                                std::vector<std::int64_t> shape);
/// The elements of uniform, iota or constant in the box.
[[nodiscard]] LocalTensor generated(const tensor::Value& value, std::span<const tensor::Interval> box,
                                    const Arithmetic& arithmetic);

}  // namespace tutti::run

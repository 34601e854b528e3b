#pragma once

#include "run/contraction.hpp"
#include "run/memory_view.hpp"
#include "tensor/program.hpp"

#include <span>

namespace tutti::run {

/// What is not pointwise, of one rank's operands as they are read (tensor::read_type), into memory: all of
/// the rank's part, or a piece of it. Einsums are in run/contraction.hpp. The views do not overlap.

/// A row whose elements all go into one of the result is added up in eight lanes, of f32 and halves in f64.
void reduce(const tensor::Value& value, const MemoryView& operand, const MemoryView& result,
            const Arithmetic& arithmetic);
/// transpose, broadcast; and what only puts the same elements, in row-major order, into another place or
/// shape: slice, stack, unstack, reshape, update.
void move(const tensor::Value& value, const MemoryView& operand, const MemoryView& result);
/// The elements of uniform, iota or constant in the box.
[[nodiscard]] LocalTensor generated(const tensor::Value& value, std::span<const tensor::Interval> box,
                                    const Arithmetic& arithmetic);

}  // namespace tutti::run

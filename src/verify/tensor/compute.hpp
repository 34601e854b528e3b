#pragma once

#include "tensor/value.hpp"
#include "verify/tensor/arrays.hpp"

namespace tutti::verify {

/// An operand: an array of its whole shape, of which something may be poison, and the part of it that is
/// summed over where an operation reduces or contracts.
struct Operand {
    const Element* elements;
    const tensor::Type* type;
    Box held;
};

/// The elements in `box` of what a value without communication computes: sources other than inputs, pointwise
/// operations, einsum, reduce, transpose, broadcast and reshape. `out` is of the whole shape.
void compute(const tensor::Value& value, std::span<const Operand> operands, const Box& box,
             const Numbers& numbers, Element* out);

}  // namespace tutti::verify

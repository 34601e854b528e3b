#pragma once

#include "run/blas.hpp"
#include "run/matrix_product.hpp"
#include "run/memory_view.hpp"
#include "tensor/value.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace tutti::run {

/// Memory for einsums, one after the other; of one thread.
struct EinsumMemory {
    ProductMemory products{};
    /// An operand that the einsums to come have in common; `products.has_b` is false before the first of
    /// them.
    std::optional<std::size_t> kept{};
};

/// An einsum of operands of which these parts are read. Products of two operands are matrix products,
/// by BLAS where one is given and they are large; else every element is added up in the order in which the
/// operands name the contracted letters, so that a part of the result by itself has the bits that it has in
/// the whole. BLAS has an order of its own, which may depend on the size: there parts differ from the whole
/// by roundings. Sums of halves and of f32 are in f32, rounded to the type in the end.
void einsum(const tensor::Value& value, std::span<const MemoryView> operands, const MemoryView& result,
            const Arithmetic& arithmetic, EinsumMemory& memory, const Blas* blas = nullptr);

}  // namespace tutti::run

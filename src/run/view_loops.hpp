#pragma once

#include "emit/element_functions.hpp"
#include "run/kernel_code.hpp"
#include "run/memory_view.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti::run {

/// Calls `body` with the kind of numbers and an element of the type in which they are stored.
template <class Body>
void in_numbers_of(Storage storage, const Arithmetic& arithmetic, const Body& body) {
    switch (storage) {
        case Storage::Single:
            return body(emit::element::Reals{}, float{});
        case Storage::Full:
            return body(emit::element::Reals{}, double{});
        case Storage::Field:
            return body(emit::element::Fields{arithmetic.salt}, Field{});
    }
}

/// Calls `body(elements)` for every row of the view's elements that are next to each other, or for each of
/// them.
template <class T, class Body>
void for_each_row(const MemoryView& view, const Body& body) {
    const LoopShape shape = joined_dims({view.shape, {view.strides}});
    const bool has_rows = shape.strides[0].back() == 1;
    const std::size_t loops = shape.sizes.size() - (has_rows ? 1 : 0);
    const auto count = static_cast<std::size_t>(has_rows ? shape.sizes.back() : 1);
    if (count == 0) return;
    for_each_offset<1>(std::span(shape.sizes).first(loops), {std::span(shape.strides[0]).first(loops)}, {0},
                       [&](const std::array<std::int64_t, 1>& at) {
                           body(std::span<T>(reinterpret_cast<T*>(view.at(at[0])), count));
                       });
}

/// Calls `body(x, x_step, y, y_step, count)` for rows of two views of the same shape.
template <class T, class Body>
void for_each_row_pair(const std::vector<std::int64_t>& sizes, const MemoryView& x, const MemoryView& y,
                       const Body& body) {
    const LoopShape shape = joined_dims({sizes, {x.strides, y.strides}});
    const std::size_t loops = shape.sizes.size() - 1;
    if (shape.sizes.back() == 0) return;
    for_each_offset<2>(std::span(shape.sizes).first(loops),
                       {std::span(shape.strides[0]).first(loops), std::span(shape.strides[1]).first(loops)},
                       {0, 0}, [&](const std::array<std::int64_t, 2>& at) {
                           body(reinterpret_cast<T*>(x.at(at[0])), shape.strides[0].back(),
                                reinterpret_cast<T*>(y.at(at[1])), shape.strides[1].back(),
                                shape.sizes.back());
                       });
}

/// Rounds what is there to what the type has.
inline void round_elements(tensor::DType dtype, Precision precision, const MemoryView& view) {
    if (view.storage == Storage::Single) {
        for_each_row<float>(view, [&](std::span<float> row) { round_to(dtype, precision, row); });
    } else if (view.storage == Storage::Full) {
        for_each_row<double>(view, [&](std::span<double> row) { round_to(dtype, row); });
    }
}

}  // namespace tutti::run

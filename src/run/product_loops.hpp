#pragma once

// The tile of matrix products, included by one source file for each kind of processor (see kernel_loops.hpp):
// six rows of two vectors stay in registers while the inner index runs. No multiplication is fused with an
// addition, so that all processors give the same bits.

#include "run/matrix_product.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tutti::run {
namespace {

template <std::int64_t kRows, class T>
void product_tile(std::int64_t inner, const T* a, const T* b, T* tile) {
    typedef T Vector __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));  // NOLINT
    constexpr std::int64_t kLane = 32 / static_cast<std::int64_t>(sizeof(T)), kColumns = 2 * kLane;
    Vector sums[static_cast<std::size_t>(kRows)][2];
    for (std::int64_t i = 0; i < kRows; ++i) {
        sums[i][0] = *reinterpret_cast<const Vector*>(tile + i * kColumns);
        sums[i][1] = *reinterpret_cast<const Vector*>(tile + i * kColumns + kLane);
    }
    for (std::int64_t p = 0; p < inner; ++p) {
        const Vector left = *reinterpret_cast<const Vector*>(b + p * kColumns),
                     right = *reinterpret_cast<const Vector*>(b + p * kColumns + kLane);
#pragma GCC unroll 6
        for (std::int64_t i = 0; i < kRows; ++i) {
            const T factor = a[p * kTileRows + i];
            sums[i][0] += factor * left;
            sums[i][1] += factor * right;
        }
    }
    for (std::int64_t i = 0; i < kRows; ++i) {
        *reinterpret_cast<Vector*>(tile + i * kColumns) = sums[i][0];
        *reinterpret_cast<Vector*>(tile + i * kColumns + kLane) = sums[i][1];
    }
}

template <class T, std::size_t... kLess>
constexpr std::array<ProductTable::Tile<T>, kTileRows> tiles_by_rows(std::index_sequence<kLess...>) {
    return {product_tile<kLess + 1, T>...};
}

constexpr ProductTable made_product_table() {
    constexpr std::make_index_sequence<kTileRows> kRows;
    return {tiles_by_rows<float>(kRows), tiles_by_rows<double>(kRows)};
}

}  // namespace
}  // namespace tutti::run

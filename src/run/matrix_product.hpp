#pragma once

#include "run/blas.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// A matrix somewhere in memory: how far apart neighbouring rows and columns are.
template <class T>
struct Matrix {
    T* first = nullptr;
    std::int64_t row_step = 0, column_step = 0;
};
template <class T>
[[nodiscard]] Matrix<T> transposed(Matrix<T> matrix) {
    return {matrix.first, matrix.column_step, matrix.row_step};
}
struct ProductSizes {
    std::int64_t rows = 0, columns = 0, inner = 0;
};

/// Memory that products work in, kept from one to the next. Of one thread.
struct ProductMemory {
    std::vector<double> rows{}, columns{};
    bool keeps_b = false;  ///< the products to come have one b: it is copied by the first of them only
    bool has_b = false;    ///< that one was
};

/// c += a b, in blocks that stay in the caches. Every element of c is added up in the order of the inner
/// index, by products and sums that are rounded: the bits are those of three plain loops, and of any part of
/// c computed by itself.
void multiply(const ProductSizes& sizes, Matrix<const float> a, Matrix<const float> b, Matrix<float> c,
              ProductMemory& memory);
void multiply(const ProductSizes& sizes, Matrix<const double> a, Matrix<const double> b, Matrix<double> c,
              ProductMemory& memory);

/// c += a b by a library, in an order of its own. False, and nothing is done, where the library cannot take
/// such matrices: one step of each must be 1.
[[nodiscard]] bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const float> a,
                               Matrix<const float> b, Matrix<float> c);
[[nodiscard]] bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const double> a,
                               Matrix<const double> b, Matrix<double> c);

inline constexpr std::int64_t kTileRows = 6, kTileBytes = 64;
/// The innermost part of multiply(), compiled for a kind of processor: a tile of c += a b with both packed.
/// kTileRows rows of a, by inner index; kTileBytes of a row of b likewise. By the number of rows, less 1,
/// that count: the others stay as they are.
struct ProductTable {
    template <class T>
    using Tile = void (*)(std::int64_t inner, const T* a, const T* b, T* tile);
    std::array<Tile<float>, kTileRows> single;
    std::array<Tile<double>, kTileRows> full;
};
extern const ProductTable kPortableProducts;
extern const ProductTable kAvx2Products;  ///< only defined where there are such processors

}  // namespace tutti::run

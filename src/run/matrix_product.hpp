#pragma once

#include "run/blas.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::run {

/// A matrix somewhere in memory: how far apart neighbouring rows and columns are.
template <class T>
struct Matrix {
    T* first = nullptr;
    std::int64_t row_step = 0, column_step = 0;
};
struct ProductSizes {
    std::int64_t rows = 0, columns = 0, inner = 0;
};

/// c += a b, in blocks that stay in the caches. Every element of c is added up in the order of the inner
/// index, by products and sums that are rounded: the bits are those of three plain loops, and of any part of
/// c computed by itself.
void multiply(const ProductSizes& sizes, Matrix<const float> a, Matrix<const float> b, Matrix<float> c);
void multiply(const ProductSizes& sizes, Matrix<const double> a, Matrix<const double> b, Matrix<double> c);

/// c += a b by a library, in an order of its own. False, and nothing is done, where the library cannot take
/// such matrices: one step of each must be 1.
[[nodiscard]] bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const float> a,
                               Matrix<const float> b, Matrix<float> c);
[[nodiscard]] bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const double> a,
                               Matrix<const double> b, Matrix<double> c);

/// The innermost part of multiply(), compiled for a kind of processor: a tile of c += a b with both packed.
/// kTileRows rows of a, by inner index; kTileBytes of a row of b likewise.
struct ProductTable {
    void (*single)(std::int64_t inner, const float* a, const float* b, float* tile);
    void (*full)(std::int64_t inner, const double* a, const double* b, double* tile);
};
inline constexpr std::int64_t kTileRows = 6, kTileBytes = 64;
extern const ProductTable kPortableProducts;
extern const ProductTable kAvx2Products;  ///< only defined where there are such processors

}  // namespace tutti::run

// Products in the manner of GotoBLAS (K. Goto, R. van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34, 2008): parts of a and b that fit in the caches are copied so that the
// innermost tile reads both from the beginning to the end. Here a tile begins with what is in c and adds to
// it in the order of the inner index, so that blocks change no bit.

#include "run/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace tutti::run {
namespace {

constexpr std::int64_t kInnerBlock = 256, kRowBlock = 16 * kTileRows, kColumnBlock = 2048;

const ProductTable& best_products() {
#if defined(TUTTI_AVX2_KERNELS)
    if (__builtin_cpu_supports("avx2")) return kAvx2Products;
#endif
    return kPortableProducts;
}

std::int64_t rounded_up(std::int64_t number, std::int64_t unit) { return (number + unit - 1) / unit * unit; }

/// Strips of `width` rows, each by column; zeros where there are no more rows.
template <class T>
void pack(Matrix<const T> from, std::int64_t rows, std::int64_t columns, std::int64_t width, T* to) {
    for (std::int64_t strip = 0; strip < rows; strip += width) {
        const std::int64_t here = std::min(width, rows - strip);
        for (std::int64_t p = 0; p < columns; ++p, to += width) {
            const T* source = from.first + strip * from.row_step + p * from.column_step;
            for (std::int64_t i = 0; i < here; ++i) to[i] = source[i * from.row_step];
            std::fill(to + here, to + width, T{0});
        }
    }
}

template <class T>
class Blocks {
  public:
    Blocks(const ProductSizes& sizes, Matrix<const T> a, Matrix<const T> b, Matrix<T> c)
        : sizes_(sizes), a_(a), b_(b), c_(c) {
        const std::int64_t inner = std::min(sizes.inner, kInnerBlock);
        rows_.resize(
            static_cast<std::size_t>(inner * rounded_up(std::min(sizes.rows, kRowBlock), kTileRows)));
        columns_.resize(
            static_cast<std::size_t>(inner * rounded_up(std::min(sizes.columns, kColumnBlock), kColumns)));
    }

    void run() {
        for (std::int64_t column = 0; column < sizes_.columns; column += kColumnBlock) {
            for (std::int64_t inner = 0; inner < sizes_.inner; inner += kInnerBlock) {
                const std::int64_t depth = std::min(kInnerBlock, sizes_.inner - inner),
                                   width = std::min(kColumnBlock, sizes_.columns - column);
                const Matrix<const T> of_b{b_.first + inner * b_.row_step + column * b_.column_step,
                                           b_.column_step, b_.row_step};
                pack(of_b, width, depth, kColumns, columns_.data());
                for (std::int64_t row = 0; row < sizes_.rows; row += kRowBlock) {
                    const std::int64_t height = std::min(kRowBlock, sizes_.rows - row);
                    pack({a_.first + row * a_.row_step + inner * a_.column_step, a_.row_step, a_.column_step},
                         height, depth, kTileRows, rows_.data());
                    multiply_block({height, width, depth}, row, column);
                }
            }
        }
    }

  private:
    static constexpr std::int64_t kColumns = kTileBytes / static_cast<std::int64_t>(sizeof(T));

    void multiply_block(const ProductSizes& block, std::int64_t row, std::int64_t column) {
        for (std::int64_t j = 0; j < block.columns; j += kColumns) {
            for (std::int64_t i = 0; i < block.rows; i += kTileRows) {
                const std::int64_t height = std::min(kTileRows, block.rows - i),
                                   width = std::min(kColumns, block.columns - j);
                T* const first = c_.first + (row + i) * c_.row_step + (column + j) * c_.column_step;
                std::array<T, static_cast<std::size_t>(kTileRows * kColumns)> tile{};
                for (std::int64_t r = 0; r < height; ++r) {
                    for (std::int64_t s = 0; s < width; ++s)
                        tile[static_cast<std::size_t>(r * kColumns + s)] =
                            first[r * c_.row_step + s * c_.column_step];
                }
                add_products(block.inner, rows_.data() + i * block.inner, columns_.data() + j * block.inner,
                             tile.data());
                for (std::int64_t r = 0; r < height; ++r) {
                    for (std::int64_t s = 0; s < width; ++s)
                        first[r * c_.row_step + s * c_.column_step] =
                            tile[static_cast<std::size_t>(r * kColumns + s)];
                }
            }
        }
    }

    void add_products(std::int64_t inner, const T* a, const T* b, T* tile) {
        if constexpr (std::is_same_v<T, float>) {
            table_.single(inner, a, b, tile);
        } else {
            table_.full(inner, a, b, tile);
        }
    }

    ProductSizes sizes_;
    Matrix<const T> a_, b_;
    Matrix<T> c_;
    ProductTable table_ = best_products();
    std::vector<T> rows_, columns_;  ///< packed
};

/// A matrix as Fortran has it, column by column: itself, or its transpose.
struct Ordered {
    char transposed;
    std::int64_t leading;
};
template <class T>
std::optional<Ordered> ordered(Matrix<T> matrix, std::int64_t rows, std::int64_t columns) {
    if (matrix.row_step == 1 && matrix.column_step >= std::max<std::int64_t>(rows, 1))
        return Ordered{'N', matrix.column_step};
    if (matrix.column_step == 1 && matrix.row_step >= std::max<std::int64_t>(columns, 1))
        return Ordered{'T', matrix.row_step};
    return std::nullopt;
}

template <class T>
Matrix<T> transposed(Matrix<T> matrix) {
    return {matrix.first, matrix.column_step, matrix.row_step};
}

template <class T>
bool multiply_ordered(const Blas& blas, const ProductSizes& sizes, Matrix<const T> a, Matrix<const T> b,
                      Matrix<T> c) {
    // Fortran's c is the one whose columns are in one piece: of a row-major c that is its transpose.
    if (c.row_step != 1 || c.column_step < std::max<std::int64_t>(sizes.rows, 1)) {
        if (c.column_step != 1 || c.row_step < std::max<std::int64_t>(sizes.columns, 1)) return false;
        return multiply_ordered(blas, {sizes.columns, sizes.rows, sizes.inner}, transposed(b), transposed(a),
                                transposed(c));
    }
    const auto left = ordered(a, sizes.rows, sizes.inner), right = ordered(b, sizes.inner, sizes.columns);
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (!left || !right || std::max({sizes.rows, sizes.columns, sizes.inner}) > kMost ||
        std::max({left->leading, right->leading, c.column_step}) > kMost)
        return false;
    blas.multiply(left->transposed, right->transposed, sizes.rows, sizes.columns, sizes.inner, a.first,
                  left->leading, b.first, right->leading, c.first, c.column_step);
    return true;
}

}  // namespace

void multiply(const ProductSizes& sizes, Matrix<const float> a, Matrix<const float> b, Matrix<float> c) {
    if (sizes.rows > 0 && sizes.columns > 0 && sizes.inner > 0) Blocks<float>(sizes, a, b, c).run();
}
void multiply(const ProductSizes& sizes, Matrix<const double> a, Matrix<const double> b, Matrix<double> c) {
    if (sizes.rows > 0 && sizes.columns > 0 && sizes.inner > 0) Blocks<double>(sizes, a, b, c).run();
}

bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const float> a, Matrix<const float> b,
                 Matrix<float> c) {
    return multiply_ordered(blas, sizes, a, b, c);
}
bool multiply_by(const Blas& blas, const ProductSizes& sizes, Matrix<const double> a, Matrix<const double> b,
                 Matrix<double> c) {
    return multiply_ordered(blas, sizes, a, b, c);
}

}  // namespace tutti::run

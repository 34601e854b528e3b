// Products in the manner of GotoBLAS (K. Goto, R. van de Geijn, "Anatomy of high-performance matrix
// multiplication", ACM TOMS 34, 2008): parts of a and b that fit in the caches are copied so that the
// innermost tile reads both from the beginning to the end. Here a tile begins with what is in c and adds to
// it in the order of the inner index, so that blocks change no bit.
//
// Pieces of a product have a few rows of a each and all of b, whose copy took a quarter of their time: it is
// kept from piece to piece, and a tile computes no more rows than there are. 1024 x 1024 x 1024 with what is
// behind it, in 8 and 16 pieces of two parts each: 27.9 and 34.8 ms before, 21.2 and 22.3 now, whole 21.2.

#include "run/matrix_product.hpp"

#include <algorithm>
#include <array>
#include <cstring>
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

/// Strips of kWidth rows, each by column; zeros where there are no more rows.
template <std::int64_t kWidth, class T>
void pack(Matrix<const T> from, std::int64_t rows, std::int64_t columns, T* to) {
    for (std::int64_t strip = 0; strip < rows; strip += kWidth) {
        const std::int64_t here = std::min(kWidth, rows - strip);
        const T* const first = from.first + strip * from.row_step;
        if (here == kWidth && from.row_step == 1) {
            for (std::int64_t p = 0; p < columns; ++p, to += kWidth)
                std::memcpy(to, first + p * from.column_step, kWidth * sizeof(T));
            continue;
        }
        for (std::int64_t p = 0; p < columns; ++p, to += kWidth) {
            const T* source = first + p * from.column_step;
            for (std::int64_t i = 0; i < here; ++i) to[i] = source[i * from.row_step];
            std::fill(to + here, to + kWidth, T{0});
        }
    }
}

template <class T>
class Blocks {
  public:
    Blocks(const ProductSizes& sizes, Matrix<const T> a, Matrix<const T> b, Matrix<T> c,
           ProductMemory& memory)
        : sizes_(sizes), a_(a), b_(b), c_(c), memory_(memory) {
        const std::int64_t depth = std::min(sizes.inner, kInnerBlock),
                           height = rounded_up(std::min(sizes.rows, kRowBlock), kTileRows),
                           width = rounded_up(std::min(sizes.columns, kColumnBlock), kColumns);
        rows_ = room(memory.rows, depth * height);
        columns_ = memory.keeps_b ? room(memory.columns, sizes.inner * rounded_up(sizes.columns, kColumns))
                                  : room(memory.columns, depth * width);
    }

    void run() {
        for (std::int64_t column = 0; column < sizes_.columns; column += kColumnBlock) {
            for (std::int64_t inner = 0; inner < sizes_.inner; inner += kInnerBlock) {
                const std::int64_t depth = std::min(kInnerBlock, sizes_.inner - inner),
                                   width = std::min(kColumnBlock, sizes_.columns - column);
                const T* const columns = packed_b({0, width, depth}, column, inner);
                for (std::int64_t row = 0; row < sizes_.rows; row += kRowBlock) {
                    const std::int64_t height = std::min(kRowBlock, sizes_.rows - row);
                    pack<kTileRows, T>(
                        {a_.first + row * a_.row_step + inner * a_.column_step, a_.row_step, a_.column_step},
                        height, depth, rows_);
                    multiply_block({height, width, depth}, row, column, columns);
                }
            }
        }
        memory_.has_b = memory_.keeps_b;
    }

  private:
    static constexpr std::int64_t kColumns = kTileBytes / static_cast<std::int64_t>(sizeof(T));

    static T* room(std::vector<double>& memory, std::int64_t elements) {
        constexpr std::size_t kLine = 64 / sizeof(double);
        const std::size_t most =
            (static_cast<std::size_t>(elements) * sizeof(T)) / sizeof(double) + 1 + kLine;
        if (memory.size() < most) memory.resize(most);
        const auto past = reinterpret_cast<std::uintptr_t>(memory.data()) / sizeof(double) % kLine;
        return reinterpret_cast<T*>(memory.data() + (kLine - past) % kLine);
    }

    /// A block of b. Of one that is kept, blocks of the same columns follow each other.
    const T* packed_b(const ProductSizes& block, std::int64_t column, std::int64_t inner) {
        T* to = columns_;
        if (memory_.keeps_b) to += column * sizes_.inner + inner * rounded_up(block.columns, kColumns);
        if (memory_.keeps_b && memory_.has_b) return to;
        const Matrix<const T> of_b{b_.first + inner * b_.row_step + column * b_.column_step, b_.column_step,
                                   b_.row_step};
        pack<kColumns, T>(of_b, block.columns, block.inner, to);
        return to;
    }

    void multiply_block(const ProductSizes& block, std::int64_t row, std::int64_t column, const T* columns) {
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
                add_products(height, block.inner, rows_ + i * block.inner, columns + j * block.inner,
                             tile.data());
                for (std::int64_t r = 0; r < height; ++r) {
                    for (std::int64_t s = 0; s < width; ++s)
                        first[r * c_.row_step + s * c_.column_step] =
                            tile[static_cast<std::size_t>(r * kColumns + s)];
                }
            }
        }
    }

    void add_products(std::int64_t rows, std::int64_t inner, const T* a, const T* b, T* tile) {
        const auto less = static_cast<std::size_t>(rows - 1);
        if constexpr (std::is_same_v<T, float>) {
            table_.single[less](inner, a, b, tile);
        } else {
            table_.full[less](inner, a, b, tile);
        }
    }

    ProductSizes sizes_;
    Matrix<const T> a_, b_;
    Matrix<T> c_;
    const ProductTable& table_ = best_products();
    ProductMemory& memory_;
    T *rows_ = nullptr, *columns_ = nullptr;  ///< in it, packed
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

void multiply(const ProductSizes& sizes, Matrix<const float> a, Matrix<const float> b, Matrix<float> c,
              ProductMemory& memory) {
    if (sizes.rows > 0 && sizes.columns > 0 && sizes.inner > 0) Blocks<float>(sizes, a, b, c, memory).run();
}
void multiply(const ProductSizes& sizes, Matrix<const double> a, Matrix<const double> b, Matrix<double> c,
              ProductMemory& memory) {
    if (sizes.rows > 0 && sizes.columns > 0 && sizes.inner > 0) Blocks<double>(sizes, a, b, c, memory).run();
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

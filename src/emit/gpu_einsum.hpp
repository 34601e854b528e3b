#pragma once

/// Einsums on a GPU: by cuBLAS where letters lie as in matrices (each kind of letters, taken together, has
/// one step in each operand, and elements are next to each other along one side), else a thread for each
/// element.

#include "emit/gpu_arrays.hpp"

namespace tutti::gpu {

/// An einsum: for each operand, where it is for each element of the result and for each term.
inline constexpr int kMaxOperands = 4;
template <class T>
struct Contraction {
    int operands = 0;
    const T* data[kMaxOperands] = {};
    Frame outer[kMaxOperands] = {}, inner[kMaxOperands] = {};
    Size terms = 0;
};
template <class T>
__global__ void contract_elements(Size n, T* to, Contraction<T> in) {
    for (Size i = first_element(); i < n; i += all_threads()) {
        Number<T> sum{};
        for (Size k = 0; k < in.terms; ++k) {
            Number<T> term = number(in.data[0][in.outer[0].at(i) + in.inner[0].at(k)]);
            for (int o = 1; o < in.operands; ++o)
                term *= number(in.data[o][in.outer[o].at(i) + in.inner[o].at(k)]);
            sum = ranks::reduced(Reduction::sum, sum, term);
        }
        to[i] = T(sum);
    }
}

/// Letters of a product of two matrices, several of one kind taken together: how many indices, and how far
/// apart in the operands and the result. None (`fits` false) where they do not lie like that.
struct ProductLetters {
    struct Kind {
        Size size = 1, a = 0, b = 0, c = 0;
    };
    Kind batch{}, rows{}, columns{}, terms{};
    bool fits = true;

    void join(Kind& kind, const Kind& next) {
        if (next.size == 1) return;
        if (kind.size == 1) {
            kind = next;
        } else if (kind.a == next.a * next.size && kind.b == next.b * next.size &&
                   kind.c == next.c * next.size) {
            kind = {kind.size * next.size, next.a, next.b, next.c};
        } else {
            fits = false;
        }
    }
};

/// A matrix as cuBLAS has it, column by column: transposed or not, and how far columns are apart. `fits`:
/// elements are next to each other along one of the two.
struct BlasMatrix {
    bool fits = false, transposed = false;
    int apart = 1;

    BlasMatrix(Size rows, Size row_step, Size columns, Size column_step) {
        const auto wide = [&](Size step, Size least) {
            fits = step >= least && step < (Size{1} << 31U);
            apart = static_cast<int>(fits ? step : 1);
        };
        if (rows == 1 || row_step == 1) wide(columns == 1 ? std::max<Size>(rows, 1) : column_step, rows);
        if (!fits && (columns == 1 || column_step == 1)) {
            transposed = true;
            wide(rows == 1 ? std::max<Size>(columns, 1) : row_step, columns);
        }
    }
};

template <class T>
class Einsum {
  public:
    Einsum(const std::string& spec, std::vector<Array<T>> in) : in_(std::move(in)), step_(in_.size()) {
        std::vector<std::string> letters(1);
        const std::size_t arrow = spec.find("->");
        for (const char letter : spec.substr(0, arrow)) {
            if (letter == ',') {
                letters.emplace_back();
            } else {
                letters.back() += letter;
            }
        }
        result_ = spec.substr(arrow + 2);
        for (std::size_t k = 0; k < in_.size(); ++k) {
            for (std::size_t d = 0; d < letters[k].size(); ++d) {
                size_[letters[k][d]] = in_[k].shape[d];
                step_[k][letters[k][d]] = in_[k].strides[d];
            }
        }
    }

    Shape shape() const {
        Shape shape;
        for (const char letter : result_) shape.push_back(size_.at(letter));
        return shape;
    }

    /// False where it is no product of matrices; then nothing was done.
    bool by_blas(cublasHandle_t blas, const Array<T>& out) const {
        if (!std::is_floating_point_v<Number<T>> || in_.size() != 2 || product(out.shape) == 0) return false;
        ProductLetters product;
        const auto join = [&](char letter, Size c) {
            const bool a = step_[0].count(letter) > 0, b = step_[1].count(letter) > 0,
                       kept = result_.find(letter) != std::string::npos;
            if (!kept && !(a && b)) product.fits = false;
            product.join(!kept    ? product.terms
                         : a && b ? product.batch
                         : a      ? product.rows
                                  : product.columns,
                         {size_.at(letter), a ? step_[0].at(letter) : 0, b ? step_[1].at(letter) : 0, c});
        };
        for (std::size_t d = 0; d < result_.size(); ++d) join(result_[d], out.strides[d]);
        for (const auto& [letter, elements] : size_)
            if (result_.find(letter) == std::string::npos) join(letter, 0);
        const auto& [batch, rows, columns, terms, fits] = product;
        constexpr Size kMost = (Size{1} << 31U) - 1;
        if (!fits || terms.size == 0 || std::max({batch.size, rows.size, columns.size, terms.size}) > kMost)
            return false;
        // cuBLAS counts column by column: the result is (columns x rows), or as it is (rows x columns).
        const bool turned = columns.size == 1 || columns.c == 1;
        const BlasMatrix to = turned ? BlasMatrix(columns.size, columns.c, rows.size, rows.c)
                                     : BlasMatrix(rows.size, rows.c, columns.size, columns.c);
        const BlasMatrix a = turned ? BlasMatrix(columns.size, columns.b, terms.size, terms.b)
                                    : BlasMatrix(rows.size, rows.a, terms.size, terms.a);
        const BlasMatrix b = turned ? BlasMatrix(terms.size, terms.a, rows.size, rows.a)
                                    : BlasMatrix(terms.size, terms.b, columns.size, columns.b);
        if (!to.fits || to.transposed || !a.fits || !b.fits) return false;
        using Scale = std::conditional_t<std::is_same_v<Number<T>, double>, double, float>;
        const Scale one = 1, zero = 0;
        const T* const data[2] = {in_[turned ? 1 : 0].data, in_[turned ? 0 : 1].data};
        const Size apart[2] = {turned ? batch.b : batch.a, turned ? batch.a : batch.b};
        check(cublasGemmStridedBatchedEx(
            blas, a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N, b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
            static_cast<int>(turned ? columns.size : rows.size),
            static_cast<int>(turned ? rows.size : columns.size), static_cast<int>(terms.size), &one, data[0],
            blas_type(), a.apart, apart[0], data[1], blas_type(), b.apart, apart[1], &zero, out.data,
            blas_type(), to.apart, batch.c, static_cast<int>(batch.size),
            std::is_same_v<Scale, double> ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        return true;
    }

    Contraction<T> by_loops() const {
        Shape outer, inner;
        std::string terms;
        for (const char letter : result_) outer.push_back(size_.at(letter));
        for (const auto& [letter, elements] : size_) {
            if (result_.find(letter) != std::string::npos) continue;
            terms += letter;
            inner.push_back(elements);
        }
        Contraction<T> how;
        how.operands = static_cast<int>(in_.size());
        how.terms = product(inner);
        for (std::size_t k = 0; k < in_.size(); ++k) {
            Shape outer_steps, inner_steps;
            for (const char letter : result_)
                outer_steps.push_back(step_[k].count(letter) ? step_[k].at(letter) : 0);
            for (const char letter : terms)
                inner_steps.push_back(step_[k].count(letter) ? step_[k].at(letter) : 0);
            how.data[k] = in_[k].data;
            how.outer[k] = {outer, outer_steps};
            how.inner[k] = {inner, inner_steps};
        }
        return how;
    }

  private:
    static constexpr cudaDataType_t blas_type() {
        return std::is_same_v<T, double>          ? CUDA_R_64F
               : std::is_same_v<T, __half>        ? CUDA_R_16F
               : std::is_same_v<T, __nv_bfloat16> ? CUDA_R_16BF
                                                  : CUDA_R_32F;
    }

    std::vector<Array<T>> in_;
    std::vector<std::map<char, Size>> step_;  ///< of an operand's letters
    std::map<char, Size> size_;
    std::string result_;
};

}  // namespace tutti::gpu

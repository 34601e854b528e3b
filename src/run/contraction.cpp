// Einsums. Letters are of four classes: of the result and both operands (batch), of the result and the first
// (rows) or second operand (columns), of both operands only (inner). Neighbours of one class that every
// operand steps through as through one are joined; the last of rows, columns and inner is a matrix product,
// and the others are loops around it, inner ones last, so that sums keep their order.

#include "run/contraction.hpp"

#include "run/matrix_product.hpp"
#include "run/view_loops.hpp"
#include "tensor/infer.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti::run {

namespace element = emit::element;
using tensor::Value;

namespace {

/// A loop over one letter, or several that were joined: steps in the result and in each operand; 0 where they
/// do not have it.
struct Letter {
    std::int64_t size = 0;
    std::int64_t result = 0;
    std::vector<std::int64_t> operands{};
    bool is_kept = false;
    std::vector<bool> has{};  ///< by operand

    [[nodiscard]] bool same_class(const Letter& other) const {
        return is_kept == other.is_kept && has == other.has;
    }
};

/// The letters of the result, then the contracted ones as the operands name them.
std::vector<Letter> letters_of(const tensor::EinsumSpec& spec, std::span<const MemoryView> views,
                               const MemoryView& result) {
    std::string names = spec.result;
    for (const std::string& operand : spec.operands) {
        for (const char name : operand) {
            if (names.find(name) == std::string::npos) names += name;
        }
    }
    std::vector<Letter> letters;
    for (const char name : names) {
        Letter& letter = letters.emplace_back();
        const std::size_t kept = spec.result.find(name);
        letter.is_kept = kept != std::string::npos;
        if (letter.is_kept) letter.result = result.strides[kept];
        for (std::size_t k = 0; k < views.size(); ++k) {
            const std::size_t at = spec.operands[k].find(name);
            letter.has.push_back(at != std::string::npos);
            letter.operands.push_back(letter.has.back() ? views[k].strides[at] : 0);
            if (letter.has.back()) letter.size = views[k].shape[at];
        }
    }
    return letters;
}

/// Joins a letter with the one before it where both are one loop to all.
std::vector<Letter> joined(const std::vector<Letter>& letters) {
    std::vector<Letter> result;
    for (const Letter& letter : letters) {
        const auto joins = [&](const Letter& outer) {
            if (!outer.same_class(letter) || outer.result != letter.result * letter.size) return false;
            for (std::size_t k = 0; k < letter.operands.size(); ++k) {
                if (outer.operands[k] != letter.operands[k] * letter.size) return false;
            }
            return true;
        };
        if (!result.empty() && joins(result.back())) {
            const std::int64_t size = result.back().size * letter.size;
            result.back() = letter;
            result.back().size = size;
        } else {
            result.push_back(letter);
        }
    }
    return result;
}

template <class N, class T>
class Contraction {
  public:
    Contraction(const N& numbers, std::vector<Letter> letters, std::span<const MemoryView> views,
                const MemoryView& result, EinsumMemory& memory, const Blas* blas)
        : numbers_(numbers),
          letters_(std::move(letters)),
          result_(reinterpret_cast<T*>(result.first)),
          memory_(memory),
          blas_(blas) {
        for (const MemoryView& view : views) operands_.push_back(reinterpret_cast<const T*>(view.first));
    }

    void run() {
        if (std::ranges::any_of(letters_, [](const Letter& letter) { return letter.size <= 0; })) return;
        if constexpr (!std::is_same_v<T, Field>) {
            if (multiply_matrices()) return;
        }
        add_up();
    }

  private:
    /// Takes the last letter of a class out of the list.
    static Letter taken(std::vector<Letter>& letters, bool is_kept, std::vector<bool> has) {
        for (std::size_t i = letters.size(); i-- > 0;) {
            if (letters[i].is_kept != is_kept || letters[i].has != has) continue;
            const Letter letter = letters[i];
            letters.erase(letters.begin() + static_cast<std::ptrdiff_t>(i));
            return letter;
        }
        return {.size = 1, .result = 1, .operands = {1, 1}};
    }

    bool multiply_matrices() {
        if (operands_.size() != 2 || std::ranges::any_of(letters_, [](const Letter& letter) {
                return !letter.is_kept && letter.has != std::vector<bool>{true, true};
            }))
            return false;
        std::vector<Letter> loops = letters_;
        const Letter rows = taken(loops, true, {true, false}), columns = taken(loops, true, {false, true}),
                     inner = taken(loops, false, {true, true});
        constexpr std::int64_t kLeast = 4;  // below, a plain loop is faster than copying
        if (std::min(rows.size, columns.size) < kLeast || inner.size < kLeast) return false;
        const ProductSizes sizes{rows.size, columns.size, inner.size};
        constexpr std::int64_t kLarge = 32 * 32 * 32;
        const bool by_blas =
            blas_ != nullptr && blas_->is_there() && sizes.rows * sizes.columns * sizes.inner >= kLarge;
        ProductMemory& memory = memory_.products;
        memory.keeps_b = memory_.kept && std::ranges::all_of(loops, [&](const Letter& loop) {
                             return loop.operands[*memory_.kept] == 0;
                         });
        for_each(loops, [&](T* result, const std::vector<const T*>& from) {
            const Matrix<const T> a{from[0], rows.operands[0], inner.operands[0]},
                b{from[1], inner.operands[1], columns.operands[1]};
            const Matrix<T> c{result, rows.result, columns.result};
            if (by_blas && multiply_by(*blas_, sizes, a, b, c)) return;
            if (memory.keeps_b && memory_.kept == 0U) {
                multiply({sizes.columns, sizes.rows, sizes.inner}, transposed(b), transposed(a),
                         transposed(c), memory);
            } else {
                multiply(sizes, a, b, c, memory);
            }
        });
        return true;
    }

    /// One product of elements after the other. Inside is the last letter of the result, or the last that
    /// is contracted, whichever takes the shorter steps.
    void add_up() {
        std::vector<Letter> loops = letters_;
        Letter row{.size = 1, .result = 1, .operands = std::vector<std::int64_t>(operands_.size(), 0)};
        std::size_t inside = loops.size();
        for (const bool is_kept : {true, false}) {
            for (std::size_t i = loops.size(); i-- > 0;) {
                if (loops[i].is_kept != is_kept) continue;
                const auto step = [](const Letter& letter) { return std::ranges::max(letter.operands); };
                if (inside == loops.size() || step(loops[i]) < step(loops[inside])) inside = i;
                break;
            }
        }
        if (inside < loops.size()) {
            row = loops[inside];
            loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(inside));
        }
        for_each(loops, [&](T* result, const std::vector<const T*>& from) {
            for (std::int64_t i = 0; i < row.size; ++i) {
                T product = from[0][i * row.operands[0]];
                for (std::size_t k = 1; k < from.size(); ++k)
                    product = numbers_.template combine<element::Prod>(product, from[k][i * row.operands[k]]);
                T& sum = result[i * row.result];
                sum = numbers_.template combine<element::Sum>(sum, product);
            }
        });
    }

    /// Calls `body` with where the result and the operands are, for every index of the loops.
    template <class Body>
    void for_each(const std::vector<Letter>& loops, const Body& body) {
        std::vector<std::int64_t> index(loops.size(), 0);
        T* result = result_;
        std::vector<const T*> from = operands_;
        const auto move = [&](const Letter& letter, std::int64_t steps) {
            result += steps * letter.result;
            for (std::size_t k = 0; k < from.size(); ++k) from[k] += steps * letter.operands[k];
        };
        while (true) {
            body(result, from);
            std::size_t d = loops.size();
            while (d > 0 && ++index[d - 1] == loops[d - 1].size) {
                move(loops[d - 1], 1 - loops[d - 1].size);
                index[--d] = 0;
            }
            if (d == 0) return;
            move(loops[d - 1], 1);
        }
    }

    const N& numbers_;
    std::vector<Letter> letters_;
    T* result_;
    std::vector<const T*> operands_;
    EinsumMemory& memory_;
    const Blas* blas_;
};

}  // namespace

void einsum(const Value& value, std::span<const MemoryView> operands, const MemoryView& result,
            const Arithmetic& arithmetic, EinsumMemory& memory, const Blas* blas) {
    const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
    in_numbers_of(result.storage, arithmetic, [&]<class N, class T>(const N& numbers, T) {
        for_each_row<T>(result, [&](std::span<T> row) {
            std::ranges::fill(row, numbers.template nothing<element::Sum, T>());
        });
        Contraction<N, T>(numbers, joined(letters_of(spec, operands, result)), operands, result, memory, blas)
            .run();
    });
    round_elements(value.type.dtype, arithmetic.precision, result);
}

}  // namespace tutti::run

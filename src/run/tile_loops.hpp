#pragma once

// The loops of the interpreter of kernels: one for each operation, over elements that are next to each other.
// Included by one source file for each kind of processor, which the compiler vectorises for it; everything
// here is in an unnamed namespace (see kernel_loops.hpp).

#include "emit/element_functions.hpp"
#include "run/tile_table.hpp"

// Before a loop: no element is read that another turn of it writes.
#ifdef __clang__
#define TUTTI_ELEMENTS_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define TUTTI_ELEMENTS_APART _Pragma("GCC ivdep")
#endif

namespace tutti::run {
namespace {

namespace element = emit::element;
using element::Field, element::Fields, element::Reals, element::Word;

template <class N>
[[nodiscard]] N numbers_of(Word salt) {
    if constexpr (requires(N n) { n.salt; }) {
        return {salt};
    } else {
        return {};
    }
}

/// An operand of a loop: its elements, or one number for all.
template <bool kIsScalar, class T>
class Operand {
  public:
    explicit Operand(const void* first) : first_(static_cast<const T*>(first)) {
        if constexpr (kIsScalar) number_ = *first_;
    }
    T operator[](std::int64_t i) const {
        if constexpr (kIsScalar) {
            return number_;
        } else {
            return first_[i];
        }
    }

  private:
    const T* first_;
    T number_{};
};

/// `T`: of the operands; the truth values of comparisons are doubles, or of the field. `kMask`: which of them
/// are one number.
template <class N, class T, int O, unsigned kMask = 0>
void step_loop(const void* const* operands, void* result, std::int64_t count, Word salt) {
    constexpr auto kOp = static_cast<element::Op>(O);
    constexpr bool kFirst = (kMask & 1U) != 0, kSecond = (kMask & 2U) != 0, kThird = (kMask & 4U) != 0;
    const N numbers = numbers_of<N>(salt);
    if constexpr (kOp >= element::Neg && kOp <= element::Not) {
        const Operand<kFirst, T> x(operands[0]);
        T* out = static_cast<T*>(result);
        TUTTI_ELEMENTS_APART
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.template unary<kOp>(x[i]);
    } else if constexpr (kOp >= element::Add && kOp <= element::Or) {
        const Operand<kFirst, T> x(operands[0]);
        const Operand<kSecond, T> y(operands[1]);
        using Out = decltype(numbers.template binary<kOp>(T{}, T{}));
        Out* out = static_cast<Out*>(result);
        TUTTI_ELEMENTS_APART
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.template binary<kOp>(x[i], y[i]);
    } else if constexpr (kOp == element::Select) {
        using Truth = decltype(numbers.template binary<element::Lt>(T{}, T{}));
        const Operand<kFirst, Truth> which(operands[0]);
        const Operand<kSecond, T> x(operands[1]);
        const Operand<kThird, T> y(operands[2]);
        T* out = static_cast<T*>(result);
        TUTTI_ELEMENTS_APART
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.select(which[i], x[i], y[i]);
    }
}

/// Two operations, each rounded. `kSecondOp` counts as TileTable::pairs does.
template <int kFirstOp, int kSecondOp, unsigned kMask>
void pair_loop(const void* const* operands, void* result, std::int64_t count, Word) {
    constexpr bool kTurned = kSecondOp >= 4;
    constexpr auto kOuter = static_cast<element::Op>(
        !kTurned ? element::Add + kSecondOp : (kSecondOp == 4 ? element::Sub : element::Div));
    constexpr auto kInner = static_cast<element::Op>(element::Add + kFirstOp);
    const Operand<(kMask & 1U) != 0, float> x(operands[0]);
    const Operand<(kMask & 2U) != 0, float> y(operands[1]);
    const Operand<(kMask & 4U) != 0, float> z(operands[2]);
    float* out = static_cast<float*>(result);
    TUTTI_ELEMENTS_APART
    for (std::int64_t i = 0; i < count; ++i) {
        const float inner = Reals::binary<kInner>(x[i], y[i]);
        out[i] = kTurned ? Reals::binary<kOuter>(z[i], inner) : Reals::binary<kOuter>(inner, z[i]);
    }
}

template <class From, class To, bool Truncates>
void cast_loop(const void* const* operands, void* result, std::int64_t count, Word) {
    constexpr element::DType kTo = Truncates ? element::I64 : element::F64;
    const From* __restrict x = static_cast<const From*>(operands[0]);
    To* __restrict out = static_cast<To*>(result);
    for (std::int64_t i = 0; i < count; ++i) out[i] = Reals::cast<element::F64, kTo, To>(x[i]);
}

template <class T, int D>
void round_loop(void* numbers, std::int64_t count) {
    T* x = static_cast<T*>(numbers);
    for (std::int64_t i = 0; i < count; ++i) x[i] = Reals::rounded<static_cast<element::DType>(D)>(x[i]);
}

template <class N, class T, int R>
void combine_loop(void* into, const void* from, std::int64_t count, Word salt) {
    const N numbers = numbers_of<N>(salt);
    T* __restrict to = static_cast<T*>(into);
    const T* __restrict x = static_cast<const T*>(from);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = numbers.template combine<static_cast<element::Reduction>(R)>(to[i], x[i]);
}

template <class N, class T, unsigned kMask = 0, int O = element::Neg>
constexpr void add_steps(TileFunction* row) {
    if constexpr (O <= element::Select) {
        row[O - element::Neg] = step_loop<N, T, O, kMask>;
        add_steps<N, T, kMask, O + 1>(row);
    }
}

/// Operations with one number among their operands.
template <class T>
constexpr void add_scalar_steps(TileFunction (*by_mask)[kTileSteps]) {
    add_steps<Reals, T, 1, element::Add>(by_mask[1]);
    add_steps<Reals, T, 2, element::Add>(by_mask[2]);
    constexpr auto kSelect = element::Select - element::Neg;
    by_mask[1][kSelect] = nullptr;
    by_mask[4][kSelect] = step_loop<Reals, T, element::Select, 4>;
    by_mask[6][kSelect] = step_loop<Reals, T, element::Select, 6>;
}

template <unsigned kMask, int kFirstOp = 0, int kSecondOp = 0>
constexpr void add_pairs(TileFunction (*by_first)[kPairSeconds]) {
    if constexpr (kFirstOp < static_cast<int>(kPairFirsts)) {
        by_first[kFirstOp][kSecondOp] = pair_loop<kFirstOp, kSecondOp, kMask>;
        constexpr bool kIsLast = kSecondOp + 1 == static_cast<int>(kPairSeconds);
        add_pairs<kMask, kIsLast ? kFirstOp + 1 : kFirstOp, kIsLast ? 0 : kSecondOp + 1>(by_first);
    }
}

template <class N, class T>
constexpr void add_combinations(CombineFunction* row) {
    row[0] = combine_loop<N, T, element::Sum>;
    row[1] = combine_loop<N, T, element::Prod>;
    row[2] = combine_loop<N, T, element::Most>;
    row[3] = combine_loop<N, T, element::Least>;
}

constexpr TileTable made_tile_table() {
    TileTable table{};
    add_steps<Reals, float>(table.steps[0][0]);
    add_steps<Reals, double>(table.steps[1][0]);
    add_scalar_steps<float>(table.steps[0]);
    add_scalar_steps<double>(table.steps[1]);
    add_pairs<0>(table.pairs[0]);
    add_pairs<1>(table.pairs[1]);
    add_pairs<2>(table.pairs[2]);
    add_pairs<4>(table.pairs[4]);
    add_pairs<5>(table.pairs[5]);
    add_pairs<6>(table.pairs[6]);
    table.casts[0][0][0] = cast_loop<float, float, false>;
    table.casts[0][0][1] = cast_loop<float, float, true>;
    table.casts[0][1][0] = cast_loop<float, double, false>;
    table.casts[0][1][1] = cast_loop<float, double, true>;
    table.casts[1][0][0] = cast_loop<double, float, false>;
    table.casts[1][0][1] = cast_loop<double, float, true>;
    table.casts[1][1][0] = cast_loop<double, double, false>;
    table.casts[1][1][1] = cast_loop<double, double, true>;
    table.round_single[element::BF16] = round_loop<float, element::BF16>;
    table.round_single[element::F16] = round_loop<float, element::F16>;
    table.round_full[element::I64] = round_loop<double, element::I64>;
    table.round_full[element::I32] = round_loop<double, element::I32>;
    table.round_full[element::U32] = round_loop<double, element::U32>;
    table.round_full[element::I8] = round_loop<double, element::I8>;
    table.round_full[element::U8] = round_loop<double, element::U8>;
    table.round_full[element::Bool] = round_loop<double, element::Bool>;
    add_combinations<Reals, float>(table.combine[0]);
    add_combinations<Reals, double>(table.combine[1]);
    return table;
}

}  // namespace
}  // namespace tutti::run

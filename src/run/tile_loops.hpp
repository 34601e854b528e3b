#pragma once

// The loops of the interpreter of kernels: one for each operation, over elements that are next to each other.
// Included by one source file for each kind of processor, which the compiler vectorises for it; everything
// here is in an unnamed namespace (see kernel_loops.hpp).

#include "emit/element_functions.hpp"
#include "run/tile_table.hpp"

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

/// `T`: of the operands; the truth values of comparisons are doubles, or of the field.
template <class N, class T, int O>
void step_loop(const void* const* operands, void* result, std::int64_t count, Word salt) {
    constexpr auto kOp = static_cast<element::Op>(O);
    const N numbers = numbers_of<N>(salt);
    if constexpr (kOp >= element::Neg && kOp <= element::Not) {
        const T* __restrict x = static_cast<const T*>(operands[0]);
        T* __restrict out = static_cast<T*>(result);
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.template unary<kOp>(x[i]);
    } else if constexpr (kOp >= element::Add && kOp <= element::Or) {
        const T* __restrict x = static_cast<const T*>(operands[0]), * __restrict y =
                                                                        static_cast<const T*>(operands[1]);
        using Out = decltype(numbers.template binary<kOp>(T{}, T{}));
        Out* __restrict out = static_cast<Out*>(result);
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.template binary<kOp>(x[i], y[i]);
    } else if constexpr (kOp == element::Select) {
        using Truth = decltype(numbers.template binary<element::Lt>(T{}, T{}));
        const Truth* __restrict which = static_cast<const Truth*>(operands[0]);
        const T* __restrict x = static_cast<const T*>(operands[1]), * __restrict y =
                                                                        static_cast<const T*>(operands[2]);
        T* __restrict out = static_cast<T*>(result);
        for (std::int64_t i = 0; i < count; ++i) out[i] = numbers.select(which[i], x[i], y[i]);
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

template <class N, class T, int O = element::Neg>
constexpr void add_steps(TileFunction* row) {
    if constexpr (O <= element::Select) {
        row[O - element::Neg] = step_loop<N, T, O>;
        add_steps<N, T, O + 1>(row);
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
    add_steps<Reals, float>(table.steps[0]);
    add_steps<Reals, double>(table.steps[1]);
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

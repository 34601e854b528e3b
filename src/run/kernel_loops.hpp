#pragma once

// The loops of Kernels, included by one source file for each kind of processor, which the compiler vectorises
// for it. Everything here is in an unnamed namespace, and nothing of the standard library is used that might
// be compiled outside of these functions: else the linker could keep one file's version for all of them.

#include "run/kernels.hpp"

#include <cstddef>
#include <cstdint>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace tutti::run {
namespace {

struct Half {
    std::uint16_t bits;
};
struct Bfloat {
    std::uint16_t bits;
};

[[nodiscard]] inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
[[nodiscard]] inline std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }

/// What a type is computed in, and how it gets there and back. Integers wrap around.
template <class T>
struct Arithmetic {
    using Wide = T;
    static Wide widen(T value) { return value; }
    static T narrow(Wide value) { return value; }
};
template <>
struct Arithmetic<Bfloat> {
    using Wide = float;
    static float widen(Bfloat value) { return float_of(std::uint32_t{value.bits} << 16U); }
    /// To the nearest, ties to even; what is not a number stays so.
    static Bfloat narrow(float value) {
        const std::uint32_t bits = bits_of(value);
        const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U;
        const std::uint32_t quiet = (bits >> 16U) | 0x40U;
        return {static_cast<std::uint16_t>((bits & 0x7fffffffU) > 0x7f800000U ? quiet : rounded)};
    }
};
template <>
struct Arithmetic<Half> {
    using Wide = float;
    static float widen(Half value) {
        const std::uint32_t sign = (value.bits & 0x8000U) << 16U, rest = value.bits & 0x7fffU;
        // As if the exponent had the same bias; then that is corrected by a factor, exactly, which also
        // makes small numbers normal. Infinities and what is not a number need the largest exponent.
        const float scaled = float_of(rest << 13U) * 0x1p112F;
        const std::uint32_t special = rest >= 0x7c00U ? 0x7f800000U : 0U;
        return float_of(sign | bits_of(scaled) | special);
    }
    static Half narrow(float value) {
        const std::uint32_t bits = bits_of(value), sign = (bits >> 16U) & 0x8000U, size = bits & 0x7fffffffU;
        // Of normal results the exponent's bias is corrected and 13 bits are rounded away; of smaller ones
        // the addition of 0.5 puts the last bit where f32 rounds.
        const std::uint32_t normal = (size - 0x38000000U + 0xfffU + ((size >> 13U) & 1U)) >> 13U;
        const std::uint32_t small = bits_of(float_of(size) + 0.5F) - bits_of(0.5F);
        std::uint32_t result = size < 0x38800000U ? small : normal;
        result = size >= 0x477ff000U ? 0x7c00U : result;
        result = size > 0x7f800000U ? (0x7e00U | ((size >> 13U) & 0x3ffU)) : result;
        return {static_cast<std::uint16_t>(sign | result)};
    }
};

template <Operator kOp, class Wide>
[[nodiscard]] inline Wide combined(Wide a, Wide b) {
    if constexpr (kOp == Operator::Min) return b < a ? b : a;
    if constexpr (kOp == Operator::Max) return a < b ? b : a;
    if constexpr (static_cast<Wide>(0.5) == Wide{}) {
        // Overflow of signed integers is undefined, and small types are promoted to signed ones.
        const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
        return static_cast<Wide>(kOp == Operator::Prod ? x * y : x + y);
    } else {
        return kOp == Operator::Prod ? a * b : a + b;
    }
}

/// Elements that are in vector registers, or at least in the first cache, while they are added up.
constexpr std::size_t kBlock = 64;

#if defined(__F16C__)
/// Whole blocks, by the processor's own instructions.
inline void widen_block(float* to, const Half* from) {
    for (std::size_t i = 0; i < kBlock; i += 8) {
        const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(packed));
    }
}
inline void narrow_block(Half* to, const float* from) {
    for (std::size_t i = 0; i < kBlock; i += 8) {
        const __m128i packed =
            _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), packed);
    }
}
#endif
template <class T>
inline void widen_block(typename Arithmetic<T>::Wide* to, const T* from) {
    for (std::size_t i = 0; i < kBlock; ++i) to[i] = Arithmetic<T>::widen(from[i]);
}
template <class T>
inline void narrow_block(T* to, const typename Arithmetic<T>::Wide* from) {
    for (std::size_t i = 0; i < kBlock; ++i) to[i] = Arithmetic<T>::narrow(from[i]);
}

/// What is added up in f32 and rounded once: a block at a time, in registers.
template <class T, Operator kOp>
void reduce_widened(T* to, const std::byte* const* sources, std::size_t source_count, std::size_t first,
                    std::size_t last) {
    using Wide = typename Arithmetic<T>::Wide;
    const auto source = [&](std::size_t s) { return reinterpret_cast<const T*>(sources[s]); };
    std::size_t at = first;
    for (; at + kBlock <= last; at += kBlock) {
        Wide sum[kBlock], next[kBlock];
        widen_block(sum, source(0) + at);
        for (std::size_t s = 1; s < source_count; ++s) {
            widen_block(next, source(s) + at);
            for (std::size_t i = 0; i < kBlock; ++i) sum[i] = combined<kOp>(sum[i], next[i]);
        }
        narrow_block(to + (at - first), sum);
    }
    for (; at < last; ++at) {
        Wide sum = Arithmetic<T>::widen(source(0)[at]);
        for (std::size_t s = 1; s < source_count; ++s)
            sum = combined<kOp>(sum, Arithmetic<T>::widen(source(s)[at]));
        to[at - first] = Arithmetic<T>::narrow(sum);
    }
}

/// The sum of a few sources in one pass, into one target or two.
template <class T, Operator kOp, std::size_t kSources>
void sum_few(T* to, T* also, const T* const* sources, std::size_t elements) {
    static_assert(kSources >= 2 && kSources <= 4);
    const T *const a = sources[0], *const b = sources[1], *const c = sources[kSources > 2 ? 2 : 0],
                   *const d = sources[kSources > 3 ? 3 : 0];
    const auto sum = [&](std::size_t i) {
        T value = combined<kOp>(a[i], b[i]);
        if constexpr (kSources > 2) value = combined<kOp>(value, c[i]);
        if constexpr (kSources > 3) value = combined<kOp>(value, d[i]);
        return value;
    };
    // Where a target is a source, it is so element by element, which the compiler cannot know.
    if (also == nullptr) {
#pragma GCC ivdep
        for (std::size_t i = 0; i < elements; ++i) to[i] = sum(i);
    } else {
#pragma GCC ivdep
        for (std::size_t i = 0; i < elements; ++i) to[i] = also[i] = sum(i);
    }
}

/// The sum of any number of sources, up to four at a time. `to` is none of the fifth and later ones.
template <class T, Operator kOp>
void sum_all(T* to, T* also, const std::byte* const* sources, std::size_t source_count, std::size_t first,
             std::size_t elements) {
    const T* few[4];
    std::size_t taken = 0;
    if (source_count == 1) {
        const auto* const only = reinterpret_cast<const T*>(sources[0]) + first;
        __builtin_memmove(to, only, elements * sizeof(T));
        if (also != nullptr) __builtin_memmove(also, only, elements * sizeof(T));
        return;
    }
    for (bool begun = false; taken < source_count; begun = true) {
        std::size_t count = 0;
        if (begun) few[count++] = to;
        while (count < 4 && taken < source_count)
            few[count++] = reinterpret_cast<const T*>(sources[taken++]) + first;
        T* const second = taken == source_count ? also : nullptr;
        if (count == 2) sum_few<T, kOp, 2>(to, second, few, elements);
        if (count == 3) sum_few<T, kOp, 3>(to, second, few, elements);
        if (count == 4) sum_few<T, kOp, 4>(to, second, few, elements);
    }
}

[[nodiscard]] inline bool is_among(const std::byte* at, const std::byte* const* sources, std::size_t first,
                                   std::size_t count) {
    for (std::size_t s = first; s < count; ++s) {
        if (sources[s] == at) return true;
    }
    return false;
}

/// Goes through the elements in runs that stay in the first cache: long enough for the processor to see what
/// comes next of each array, which it does not where many arrays take turns after a few lines.
template <class T, Operator kOp>
void reduce(std::byte* const* targets, std::size_t target_count, const std::byte* const* sources,
            std::size_t source_count, std::size_t elements) {
    constexpr std::size_t kRun = 16384 / sizeof(T);
    constexpr bool kWidened = sizeof(typename Arithmetic<T>::Wide) != sizeof(T);
    alignas(64) T buffer[kRun];
    // What is added up in the end is added up in a target that is not read later.
    std::size_t sum = 0;
    while (!kWidened && sum < target_count && is_among(targets[sum], sources, 4, source_count)) ++sum;
    for (std::size_t first = 0; first < elements; first += kRun) {
        const std::size_t last = first + kRun < elements ? first + kRun : elements;
        const auto target = [&](std::size_t t) { return reinterpret_cast<T*>(targets[t]) + first; };
        T* const to = sum < target_count ? target(sum) : buffer;
        std::size_t also = target_count;
        if constexpr (kWidened) {
            reduce_widened<T, kOp>(to, sources, source_count, first, last);
        } else {
            for (std::size_t t = target_count; t-- > 0;) {
                if (t != sum) also = t;
            }
            sum_all<T, kOp>(to, also < target_count ? target(also) : nullptr, sources, source_count, first,
                            last - first);
        }
        for (std::size_t t = 0; t < target_count; ++t) {
            if (t != sum && t != also) __builtin_memcpy(target(t), to, (last - first) * sizeof(T));
        }
    }
}

template <class T, Operator kOp>
void reduce_two(std::byte* target, const std::byte* first, const std::byte* second, std::size_t elements) {
    if constexpr (sizeof(typename Arithmetic<T>::Wide) != sizeof(T)) {
        const std::byte* const sources[]{first, second};
        reduce_widened<T, kOp>(reinterpret_cast<T*>(target), sources, 2, 0, elements);
    } else {
        const auto* const a = reinterpret_cast<const T*>(first);
        const auto* const b = reinterpret_cast<const T*>(second);
        auto* const to = reinterpret_cast<T*>(target);
        // Where the target is a source, it is so element by element, which the compiler cannot know.
#pragma GCC ivdep
        for (std::size_t i = 0; i < elements; ++i) to[i] = combined<kOp>(a[i], b[i]);
    }
}

template <class T>
void divide(std::byte* target, std::size_t elements, std::int64_t ranks) {
    using Wide = typename Arithmetic<T>::Wide;
    auto* const to = reinterpret_cast<T*>(target);
    if constexpr (static_cast<Wide>(0.5) == Wide{}) {
        // More ranks than the type can count are more than any element.
        const auto divisor = static_cast<Wide>(ranks);
        const bool fits = divisor > Wide{} && static_cast<std::int64_t>(divisor) == ranks;
        for (std::size_t i = 0; i < elements; ++i) to[i] = fits ? static_cast<T>(to[i] / divisor) : T{};
    } else {
        const auto divisor = static_cast<Wide>(ranks);
        for (std::size_t i = 0; i < elements; ++i)
            to[i] = Arithmetic<T>::narrow(Arithmetic<T>::widen(to[i]) / divisor);
    }
}

template <class T>
constexpr void fill_row(Kernels (&row)[kOperators]) {
    row[0] = {reduce_two<T, Operator::Sum>, reduce<T, Operator::Sum>, divide<T>};
    row[1] = {reduce_two<T, Operator::Prod>, reduce<T, Operator::Prod>, divide<T>};
    row[2] = {reduce_two<T, Operator::Min>, reduce<T, Operator::Min>, divide<T>};
    row[3] = {reduce_two<T, Operator::Max>, reduce<T, Operator::Max>, divide<T>};
    row[4] = row[0];  // averages are sums until they are divided
}

constexpr KernelTable made_table() {
    KernelTable table{};
    fill_row<Half>(table.rows[0]);
    fill_row<Bfloat>(table.rows[1]);
    fill_row<float>(table.rows[2]);
    fill_row<double>(table.rows[3]);
    fill_row<std::int8_t>(table.rows[4]);
    fill_row<std::uint8_t>(table.rows[5]);
    fill_row<std::int32_t>(table.rows[6]);
    fill_row<std::int64_t>(table.rows[7]);
    fill_row<std::uint64_t>(table.rows[8]);
    return table;
}

}  // namespace
}  // namespace tutti::run

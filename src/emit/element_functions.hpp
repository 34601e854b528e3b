#pragma once

// What each operation does with one element, in real numbers and in the prime field of the verifier. The
// interpreter of kernels (run/tile_loops.hpp) is made of these functions, and this very text is the beginning
// of every generated kernel (emit/cpp_kernel): so both give the same bits. It is read by a compiler for each
// kernel, hence it includes nothing there (TUTTI_KERNEL), where functions of the mathematical library are
// never evaluated by the compiler, which knows them to more digits (-fno-builtin).
//
// Functions are in an unnamed namespace, because source files for several kinds of processors have them.

#ifdef TUTTI_KERNEL
extern "C" {
float expf(float) noexcept;
float logf(float) noexcept;
float tanhf(float) noexcept;
float erff(float) noexcept;
float powf(float, float) noexcept;
double exp(double) noexcept;
double log(double) noexcept;
double tanh(double) noexcept;
double erf(double) noexcept;
double pow(double, double) noexcept;
}
#else
#include <cmath>
#endif

namespace tutti::emit::element {

using Word = unsigned long long;
using Signed = long long;

/// Numbered as tensor::DType, tensor::Op and tensor::Reduction are.
enum DType : int { F64, F32, BF16, F16, I64, I32, U32, I8, U8, Bool };
// clang-format off
enum Op : int { Neg = 4, Abs, Sqrt, Rsqrt, Exp, Log, Tanh, Erf, Sigmoid, Not, Add, Sub, Mul, Div, Max, Min, Pow,
                Lt, Le, Gt, Ge, Eq, Ne, And, Or, Select, Cast };
// clang-format on
enum Reduction : int { Sum, Prod, Most, Least };

/// An element of the field, or poison.
struct Field {
    Word bits = ~Word{0};
    friend bool operator==(const Field&, const Field&) = default;
};

namespace {

constexpr bool is_whole(DType dtype) { return dtype >= I64 && dtype <= U8; }

/// Real numbers: f32 and halves in float (or double, if the program is run in f64), the others in double.
/// Whole numbers are exact up to 2^53; truth values are 0 and 1.
struct Reals {
    static float exp_of(float x) { return ::expf(x); }
    static double exp_of(double x) { return ::exp(x); }
    static float log_of(float x) { return ::logf(x); }
    static double log_of(double x) { return ::log(x); }
    static float tanh_of(float x) { return ::tanhf(x); }
    static double tanh_of(double x) { return ::tanh(x); }
    static float erf_of(float x) { return ::erff(x); }
    static double erf_of(double x) { return ::erf(x); }
    static float pow_of(float x, float y) { return ::powf(x, y); }
    static double pow_of(double x, double y) { return ::pow(x, y); }
    static float root_of(float x) { return __builtin_sqrtf(x); }
    static double root_of(double x) { return __builtin_sqrt(x); }
    static float size_of(float x) { return __builtin_fabsf(x); }
    static double size_of(double x) { return __builtin_fabs(x); }
    static float truncated(float x) { return __builtin_truncf(x); }
    static double truncated(double x) { return __builtin_trunc(x); }

    template <Op O, class T>
    static T unary(T x) {
        if constexpr (O == Neg) return -x;
        if constexpr (O == Abs) return size_of(x);
        if constexpr (O == Sqrt) return root_of(x);
        if constexpr (O == Rsqrt) return T{1} / root_of(x);
        if constexpr (O == Exp) return exp_of(x);
        if constexpr (O == Log) return log_of(x);
        if constexpr (O == Tanh) return tanh_of(x);
        if constexpr (O == Erf) return erf_of(x);
        if constexpr (O == Sigmoid) return T{1} / (T{1} + exp_of(-x));
        if constexpr (O == Not) return x == 0 ? T{1} : T{0};
    }
    template <Op O, class T>
    static auto binary(T x, T y) {
        if constexpr (O == Add) return x + y;
        if constexpr (O == Sub) return x - y;
        if constexpr (O == Mul) return x * y;
        if constexpr (O == Div) return x / y;
        if constexpr (O == Max) return x > y || x != x ? x : y;
        if constexpr (O == Min) return x < y || x != x ? x : y;
        if constexpr (O == Pow) return pow_of(x, y);
        if constexpr (O == Lt) return x < y ? 1.0 : 0.0;
        if constexpr (O == Le) return x <= y ? 1.0 : 0.0;
        if constexpr (O == Gt) return x > y ? 1.0 : 0.0;
        if constexpr (O == Ge) return x >= y ? 1.0 : 0.0;
        if constexpr (O == Eq) return x == y ? 1.0 : 0.0;
        if constexpr (O == Ne) return x != y ? 1.0 : 0.0;
        if constexpr (O == And) return ((x != 0) & (y != 0)) ? 1.0 : 0.0;
        if constexpr (O == Or) return ((x != 0) | (y != 0)) ? 1.0 : 0.0;
    }
    template <class T>
    static T select(double condition, T x, T y) {
        return condition != 0 ? x : y;
    }
    /// Rounded to what is stored, but not yet to the type: rounded() does that.
    template <DType, DType To, class Stored, class T>
    static Stored cast(T x) {
        if constexpr (is_whole(To)) {
            return static_cast<Stored>(truncated(x));
        } else {
            return static_cast<Stored>(x);
        }
    }
    template <DType D, class Stored>
    static Stored constant(double number) {
        return rounded<D>(static_cast<Stored>(number));
    }

    /// The nearest bfloat16, ties to even: the upper half of a float.
    static float nearest_bf16(float x) {
        unsigned bits = __builtin_bit_cast(unsigned, x);
        bits = (bits + 0x7FFFU + ((bits >> 16U) & 1U)) & 0xFFFF0000U;
        return x != x ? x : __builtin_bit_cast(float, bits);
    }
    /// The nearest half, ties to even: 11 bits from 2^-14 on, below in steps of 2^-24, and none above 65504.
    static float nearest_f16(float x) {
        const unsigned bits = __builtin_bit_cast(unsigned, x), sign = bits & 0x80000000U,
                       size = bits & 0x7FFFFFFFU;
        const unsigned rounded = (size + 0xFFFU + ((size >> 13U) & 1U)) & 0xFFFFE000U;
        const float steps = __builtin_bit_cast(float, size) + 0.5F;  // of which the last bit is 2^-24
        const unsigned small = __builtin_bit_cast(unsigned, steps - 0.5F);
        unsigned result = size < 0x38800000U ? small : rounded;
        result = result > 0x477FE000U ? 0x7F800000U : result;  // above 65504
        return x != x ? x : __builtin_bit_cast(float, result | sign);
    }
    /// As a whole number of its type; what does not fit in 64 bits has no meaning there.
    template <class Whole>
    static double wrapped(double x) {
        if (!(size_of(x) < 9.2e18)) return 0;
        // GCC 12 takes a conversion there and back for a truncation, which keeps the sign of a zero.
        const double whole = truncated(x) + 0.0;
        return static_cast<double>(static_cast<Whole>(static_cast<Signed>(whole)));
    }
    template <DType D>
    static float rounded(float x) {
        if constexpr (D == BF16) return nearest_bf16(x);
        if constexpr (D == F16) return nearest_f16(x);
        return x;
    }
    template <DType D>
    static double rounded(double x) {
        if constexpr (D == I64) return wrapped<Signed>(x);
        if constexpr (D == I32) return wrapped<int>(x);
        if constexpr (D == U32) return wrapped<unsigned>(x);
        if constexpr (D == I8) return wrapped<signed char>(x);
        if constexpr (D == U8) return wrapped<unsigned char>(x);
        if constexpr (D == Bool) return x != 0 ? 1 : 0;
        return x;
    }

    template <Reduction R, class T>
    static T combine(T x, T y) {
        if constexpr (R == Sum) return x + y;
        if constexpr (R == Prod) return x * y;
        if constexpr (R == Most) return x > y || x != x ? x : y;
        if constexpr (R == Least) return x < y || x != x ? x : y;
    }
    template <Reduction R, class T>
    static T nothing() {
        if constexpr (R == Sum) return T{0};
        if constexpr (R == Prod) return T{1};
        if constexpr (R == Most) return -static_cast<T>(__builtin_inff());
        if constexpr (R == Least) return static_cast<T>(__builtin_inff());
    }
};

/// Numbers modulo 2^61 - 1, as verify::FieldNumbers has them: sums, differences and products are exact, every
/// other function is a random one of its operands and the salt. What is computed from poison is poison.
struct Fields {
    Word salt = 0;

    static constexpr Word kPrime = (Word{1} << 61U) - 1, kPoison = ~Word{0};
    /// A maximum and a minimum of nothing.
    static constexpr Word kNoMax = kPrime + 1, kNoMin = kPrime + 2;

    static constexpr Word mixed(Word a, Word b) {
        Word z = a * 0x9E3779B97F4A7C15ULL + b + 0xD1B54A32D192ED03ULL;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31U);
    }
    static constexpr Word reduced(Word x) {
        const Word once = (x & kPrime) + (x >> 61U);
        return once >= kPrime ? once - kPrime : once;
    }
    static constexpr Word sum(Word x, Word y) { return reduced(reduced(x) + reduced(y)); }
    static constexpr Word negative(Word x) { return reduced(kPrime - reduced(x)); }
    static constexpr Word product(Word x, Word y) {
        __extension__ using Wide = unsigned __int128;
        const Wide whole = static_cast<Wide>(reduced(x)) * reduced(y);
        return reduced(static_cast<Word>(whole & kPrime) + static_cast<Word>(whole >> 61U));
    }
    static constexpr Word whole_number(Signed number) {
        return number >= 0 ? reduced(static_cast<Word>(number))
                           : negative(static_cast<Word>(-(number + 1)) + 1);
    }
    [[nodiscard]] constexpr Word random(Word function, Word x, Word y = 0) const {
        return reduced(mixed(mixed(mixed(salt, function), x), y));
    }
    /// For comparisons: an order with ties.
    [[nodiscard]] constexpr bool less(Word x, Word y) const {
        return mixed(salt, x) % 8 < mixed(salt, y) % 8;
    }
    /// For maxima: one without.
    [[nodiscard]] constexpr bool before(Word x, Word y) const {
        const Word a = mixed(salt, x), b = mixed(salt, y);
        return a != b ? a < b : x < y;
    }

    template <Op O>
    [[nodiscard]] constexpr Field unary(Field x) const {
        if (x.bits == kPoison) return x;
        if constexpr (O == Neg) return {negative(x.bits)};
        if constexpr (O == Not) return {x.bits == 0 ? Word{1} : Word{0}};
        return {random(O, x.bits)};
    }
    template <Op O>
    [[nodiscard]] constexpr Word of_two(Word x, Word y) const {
        if constexpr (O == Add) return sum(x, y);
        if constexpr (O == Sub) return sum(x, negative(y));
        if constexpr (O == Mul) return product(x, y);
        if constexpr (O == Max) return most(x, y);
        if constexpr (O == Min) return least(x, y);
        if constexpr (O == Lt) return less(x, y);
        if constexpr (O == Gt) return less(y, x);
        if constexpr (O == Le) return !less(y, x);
        if constexpr (O == Ge) return !less(x, y);
        if constexpr (O == Eq) return x == y;
        if constexpr (O == Ne) return x != y;
        if constexpr (O == And) return x != 0 && y != 0;
        if constexpr (O == Or) return x != 0 || y != 0;
        return random(O, x, y);
    }
    template <Op O>
    [[nodiscard]] constexpr Field binary(Field x, Field y) const {
        if (x.bits == kPoison || y.bits == kPoison) return {kPoison};
        return {of_two<O>(x.bits, y.bits)};
    }
    [[nodiscard]] static constexpr Field select(Field condition, Field x, Field y) {
        if (condition.bits == kPoison || x.bits == kPoison || y.bits == kPoison) return {kPoison};
        return condition.bits != 0 ? x : y;
    }
    template <DType From, DType To, class>
    [[nodiscard]] constexpr Field cast(Field x) const {
        return cast(From, To, x);
    }
    [[nodiscard]] constexpr Field cast(int from, int to, Field x) const {
        if (x.bits == kPoison) return x;
        const Word image = random(2000 + 16 * static_cast<Word>(from) + static_cast<Word>(to), x.bits);
        return {to == Bool ? image & 1U : image};
    }
    template <DType>
    [[nodiscard]] static constexpr Field rounded(Field x) {
        return x;
    }
    template <DType, class>
    [[nodiscard]] constexpr Field constant(double number) const {
        return constant(number);
    }
    [[nodiscard]] constexpr Field constant(double number) const {
        const bool is_exact = number >= -0x1p53 && number <= 0x1p53 &&
                              static_cast<double>(static_cast<Signed>(number)) == number;
        if (is_exact) return {whole_number(static_cast<Signed>(number))};
        return {reduced(mixed(salt, __builtin_bit_cast(Word, number)))};
    }

    [[nodiscard]] constexpr Word most(Word x, Word y) const {
        if (x == kNoMax || y == kNoMax) return x == kNoMax ? y : x;
        return before(x, y) ? y : x;
    }
    [[nodiscard]] constexpr Word least(Word x, Word y) const {
        if (x == kNoMin || y == kNoMin) return x == kNoMin ? y : x;
        return before(x, y) ? x : y;
    }
    template <Reduction R>
    [[nodiscard]] constexpr Field combine(Field x, Field y) const {
        if (x.bits == kPoison || y.bits == kPoison) return {kPoison};
        if constexpr (R == Sum) return {sum(x.bits, y.bits)};
        if constexpr (R == Prod) return {product(x.bits, y.bits)};
        if constexpr (R == Most) return {most(x.bits, y.bits)};
        if constexpr (R == Least) return {least(x.bits, y.bits)};
    }
    template <Reduction R, class>
    [[nodiscard]] static constexpr Field nothing() {
        if constexpr (R == Sum) return {0};
        if constexpr (R == Prod) return {1};
        if constexpr (R == Most) return {kNoMax};
        if constexpr (R == Least) return {kNoMin};
    }
};

}  // namespace
}  // namespace tutti::emit::element

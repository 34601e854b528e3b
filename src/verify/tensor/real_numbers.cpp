#include "verify/tensor/real_numbers.hpp"

#include "tensor/philox.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tutti::verify {
namespace {

using tensor::DType;
using tensor::Op;
using tensor::Reduction;

template <class Whole>
double wrapped(double x) {
    // What does not fit in 64 bits has no meaning in such a type.
    if (!(std::abs(x) < 9.2e18)) return 0;
    return static_cast<double>(static_cast<Whole>(static_cast<std::int64_t>(x)));
}

double as_type(DType dtype, double x) {
    switch (dtype) {
        case DType::I64:
            return wrapped<std::int64_t>(x);
        case DType::I32:
            return wrapped<std::int32_t>(x);
        case DType::U32:
            return wrapped<std::uint32_t>(x);
        case DType::I8:
            return wrapped<std::int8_t>(x);
        case DType::U8:
            return wrapped<std::uint8_t>(x);
        case DType::Bool:
            return x != 0 ? 1 : 0;
        default:
            return x;
    }
}

double result_of(Op op, double x) {
    switch (op) {
        case Op::Neg:
            return -x;
        case Op::Abs:
            return std::abs(x);
        case Op::Sqrt:
            return std::sqrt(x);
        case Op::Rsqrt:
            return 1 / std::sqrt(x);
        case Op::Exp:
            return std::exp(x);
        case Op::Log:
            return std::log(x);
        case Op::Tanh:
            return std::tanh(x);
        case Op::Erf:
            return std::erf(x);
        case Op::Sigmoid:
            return 1 / (1 + std::exp(-x));
        default:  // not
            return x == 0 ? 1 : 0;
    }
}

double result_of(Op op, double x, double y) {
    switch (op) {
        case Op::Add:
            return x + y;
        case Op::Sub:
            return x - y;
        case Op::Mul:
            return x * y;
        case Op::Div:
            return x / y;
        case Op::Max:
            return std::isnan(x) || x > y ? x : y;
        case Op::Min:
            return std::isnan(x) || x < y ? x : y;
        case Op::Pow:
            return std::pow(x, y);
        case Op::Lt:
            return x < y ? 1 : 0;
        case Op::Le:
            return x <= y ? 1 : 0;
        case Op::Gt:
            return x > y ? 1 : 0;
        case Op::Ge:
            return x >= y ? 1 : 0;
        case Op::Eq:
            return x == y ? 1 : 0;
        case Op::Ne:
            return x != y ? 1 : 0;
        case Op::And:
            return x != 0 && y != 0 ? 1 : 0;
        default:  // or
            return x != 0 || y != 0 ? 1 : 0;
    }
}

}  // namespace

Element RealNumbers::rounded(DType dtype, double x) const {
    if (!tensor::is_floating(dtype)) return of(as_type(dtype, x));
    if (std::isnan(x)) return of(std::numeric_limits<double>::quiet_NaN());  // never the bits of poison
    return of(single_ ? static_cast<double>(static_cast<float>(x)) : x);
}

Element RealNumbers::constant(double number, DType dtype) const { return rounded(dtype, number); }

Element RealNumbers::count(std::int64_t number, DType dtype) const {
    return rounded(dtype, static_cast<double>(number));
}

Element RealNumbers::uniform(std::int64_t seed, std::int64_t element) const {
    return of(tensor::uniform_number(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(element)));
}

Element RealNumbers::unary(Op op, DType dtype, Element x) const {
    return rounded(dtype, result_of(op, number(x)));
}

Element RealNumbers::binary(Op op, DType dtype, Element x, Element y) const {
    return rounded(dtype, result_of(op, number(x), number(y)));
}

Element RealNumbers::cast(DType, DType to, Element x) const {
    const double truncated = tensor::is_floating(to) || to == DType::Bool ? number(x) : std::trunc(number(x));
    return rounded(to, truncated);
}

Element RealNumbers::combine(Reduction reduction, DType dtype, Element x, Element y) const {
    constexpr Op kOps[] = {Op::Add, Op::Mul, Op::Max, Op::Min};
    return binary(kOps[static_cast<std::size_t>(reduction)], dtype, x, y);
}

Element RealNumbers::nothing(Reduction reduction) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kNothing[] = {0, 1, -kInfinity, kInfinity};
    return of(kNothing[static_cast<std::size_t>(reduction)]);
}

Element RealNumbers::drawn(std::string_view input, std::int64_t element, DType dtype, bool positive) const {
    const std::uint64_t random = mixed(mixed(mixed(input), seed_), static_cast<std::uint64_t>(element));
    const double part = static_cast<double>(random >> 11) / 9007199254740992.0;
    if (dtype == DType::Bool) return of(static_cast<double>(random & 1U));
    if (!tensor::is_floating(dtype)) return of(std::floor(positive ? 1 + 9 * part : 10 * part));
    return rounded(dtype, positive ? 0.1 + 0.9 * part : 4 * part - 2);
}

}  // namespace tutti::verify

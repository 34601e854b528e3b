#include "verify/tensor/field_numbers.hpp"

#include <bit>
#include <cmath>

namespace tutti::verify {
namespace {

using tensor::DType;
using tensor::Op;
using tensor::Reduction;

constexpr Element kPrime = FieldNumbers::kPrime;
/// A maximum and a minimum of nothing: no numbers of the field.
constexpr Element kNoMax = kPrime + 1, kNoMin = kPrime + 2;

constexpr Element reduced(Element x) {
    const Element once = (x & kPrime) + (x >> 61);
    return once >= kPrime ? once - kPrime : once;
}
constexpr Element sum(Element x, Element y) { return reduced(reduced(x) + reduced(y)); }
constexpr Element negative(Element x) { return reduced(kPrime - reduced(x)); }
constexpr Element product(Element x, Element y) {
    __extension__ using Wide = unsigned __int128;
    const Wide whole = static_cast<Wide>(reduced(x)) * reduced(y);
    return reduced(static_cast<Element>(whole & kPrime) + static_cast<Element>(whole >> 61));
}
constexpr Element whole_number(std::int64_t number) {
    return number >= 0 ? reduced(static_cast<Element>(number))
                       : negative(static_cast<Element>(-(number + 1)) + 1);
}

}  // namespace

Element FieldNumbers::random(std::uint64_t function, Element x, Element y) const {
    return reduced(mixed(mixed(mixed(salt_, function), x), y));
}

bool FieldNumbers::less(Element x, Element y) const {
    constexpr std::uint64_t kClasses = 8;
    return mixed(salt_, x) % kClasses < mixed(salt_, y) % kClasses;
}

bool FieldNumbers::before(Element x, Element y) const {
    const std::uint64_t a = mixed(salt_, x), b = mixed(salt_, y);
    return a != b ? a < b : x < y;
}

Element FieldNumbers::constant(double number, DType) const {
    constexpr double kExact = 9007199254740992.0;
    if (std::trunc(number) == number && std::abs(number) <= kExact)
        return whole_number(static_cast<std::int64_t>(number));
    return reduced(mixed(salt_, std::bit_cast<std::uint64_t>(number)));
}

Element FieldNumbers::count(std::int64_t number, DType) const { return whole_number(number); }

Element FieldNumbers::uniform(std::int64_t seed, std::int64_t element) const {
    return random(1000, static_cast<Element>(seed), static_cast<Element>(element));
}

Element FieldNumbers::unary(Op op, DType, Element x) const {
    if (op == Op::Neg) return negative(x);
    if (op == Op::Not) return x == 0 ? 1 : 0;
    return random(static_cast<std::uint64_t>(op), x);
}

Element FieldNumbers::binary(Op op, DType dtype, Element x, Element y) const {
    switch (op) {
        case Op::Add:
            return sum(x, y);
        case Op::Sub:
            return sum(x, negative(y));
        case Op::Mul:
            return product(x, y);
        case Op::Max:
            return combine(Reduction::Max, dtype, x, y);
        case Op::Min:
            return combine(Reduction::Min, dtype, x, y);
        case Op::Lt:
            return less(x, y) ? 1 : 0;
        case Op::Gt:
            return less(y, x) ? 1 : 0;
        case Op::Le:
            return less(y, x) ? 0 : 1;
        case Op::Ge:
            return less(x, y) ? 0 : 1;
        case Op::Eq:
            return x == y ? 1 : 0;
        case Op::Ne:
            return x == y ? 0 : 1;
        case Op::And:
            return x != 0 && y != 0 ? 1 : 0;
        case Op::Or:
            return x != 0 || y != 0 ? 1 : 0;
        default:
            return random(static_cast<std::uint64_t>(op), x, y);
    }
}

Element FieldNumbers::cast(DType from, DType to, Element x) const {
    const Element image =
        random(2000 + 16 * static_cast<std::uint64_t>(from) + static_cast<std::uint64_t>(to), x);
    return to == DType::Bool ? image & 1U : image;
}

Element FieldNumbers::combine(Reduction reduction, DType, Element x, Element y) const {
    switch (reduction) {
        case Reduction::Sum:
            return sum(x, y);
        case Reduction::Prod:
            return product(x, y);
        case Reduction::Max:
            if (x == kNoMax || y == kNoMax) return x == kNoMax ? y : x;
            return before(x, y) ? y : x;
        case Reduction::Min:
            break;
    }
    if (x == kNoMin || y == kNoMin) return x == kNoMin ? y : x;
    return before(x, y) ? x : y;
}

Element FieldNumbers::nothing(Reduction reduction) const {
    switch (reduction) {
        case Reduction::Sum:
            return 0;
        case Reduction::Prod:
            return 1;
        case Reduction::Max:
            return kNoMax;
        case Reduction::Min:
            break;
    }
    return kNoMin;
}

Element FieldNumbers::drawn(std::string_view input, std::int64_t element, DType dtype, bool) const {
    const Element number = random(mixed(input), static_cast<Element>(element));
    return dtype == DType::Bool ? number & 1U : number;
}

}  // namespace tutti::verify

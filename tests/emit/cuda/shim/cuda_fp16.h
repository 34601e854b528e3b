#pragma once

#include <cmath>

namespace shim {

/// The nearest number with so many digits (ties to even), whose smallest step is 2^least.
inline float nearest(float x, int digits, int least, float largest) {
    if (!std::isfinite(x) || x == 0) return x;
    const int step = std::max(std::ilogb(x) - digits + 1, least);
    const float rounded = std::ldexp(std::nearbyint(std::ldexp(x, -step)), step);
    return std::fabs(rounded) > largest ? std::copysign(HUGE_VALF, rounded) : rounded;
}
/// A half of either kind: of two bytes, so that what is written for four is found out.
template <int Digits>
struct Half {
    Half() = default;
    explicit Half(float x);
    unsigned short bits;
};

}  // namespace shim

using __half = shim::Half<11>;
inline float __half2float(__half x) {
    const int exponent = (x.bits >> 10) & 31, fraction = x.bits & 1023;
    const float size = exponent == 31  ? (fraction != 0 ? NAN : HUGE_VALF)
                       : exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                       : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return (x.bits >> 15) != 0 ? -size : size;
}
template <>
inline shim::Half<11>::Half(float x) {
    const float rounded = nearest(x, 11, -24, 65504.0F);
    const unsigned sign = std::signbit(rounded) ? 0x8000U : 0U;
    if (std::isnan(rounded)) {
        bits = 0x7FFF;
    } else if (std::isinf(rounded)) {
        bits = static_cast<unsigned short>(sign | 0x7C00U);
    } else if (std::fabs(rounded) < 0x1p-14F) {
        bits = static_cast<unsigned short>(sign | static_cast<unsigned>(std::fabs(rounded) * 0x1p24F));
    } else {
        const int exponent = std::ilogb(rounded);
        const auto fraction = static_cast<unsigned>(std::ldexp(std::fabs(rounded), 10 - exponent)) - 1024U;
        bits = static_cast<unsigned short>(sign | (static_cast<unsigned>(exponent + 15) << 10U) | fraction);
    }
}
inline __half __float2half(float x) { return __half(x); }

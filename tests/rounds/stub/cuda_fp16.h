// Half precision for the tests: enough for numbers that it holds exactly.
#pragma once

#include <cmath>
#include <cstdint>

struct __half {
    std::uint16_t bits;
};
inline float __half2float(__half half) {
    const int exponent = half.bits >> 10 & 31, fraction = half.bits & 1023;
    const float size = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                     : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
    return half.bits >> 15 ? -size : size;
}
inline __half __float2half(float value) {
    if (value == 0) return {0};
    int exponent = 0;
    const float fraction = std::frexp(std::fabs(value), &exponent);
    const int bits = static_cast<int>(fraction * 2048) - 1024 + ((exponent + 14) << 10);
    return {static_cast<std::uint16_t>(bits | (value < 0 ? 1 << 15 : 0))};
}

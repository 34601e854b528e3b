#pragma once

#include "cuda_fp16.h"

#include <cstring>

using __nv_bfloat16 = shim::Half<8>;
inline float __bfloat162float(__nv_bfloat16 x) {
    const unsigned whole = static_cast<unsigned>(x.bits) << 16U;
    float number = 0;
    std::memcpy(&number, &whole, sizeof number);
    return number;
}
template <>
inline shim::Half<8>::Half(float x) {
    const float rounded = nearest(x, 8, -133, 0x1.fep127F);
    unsigned whole = 0;
    std::memcpy(&whole, &rounded, sizeof whole);
    bits = static_cast<unsigned short>(whole >> 16U);
}
inline __nv_bfloat16 __float2bfloat16(float x) { return __nv_bfloat16(x); }

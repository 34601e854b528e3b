#include "core/ticks.hpp"

#include "core/expects.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

namespace tutti {
namespace {

__extension__ using Wide = __int128;

Wide power_of_ten(int exponent) {
    Wide power = 1;
    for (int i = 0; i < exponent; ++i) power *= 10;
    return power;
}

Ticks narrow(Wide ticks) {
    if (ticks > kMaxLinkTicks.count()) {
        throw InputError("more than 2^53 ticks; use fewer bytes, a higher bandwidth or a smaller factor");
    }
    return Ticks(static_cast<std::int64_t>(ticks));
}

Decimal reduced(Wide mantissa, int scale) {
    while (scale > 0 && mantissa % 10 == 0) {
        mantissa /= 10;
        --scale;
    }
    return {static_cast<std::int64_t>(mantissa), scale};
}

}  // namespace

Decimal decimal_from(double value) {
    if (!(value >= 0) || value >= 1e15) throw InputError("expected a number from 0 to 10^15");
    // The shortest text that reads back as the same double is what the user wrote (up to 15 digits), so
    // 53.6870912 stays 53.6870912 and ceil() never sees a rounding error.
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
    const std::string digits(text, end);
    const auto e = digits.find('e');
    const int exponent = std::atoi(digits.c_str() + e + 1);
    std::int64_t mantissa = 0;
    int decimals = 0;
    bool after_point = false;
    for (const char ch : digits.substr(0, e)) {
        if (ch == '.') {
            after_point = true;
        } else {
            mantissa = mantissa * 10 + (ch - '0');
            decimals += after_point ? 1 : 0;
        }
    }
    const int scale = decimals - exponent;
    if (scale < 0) return {static_cast<std::int64_t>(mantissa * power_of_ten(-scale)), 0};
    if (scale > 18) throw InputError("expected a number with at most 18 decimals");
    return reduced(mantissa, scale);
}

double to_double(Decimal value) {
    return static_cast<double>(value.mantissa) / static_cast<double>(power_of_ten(value.scale));
}

Decimal divide(Decimal value, Decimal divisor) {
    expects(divisor.mantissa > 0);
    // value/divisor = (vm * 10^(ds - vs)) / dm; raise the numerator until 15 significant digits are there.
    Wide numerator = value.mantissa;
    int scale = value.scale - divisor.scale;
    while (numerator != 0 && scale < 18 && (scale < 0 || numerator / divisor.mantissa < power_of_ten(14))) {
        numerator *= 10;
        ++scale;
    }
    Wide quotient = numerator / divisor.mantissa;
    for (; quotient >= power_of_ten(15) && scale > 0; --scale) quotient /= 10;
    if (quotient >= power_of_ten(15) || scale < 0) throw InputError("expected a quotient below 10^15");
    return reduced(quotient, scale);
}

Ticks alpha_of(Decimal latency_ns) {
    const Wide unit = power_of_ten(latency_ns.scale);
    return narrow((static_cast<Wide>(latency_ns.mantissa) * 1000 * 2 + unit) / (unit * 2));
}

Ticks beta_of(Bytes bytes, Decimal bandwidth_GBps) {
    expects(bandwidth_GBps.mantissa > 0);
    // 1 GB/s is 10^9 bytes / 10^12 ps, so ticks = bytes * 1000 / bandwidth.
    const Wide numerator = static_cast<Wide>(bytes.count) * 1000 * power_of_ten(bandwidth_GBps.scale);
    return narrow((numerator + bandwidth_GBps.mantissa - 1) / bandwidth_GBps.mantissa);
}

Ticks scale_up(Ticks value, Decimal factor) {
    const Wide unit = power_of_ten(factor.scale);
    return narrow((static_cast<Wide>(value.count()) * factor.mantissa + unit - 1) / unit);
}

}  // namespace tutti

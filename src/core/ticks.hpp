#pragma once

#include "core/error.hpp"

#include <compare>
#include <cstdint>
#include <limits>

namespace tutti {

/// Time, in whole ticks. Sums and products are checked: an overflow is an InputError, because only an
/// instance with absurd times can cause one.
class Ticks {
  public:
    constexpr Ticks() = default;
    explicit constexpr Ticks(std::int64_t count) : count_(count) {}
    [[nodiscard]] constexpr std::int64_t count() const { return count_; }
    static constexpr Ticks max() { return Ticks(std::numeric_limits<std::int64_t>::max()); }

    friend constexpr auto operator<=>(Ticks, Ticks) = default;
    friend constexpr Ticks operator+(Ticks a, Ticks b) {
        std::int64_t sum = 0;
        if (__builtin_add_overflow(a.count_, b.count_, &sum)) overflow();
        return Ticks(sum);
    }
    friend constexpr Ticks operator-(Ticks a, Ticks b) {
        std::int64_t difference = 0;
        if (__builtin_sub_overflow(a.count_, b.count_, &difference)) overflow();
        return Ticks(difference);
    }
    friend constexpr Ticks operator*(Ticks a, std::int64_t times) {
        std::int64_t product = 0;
        if (__builtin_mul_overflow(a.count_, times, &product)) overflow();
        return Ticks(product);
    }
    constexpr Ticks& operator+=(Ticks b) { return *this = *this + b; }
    constexpr Ticks& operator-=(Ticks b) { return *this = *this - b; }

  private:
    [[noreturn]] static void overflow() {
        throw InputError("times overflow 64 bits of ticks; give the instance smaller times");
    }
    std::int64_t count_ = 0;
};

/// Largest alpha, beta or release that an instance may give: exact in every JSON reader, and far from
/// overflow.
inline constexpr Ticks kMaxLinkTicks{std::int64_t{1} << 53};
/// Largest start of a send that a schedule may give.
inline constexpr Ticks kMaxStart{std::int64_t{1} << 62};

/// A size of data. 0 means "not given", as in an instance in abstract units.
struct Bytes {
    std::int64_t count = 0;
    friend constexpr auto operator<=>(Bytes, Bytes) = default;
};

/// A decimal number kept exactly, as a person writes latencies and bandwidths: mantissa / 10^scale.
struct Decimal {
    std::int64_t mantissa = 0;
    int scale = 0;  ///< 0 … 18
    friend constexpr auto operator<=>(Decimal, Decimal) = default;
};

/// The decimal that `value` prints as with the fewest digits that still read back as `value`.
/// Throws InputError unless 0 <= value < 10^15 and 18 decimals suffice.
[[nodiscard]] Decimal decimal_from(double value);
[[nodiscard]] double to_double(Decimal value);
/// value / divisor, rounded down to 15 significant digits (exact where 15 digits suffice). Precondition:
/// divisor > 0.
[[nodiscard]] Decimal divide(Decimal value, Decimal divisor);

/// alpha = round(latency_ns * 1000): ticks of 1 ps.
[[nodiscard]] Ticks alpha_of(Decimal latency_ns);
/// beta = ceil(bytes / bandwidth) in ticks of 1 ps. Precondition: bandwidth > 0. Throws InputError above
/// kMaxLinkTicks.
[[nodiscard]] Ticks beta_of(Bytes bytes, Decimal bandwidth_GBps);
/// ceil(value * factor), for slowed links in abstract units.
[[nodiscard]] Ticks scale_up(Ticks value, Decimal factor);

}  // namespace tutti

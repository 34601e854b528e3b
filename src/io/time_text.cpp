#include "io/time_text.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::io {

std::string time_text(Ticks ticks, Units units, int digits) {
    if (units == Units::Abstract) return std::to_string(ticks.count());
    constexpr std::array<std::string_view, 5> kNames{"ps", "ns", "us", "ms", "s"};
    auto value = static_cast<double>(ticks.count());
    std::size_t name = 0;
    for (; value >= 1000 && name + 1 < kNames.size(); ++name) value /= 1000;
    return fmt::format("{:.{}g} {}", value, digits, kNames[name]);
}

}  // namespace tutti::io

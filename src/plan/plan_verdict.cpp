#include "plan/plan_verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tutti::plan {

std::string_view name_of(PlanClass verdict) {
    constexpr std::array<std::string_view, 5> kNames{"valid", "valid-if-buffered", "structure-only",
                                                     "invalid", "malformed"};
    return kNames[static_cast<std::size_t>(verdict)];
}

std::string text_of(const PlanPlace& place) {
    std::vector<std::string> parts;
    if (place.gpu >= 0) parts.push_back(fmt::format("gpu {}", place.gpu));
    if (place.block >= 0) parts.push_back(fmt::format("tb {}", place.block));
    if (place.step >= 0) {
        parts.push_back(place.inner >= 0 ? fmt::format("step {}.{}", place.step, place.inner)
                                         : fmt::format("step {}", place.step));
    }
    if (place.buffer) {
        parts.push_back(place.offset >= 0 ? fmt::format("{}[{}]", letter_of(*place.buffer), place.offset)
                                          : std::string(name_of(*place.buffer)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tutti::plan

#include "plan/place.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace tutti::plan {

std::string text_of(const Place& place) {
    std::vector<std::string> parts;
    if (place.gpu) parts.push_back(fmt::format("gpu {}", *place.gpu));
    if (place.block) parts.push_back(fmt::format("tb {}", *place.block));
    if (place.step) {
        parts.push_back(place.inner ? fmt::format("step {}.{}", *place.step, *place.inner)
                                    : fmt::format("step {}", *place.step));
    }
    if (place.buffer) {
        parts.push_back(place.offset ? fmt::format("{}[{}]", letter_of(*place.buffer), *place.offset)
                                     : std::string(name_of(*place.buffer)));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tutti::plan

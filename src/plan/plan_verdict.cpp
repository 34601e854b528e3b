#include "plan/plan_verdict.hpp"

#include <array>

namespace tutti::plan {

std::string_view name_of(PlanClass verdict) {
    constexpr std::array<std::string_view, 5> kNames{"valid", "valid-if-buffered", "structure-only",
                                                     "invalid", "malformed"};
    return kNames[static_cast<std::size_t>(verdict)];
}

}  // namespace tutti::plan

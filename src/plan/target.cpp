#include "plan/target.hpp"

#include <array>

namespace tutti::plan {
namespace {

constexpr std::array<std::string_view, kMscclTargets + 1> kTargetNames{"msccl", "msccl-executor", "rccl",
                                                                       "mscclpp"};

}  // namespace

std::string_view name_of(Target target) { return kTargetNames[static_cast<std::size_t>(target)]; }

std::vector<std::string_view> target_names() { return {kTargetNames.begin(), kTargetNames.end()}; }

std::vector<std::string_view> msccl_target_names() {
    return {kTargetNames.begin(), kTargetNames.begin() + kMscclTargets};
}

}  // namespace tutti::plan

#include "plan/send_plan.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::plan {

std::string_view name_of(SendClock clock) {
    constexpr std::array<std::string_view, 5> kNames{"steps", "times", "epochs", "queues", "trees"};
    return kNames[static_cast<std::size_t>(clock)];
}

std::string node_name(const SendPlan& plan, std::int32_t node) {
    const auto index = static_cast<std::size_t>(node);
    return node >= 0 && index < plan.node_names.size() ? fmt::format("node {}", plan.node_names[index])
                                                       : fmt::format("node {}", node);
}

std::string address_name(const SendPlan& plan, std::int64_t address) {
    const auto index = static_cast<std::size_t>(address);
    if (address >= 0 && index < plan.address_names.size()) return plan.address_names[index];
    return fmt::format("{} {}", plan.clock == SendClock::Queues ? "chunk" : "address", address);
}

}  // namespace tutti::plan

#include "plan/send_program.hpp"

#include <fmt/format.h>

#include <array>

namespace tutti::plan {

std::string_view name_of(SendClock clock) {
    constexpr std::array<std::string_view, 4> kNames{"steps", "times", "epochs", "queues"};
    return kNames[static_cast<std::size_t>(clock)];
}

std::string node_name(std::span<const std::string> names, PlanNode node) {
    return node.index() < names.size() ? fmt::format("node {}", names[node.index()])
                                       : fmt::format("node {}", node);
}

std::string node_name(const SendProgram& program, PlanNode node) {
    return node_name(program.node_names, node);
}

std::string address_name(const SendProgram& program, std::int64_t address) {
    const auto index = static_cast<std::size_t>(address);
    if (address >= 0 && index < program.address_names.size()) return program.address_names[index];
    return fmt::format("{} {}", program.clock == SendClock::Queues ? "chunk" : "address", address);
}

}  // namespace tutti::plan

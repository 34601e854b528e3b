#include "plan/msccl_plan.hpp"

#include <array>

namespace tutti::plan {
namespace {

/// One row per StepType: what a step does, as section 2 of docs/msccl-xml.md has it.
struct Ability {
    std::string_view name;
    bool sends, receives, reduces_received, stores, uses_source, uses_destination;
};
constexpr std::array<Ability, kStepTypes> kAbilities{{
    {"s", true, false, false, false, true, false},
    {"r", false, true, false, true, false, true},
    {"rcs", true, true, false, true, false, true},
    {"rrc", false, true, true, true, true, true},
    {"rrs", true, true, true, false, true, false},
    {"rrcs", true, true, true, true, true, true},
    {"cpy", false, false, false, true, true, true},
    {"re", false, false, false, true, true, true},
    {"nop", false, false, false, false, false, false},
}};

const Ability& ability_of(StepType type) { return kAbilities[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view name_of(Protocol protocol) {
    constexpr std::array<std::string_view, 3> kNames{"Simple", "LL", "LL128"};
    return kNames[static_cast<std::size_t>(protocol)];
}

int fifo_capacity(Protocol protocol) { return protocol == Protocol::Simple ? 2 : 8; }

std::string_view name_of(StepType type) { return ability_of(type).name; }

std::optional<StepType> step_type(std::string_view name) {
    for (int i = 0; i < kStepTypes; ++i) {
        const auto type = static_cast<StepType>(i);
        if (name_of(type) == name) return type;
    }
    return std::nullopt;
}

bool sends(StepType type) { return ability_of(type).sends; }
bool receives(StepType type) { return ability_of(type).receives; }
bool reduces_received(StepType type) { return ability_of(type).reduces_received; }
bool stores(StepType type) { return ability_of(type).stores; }
bool uses_source(StepType type) { return ability_of(type).uses_source; }
bool uses_destination(StepType type) { return ability_of(type).uses_destination; }

std::size_t steps_of(const MscclPlan& plan) {
    std::size_t steps = 0;
    for (const Gpu& gpu : plan.gpus) {
        for (const ThreadBlock& block : gpu.blocks) steps += block.steps.size();
    }
    return steps;
}

}  // namespace tutti::plan

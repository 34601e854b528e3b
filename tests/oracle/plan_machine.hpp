#pragma once

#include "core/collective.hpp"
#include "plan/condition.hpp"
#include "plan/msccl_plan.hpp"
#include "tests/oracle/plan_values.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::oracle {

/// How a plan is read and called. Written from docs/msccl-xml.md alone, like everything here.
struct PlanCall {
    CollectiveKind goal = CollectiveKind::Custom;
    bool in_place = false;
    std::optional<std::int32_t> root{};
    bool operand_is_destination = false;  ///< of rrc, rrs, rrcs
    bool copies_first = false;            ///< <copy> is executed
    std::optional<plan::Condition> condition{};
};

/// Whether a step puts a message into a connection; whether it takes one out.
[[nodiscard]] bool puts(plan::StepType type);
[[nodiscard]] bool takes(plan::StepType type);

/// Chunks of a rank's real input and output, whatever the file declares.
[[nodiscard]] std::int64_t input_chunks(const plan::MscclPlan& plan, const plan::Gpu& gpu,
                                        const PlanCall& call);
[[nodiscard]] std::int64_t output_chunks(const plan::MscclPlan& plan, const plan::Gpu& gpu,
                                         const PlanCall& call);

/// Where a chunk lies once the aliases of an in-place call are resolved.
struct Location {
    std::int32_t gpu = 0;
    plan::Buffer buffer = plan::Buffer::Input;
    std::int64_t chunk = 0;
    friend auto operator<=>(const Location&, const Location&) = default;
};
[[nodiscard]] Location location_of(const plan::MscclPlan& plan, const plan::Gpu& gpu, const PlanCall& call,
                                   plan::Buffer buffer, std::int64_t chunk);

/// A plan with everything looked up: places are numbers, messages have their slots, waits name blocks by
/// number. What the explorers run.
struct MachineStep {
    plan::StepType type = plan::StepType::Nop;
    int count = 0;
    std::vector<int> sources{}, accumulators{}, targets{};  ///< places; per chunk, or none
    int in = -1, out = -1;  ///< the slot of the message's first chunk; -1: no message
    int in_connection = -1, out_connection = -1;
    int wait_block = -1, wait_step = -1;
    bool signals = false;
};

struct MachineBlock {
    std::int32_t gpu = 0, id = 0;
    std::vector<MachineStep> steps{};
};

/// A place of an output that matters; without a wanted value only that it is always the same.
struct Wanted {
    std::int32_t gpu = 0;
    std::int64_t chunk = 0;
    int place = -1;
    std::optional<Value> value{};
};

struct Machine {
    std::vector<MachineBlock> blocks{};
    std::vector<Location> places{};
    std::vector<Value> start{};  ///< by place
    std::vector<Wanted> outputs{};
    int slots = 0, connections = 0;
    Values values{};
    [[nodiscard]] std::optional<int> block(std::int32_t gpu, std::int32_t id) const;
    [[nodiscard]] std::optional<int> place(const Location& location) const;
};

/// Precondition: structure_faults() finds none for this call, and a rooted call has its root.
[[nodiscard]] Machine machine_of(const plan::MscclPlan& plan, const PlanCall& call);

}  // namespace tutti::oracle

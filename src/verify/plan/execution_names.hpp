#pragma once

#include "plan/execution_plan.hpp"
#include "verify/plan/execution_steps.hpp"
#include "verify/plan/execution_wiring.hpp"
#include "verify/plan/findings.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::verify {

/// Resolves the numbers by which operations of one thread block refer to channels and remote buffers. Holds
/// the current step, for messages.
class ExecutionNames {
  public:
    ExecutionNames(const plan::ExecutionPlan& plan, const ExecutionWiring& wiring, Findings& violations)
        : plan_(plan), wiring_(wiring), violations_(violations) {}

    /// Sets the current block; ids that the GPU does not have are violations.
    void enter(Rank gpu, const plan::ExecutionBlock& block);
    /// Sets the current step.
    void at(const ExecutionStep& step) { step_ = step; }

    [[nodiscard]] Rank gpu() const { return gpu_; }
    [[nodiscard]] const GpuWires& wires() const { return wiring_.gpus[gpu_.index()]; }
    /// The GPU's channel in the block's `slot`; nothing, and a violation, if there is none.
    [[nodiscard]] std::optional<std::size_t> channel(plan::ChannelType type, plan::Slot slot);
    /// The remote buffer of an operand; null, and a violation, if there is none.
    [[nodiscard]] const plan::RemoteBuffer* remote_buffer(const plan::Operand& operand);

    /// A violation of the step.
    void complain(const char* code, const std::string& message);
    /// "gpu 0, tb 1, step 2 (put i[0] -> s[0] of gpu 1)".
    [[nodiscard]] std::string words() const;
    [[nodiscard]] const plan::Place& place() const { return step_.place; }
    [[nodiscard]] Findings& violations() { return violations_; }

  private:
    const plan::ExecutionPlan& plan_;
    const ExecutionWiring& wiring_;
    Findings& violations_;
    Rank gpu_{};
    ExecutionStep step_;
    std::array<std::vector<plan::ChannelId>, plan::kChannelTypes> channels_;
    std::array<std::vector<plan::RemoteBufferId>, plan::kChannelTypes> buffers_;
};

}  // namespace tutti::verify

#pragma once

#include "plan/execution_plan.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::test {

/// Writes small execution plans down, one operation per line:
///
///     ExecutionBuilder plan("allgather", 2);
///     plan.gpu(1, 2).tb("put o0 -> 1:o0", "nop", "signal 1", "wait 1");
///
/// Operands are a buffer, an index and, if not 1, a size (`s4+2`), of another gpu with its number in front
/// (`1:s4`), of all gpus with a star (`*:s4`). Operations that take lists separate them by commas. `signal`,
/// `wait` and their relaxed forms name gpus (`signal 1,2`; `signal 1#1` for the second channel to gpu 1;
/// `signal port 1`), `barrier` its number and how many come to it, semaphores their numbers. A word `part
/// k/g` at the end is a slice of a thread block group, `port` after the name chooses port channels for put,
/// ppkt and rppkt. Every gpu has `channels` channels of each kind to every other one, and remote buffers of
/// all of them.
class ExecutionBuilder {
  public:
    ExecutionBuilder(std::string_view collective, std::int32_t ranks, std::int32_t channels = 1);

    ExecutionBuilder& out_of_place();
    /// The next gpu, with its chunks and the initial values of its semaphores.
    ExecutionBuilder& gpu(std::int64_t input, std::int64_t output, std::int64_t scratch = 0,
                          std::vector<std::int64_t> semaphores = {});
    /// A thread block of the last gpu.
    template <typename... Lines>
    ExecutionBuilder& tb(Lines... lines) {
        return add_block({std::string(lines)...});
    }
    ExecutionBuilder& add_block(const std::vector<std::string>& lines);

    [[nodiscard]] plan::ExecutionPlan& plan() { return plan_; }
    operator const plan::ExecutionPlan&() const { return plan_; }  // NOLINT: a builder stands for its plan

    /// One operation of gpu `gpu`.
    [[nodiscard]] plan::Operation operation(std::int32_t gpu, std::string_view line) const;

  private:
    plan::ExecutionPlan plan_;
    std::int32_t ranks_, channels_;
};

}  // namespace tutti::test

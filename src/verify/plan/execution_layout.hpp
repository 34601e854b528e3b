#pragma once

#include "plan/call_sizes.hpp"
#include "plan/execution_plan.hpp"
#include "plan/program.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::verify {

/// False, and a violation `chunks`, if what the GPUs declare does not fit the collective.
[[nodiscard]] bool sizes_fit(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                             Findings& violations);

/// The memories of each GPU's buffers. In place, input and output share a memory; packets have one of their
/// own.
class ExecutionLayout {
  public:
    /// `root`: of gather and scatter, whose in-place alias exists there only.
    ExecutionLayout(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                    std::int64_t places_per_chunk, std::optional<Rank> root);

    /// Chunks that may be named.
    [[nodiscard]] std::int64_t room(Rank gpu, plan::Buffer buffer) const {
        return ranks_[gpu.index()].room[static_cast<std::size_t>(buffer)];
    }
    /// Memory and place of a buffer's place; the second function for packets in scratch.
    [[nodiscard]] plan::Range at(Rank gpu, plan::Buffer buffer, std::int64_t place) const {
        const plan::Range& first = ranks_[gpu.index()].at[static_cast<std::size_t>(buffer)];
        return {first.memory, first.first + place};
    }
    [[nodiscard]] plan::Range packets_at(Rank gpu, std::int64_t place) const {
        return {gpu.value() * kMemories + plan::kBuffers, place};
    }

    /// Its memories, places per chunk and outputs.
    void describe_to(plan::Program& program) const;

  private:
    static constexpr std::uint32_t kMemories = plan::kBuffers + 1;
    struct Buffers {
        plan::Range at[plan::kBuffers];
        std::int64_t room[plan::kBuffers];
    };
    void lay_out(Rank rank, const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                 std::optional<Rank> root);

    std::int64_t places_per_chunk_;
    std::vector<Buffers> ranks_;
    std::vector<plan::Memory> memories_;
};

}  // namespace tutti::verify

#pragma once

#include "core/collective.hpp"
#include "plan/execution_plan.hpp"
#include "plan/program.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::verify {

/// Chunks of the buffers, as the collective and the declarations give them.
struct ExecutionSizes {
    CollectiveKind goal = CollectiveKind::Custom;
    std::int64_t input = -1, output = -1;  ///< of every rank; -1: as each declares it
    std::int64_t block = 0;                ///< of one rank's share, where the goal has shares
};

/// Nothing, and a violation `chunks`, if the declared sizes do not fit the collective. In place, a declared 0
/// is derived from the other size.
[[nodiscard]] std::optional<ExecutionSizes> sizes_of(const plan::ExecutionPlan& plan, CollectiveKind goal,
                                                     Findings& violations);

/// The memories of each GPU's buffers. In place, input and output share a memory; packets have one of their
/// own.
class ExecutionLayout {
  public:
    /// `root`: of gather and scatter, whose in-place alias exists there only.
    ExecutionLayout(const plan::ExecutionPlan& plan, const ExecutionSizes& sizes,
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
    void lay_out(Rank rank, const plan::ExecutionPlan& plan, const ExecutionSizes& sizes,
                 std::optional<Rank> root);

    std::int64_t places_per_chunk_;
    std::vector<Buffers> ranks_;
    std::vector<plan::Memory> memories_;
};

}  // namespace tutti::verify

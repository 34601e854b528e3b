#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "plan/condition.hpp"
#include "plan/execution_plan.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::compile {

/// Options of an execution plan that the schedule does not determine.
struct ExecutionOptions {
    /// Whether it is for calls in place; an execution plan is for one of the two. Default: in place, except
    /// for all-to-alls; with relays only for all-reduces.
    std::optional<bool> in_place{};
    /// How ranks reach each other: by memory channels (one machine) or by port channels (any network).
    plan::ChannelType channel = plan::ChannelType::Memory;
    std::optional<std::uint64_t> min_bytes{}, max_bytes{};
    std::string name{};  ///< of the plan; where empty, of instance and collective
};

struct ExecutionResult {
    plan::ExecutionPlan plan{};
    /// With relays, as files have no name for what the plan is for; with it the plan can be judged.
    std::optional<plan::Condition> condition{};
    std::vector<NodeId> npus{};  ///< by rank; those of the group first, then relays
    std::uint32_t members = 0;   ///< ranks of the group
};

/// Thread blocks of a GPU that can wait for each other: all must run at once, and the GPUs that the executor
/// is written for run a bit more than this at a time.
inline constexpr std::uint32_t kMostExecutionBlocks = 128;

/// Lowers one collective of a schedule to a plan for MSCCL++ 0.9 (compile/execution_lowering.cpp lists the
/// passes), within the executor's limits of operations, channels and buffers. Sends through switches become
/// messages from end to end; which of several links they take is not said. Throws InputError where the
/// schedule does what plans cannot say (part_of), where the format has no name for the collective, where a
/// GPU would need more thread blocks than can run, and where relays do not allow in-place calls that were
/// asked for. Precondition: the schedule is valid. O(messages log messages), and for all-reduces the square
/// of the ranks for each kind of chunk.
[[nodiscard]] ExecutionResult lower_to_execution_plan(const Instance& instance, const Schedule& schedule,
                                                      CollectiveId collective,
                                                      const ExecutionOptions& options = {});

}  // namespace tutti::compile

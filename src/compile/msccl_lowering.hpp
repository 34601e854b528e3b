#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "plan/condition.hpp"
#include "plan/msccl_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/target.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::compile {

/// What a runtime refuses to go beyond. docs/writing-plans.md says where the numbers come from.
struct MscclLimits {
    int steps;               ///< of a thread block, nops too
    int blocks;              ///< of a GPU
    int blocks_per_channel;  ///< of a GPU
    int channels;
    int count = 71;             ///< chunks of a step
    int waited_block = 127;     ///< the highest thread block that can be waited for
    int offset = 32767;         ///< the highest chunk of a buffer
    int nodes = 4096;           ///< XML elements of one GPU
    std::int64_t no_max_bytes;  ///< what maxBytes says where there is no limit
    bool max_bytes_inclusive;
    std::size_t algorithms;  ///< files that it loads
};
/// Precondition: one that reads MSCCL XML.
[[nodiscard]] const MscclLimits& limits_of(plan::Target target);

/// What a user may ask of a plan beyond what the schedule says.
struct MscclOptions {
    /// Where not given, the newest one; msccl where only that one knows the collective.
    std::optional<plan::Target> target{};
    plan::Protocol protocol = plan::Protocol::Simple;
    bool in_place = true, out_of_place = true;  ///< call modes; at least one
    std::optional<std::int64_t> min_bytes{}, max_bytes{};
    std::string name{};  ///< of the plan; where empty, of instance and collective
};

/// How free the compiler is. Every effort is right; the later ones ask less of the FIFOs and cost more steps
/// and channels.
enum class MscclEffort {
    Fused,   ///< bursts in one step, receive and send in one step
    Merged,  ///< bursts in one step
    Short,   ///< bursts in one step as far as a connection holds them
    Plain,   ///< a step for each message, and never more messages under way than a connection holds
};

struct MscclResult {
    plan::MscclPlan plan{};
    plan::Target target = plan::Target::MscclExecutor;  ///< whose names and limits it keeps
    /// For kinds that files have no name for; with it the plan can be judged.
    std::optional<plan::Condition> condition{};
    std::optional<Rank> root{};
    std::vector<NodeId> npus{};  ///< by rank; those of the group first, then relays
    std::uint32_t members = 0;   ///< ranks of the group
    MscclEffort effort = MscclEffort::Fused;
};

/// Lowers one collective of a schedule (src/compile/README.md lists the passes). Throws InputError where
/// the schedule does what plans cannot say (part_of), where the target does not know the collective, and
/// where its limits are too small; the message names limit and need. Precondition: the schedule is valid.
/// O(messages log messages) and, for each GPU, steps times thread blocks.
[[nodiscard]] MscclResult lower_to_msccl(const Instance& instance, const Schedule& schedule,
                                         CollectiveId collective, const MscclOptions& options,
                                         MscclEffort effort = MscclEffort::Fused);

/// Judges a plan. A callback, because compile may not include `verify`.
using MscclJudge = std::function<plan::PlanClass(const MscclResult&)>;

/// The first plan that the judge calls valid: the call modes asked for before out-of-place alone, each with
/// the least effort first. Where in-place calls would be wrong only (an all-to-all that overwrites what it
/// still has to send), in_place is given up if the options ask for both. None: the judge refused all of them.
[[nodiscard]] std::optional<MscclResult> first_valid_msccl(const Instance& instance, const Schedule& schedule,
                                                           CollectiveId collective,
                                                           const MscclOptions& options,
                                                           const MscclJudge& judge);

}  // namespace tutti::compile

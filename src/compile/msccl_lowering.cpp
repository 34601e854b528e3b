// The compiler from schedules to MSCCL plans: the front end of schedules, then the passes that programs go
// through too.
//
// Limits are met by trying: a thread block with too many steps halves the lanes; too many thread blocks make
// lanes share them, then make paths between two ranks share lanes. What still does not fit is refused with
// the number that was needed at last.
//
// Why plans do not deadlock: the steps of a rank stand in the order of the graph, which is that of time, and
// whatever a step waits for stands before it there (a dependency, the step before it in its block, a message,
// and with Plain room on a connection). Usually connections have room anyway, because the receiver takes
// messages as they arrive, whatever the schedule's times; the verifier decides.

#include "compile/msccl_lowering.hpp"

#include "compile/condition.hpp"
#include "compile/excess.hpp"
#include "compile/passes/layout.hpp"
#include "compile/schedule_graph.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

namespace tutti::compile {
namespace {

using passes::Choice;
using passes::Layout;

std::int32_t most_in_a_step(const MscclLimits& limits, plan::Protocol protocol, MscclEffort effort) {
    if (effort == MscclEffort::Plain) return 1;
    return effort == MscclEffort::Short ? plan::fifo_capacity(protocol) : limits.count;
}

using Steps = std::variant<std::vector<plan::Gpu>, Excess>;

Steps attempt(const Graph& graph, const MscclLimits& limits, const Choice& choice, Layout& layout) {
    // Messages are dealt out to connections; what comes in and goes on is one step of one thread block.
    form_lanes(graph, {}, choice, layout);
    form_blocks(graph, choice, layout);
    // The order of time.
    (void)find_order(graph, {}, choice, layout);
    // Sums that are only passed on are not stored, and need no place.
    drop_sums(graph, layout);
    pack_scratch(graph, layout);
    // Connections that share a thread block share a channel.
    if (const auto excess = choose_channels(graph.ranks(), &limits, layout)) return *excess;
    // Steps, each with what it waits for.
    return steps_of(graph, &limits, layout);
}

/// More frugal than before; false: nothing is left to try.
bool tighten(Choice& choice, const Excess& excess) {
    switch (excess.of) {
        case Excess::Of::Steps:
            if (choice.lane_length == 1) return false;
            choice.lane_length /= 2;
            return true;
        case Excess::Of::Blocks:
        case Excess::Of::Channels:
        case Excess::Of::WaitedBlock:
            if (!choice.pack) {
                choice.pack = true;
            } else if (choice.paths > 8) {
                choice.paths = 8;
            } else if (choice.paths > 1) {
                choice.paths /= 2;
            } else {
                return false;
            }
            return true;
        case Excess::Of::Nodes:
        case Excess::Of::Offset:
            return false;
    }
    return false;
}

/// The steps of all ranks, and how many channels they take.
std::pair<std::vector<plan::Gpu>, std::uint32_t> fitted(const Graph& graph, plan::Target target,
                                                        plan::Protocol protocol, MscclEffort effort) {
    const MscclLimits& limits = limits_of(target);
    Choice choice{.fuse = effort == MscclEffort::Fused,
                  .peel = false,
                  .in_turn = true,
                  .lane_length = static_cast<std::uint32_t>(limits.steps),
                  .locals_apart = true,
                  .graph_order = true};
    if (effort == MscclEffort::Plain)
        choice.in_flight = static_cast<std::uint32_t>(plan::fifo_capacity(protocol));
    while (true) {
        Layout layout;
        Steps steps = attempt(graph, limits, choice, layout);
        if (auto* gpus = std::get_if<std::vector<plan::Gpu>>(&steps))
            return {std::move(*gpus), layout.channels};
        const Excess& excess = std::get<Excess>(steps);
        if (!tighten(choice, excess)) throw InputError(text_of(excess, target));
    }
}

std::string spelled(CollectiveKind goal, plan::Target target) {
    const bool unnamed = goal == CollectiveKind::Custom || goal == CollectiveKind::AllToNext ||
                         goal == CollectiveKind::SendRecv;
    if (unnamed) return "custom";
    if (goal == CollectiveKind::ReduceScatter && target != plan::Target::Msccl) return "reducescatter";
    return std::string(plan_name_of(goal));
}

/// The target asked for, if it knows the collective; without one, one that does.
plan::Target target_for(const Places& places, CollectiveKind kind, const MscclOptions& options) {
    const CollectiveKind goal = places.goal();
    const bool unnamed = spelled(goal, plan::Target::Msccl) == "custom";
    const plan::Target target =
        options.target.value_or(unnamed ? plan::Target::Msccl : plan::Target::MscclExecutor);
    const bool is_msccl = target == plan::Target::Msccl;
    if (is_msccl && (goal == CollectiveKind::Gather || goal == CollectiveKind::Scatter)) {
        throw InputError(
            fmt::format("the msccl runtime has no {}; --target msccl-executor has", name_of(kind)));
    }
    if (is_msccl || !unnamed) return target;
    if (!places.has_relays()) {
        throw InputError(fmt::format("{} has no custom collectives, so none for {}; --target msccl has",
                                     name_of(target), name_of(kind)));
    }
    throw InputError(fmt::format(
        "{} of the plan's {} ranks are relays outside the group, which makes it a custom collective, and {} "
        "has none; --target msccl has, and \"forwarding\": \"group\" in the instance keeps schedules inside "
        "the group where that is possible",
        places.ranks() - places.members(), places.ranks(), name_of(target)));
}

}  // namespace

MscclResult lower_to_msccl(const Instance& instance, const Schedule& schedule, CollectiveId id,
                           const MscclOptions& options, MscclEffort effort) {
    const Collective& collective = instance.collective(id);
    Part part = part_of(instance, schedule, id);
    const Places places(instance, part);
    const plan::Target target = target_for(places, collective.kind, options);
    const MscclLimits& limits = limits_of(target);

    MscclResult result{.target = target, .effort = effort};
    plan::MscclPlan& plan = result.plan;
    {
        // Where every chunk is read and written.
        ScheduleMoves moves = moves_of(part, places, false, limits.count);
        for (std::uint32_t r = 0; r < moves.memory.size() && options.in_place; ++r) {
            moves.memory[r] = in_place_memory(places.goal(), r, moves.memory[r]);
        }
        // Messages of neighbouring chunks are one instruction.
        const Graph graph = graph_of(moves, most_in_a_step(limits, options.protocol, effort));
        moves.facts = {};
        auto [gpus, channels] = fitted(graph, target, options.protocol, effort);
        plan.gpus = std::move(gpus);
        plan.channels = static_cast<std::int32_t>(channels);
    }
    // The runtime takes nothing else for custom collectives than all of a call's chunks, or none.
    const bool custom = places.goal() == CollectiveKind::Custom;
    for (std::uint32_t r = 0; r < places.members() && custom; ++r) {
        plan.gpus[r].input_chunks = plan.gpus[r].output_chunks =
            static_cast<std::int32_t>(places.chunks_per_loop());
    }
    plan.name = options.name.empty() ? fmt::format("{} {}", instance.name(), collective.id) : options.name;
    plan.protocol = options.protocol;
    plan.chunks_per_loop = static_cast<std::int32_t>(places.chunks_per_loop());
    plan.ranks = static_cast<std::int32_t>(places.ranks());
    plan.collective = spelled(places.goal(), target);
    plan.in_place = options.in_place;
    plan.out_of_place = options.out_of_place;
    plan.min_bytes = options.min_bytes.value_or(0);
    plan.max_bytes = options.max_bytes.value_or(limits.no_max_bytes);
    if (*plan.collective == "custom") result.condition = condition_of(part, places);
    if (places.root() && !places.has_relays()) result.root = Rank(*places.root());
    result.npus = std::move(part.npus);
    result.members = part.members;
    return result;
}

std::optional<MscclResult> first_valid_msccl(const Instance& instance, const Schedule& schedule,
                                             CollectiveId collective, const MscclOptions& options,
                                             const MscclJudge& judge) {
    std::vector<MscclOptions> variants{options};
    if (options.in_place && options.out_of_place) {
        variants.push_back(options);
        variants.back().in_place = false;
    }
    for (const MscclOptions& modes : variants) {
        for (const auto effort :
             {MscclEffort::Fused, MscclEffort::Merged, MscclEffort::Short, MscclEffort::Plain}) {
            MscclResult result = lower_to_msccl(instance, schedule, collective, modes, effort);
            const plan::PlanClass verdict = judge(result);
            if (verdict == plan::PlanClass::Valid) return result;
            // Wrong values do not become right with larger FIFOs.
            if (verdict != plan::PlanClass::ValidIfBuffered) break;
        }
    }
    return std::nullopt;
}

}  // namespace tutti::compile

// From a schedule to an execution plan of MSCCL++: one call for each pass. Where chunks lie, what goes
// together and on which connection is decided as for MSCCL; how it is said is not.

#include "compile/execution_lowering.hpp"

#include "compile/condition.hpp"
#include "compile/execution/graph_draft.hpp"
#include "compile/passes/layout.hpp"
#include "compile/schedule_graph.hpp"
#include "core/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>

namespace tutti::compile {
namespace {

std::string_view file_name(CollectiveKind goal) {
    return goal == CollectiveKind::ReduceScatter ? "reducescatter" : plan_name_of(goal);
}

void check_kind(CollectiveKind kind) {
    if (kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
        kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll) {
        return;
    }
    throw InputError(
        fmt::format("execution plans of MSCCL++ are for all_reduce, all_gather, reduce_scatter and "
                    "all_to_all; '{}' is none of them",
                    name_of(kind)));
}

/// In place, input and output of a plan without a name start at the same place. So only where each chunk has
/// the same place in both can it be the collective that the group would call in place.
bool in_place_of(const ExecutionOptions& options, const Places& places, CollectiveKind kind) {
    if (!places.has_relays()) return options.in_place.value_or(kind != CollectiveKind::AllToAll);
    const bool possible = kind == CollectiveKind::AllReduce;
    if (options.in_place.value_or(false) && !possible) {
        throw InputError(
            fmt::format("{} of the plan's {} ranks are relays outside the group; with relays only an "
                        "all_reduce can be had "
                        "in place, and {} out of place (--mode out-of-place)",
                        places.ranks() - places.members(), places.ranks(), name_of(kind)));
    }
    return options.in_place.value_or(possible);
}

/// Results that would overwrite what other blocks still read stay in scratch until all thread blocks of the
/// rank have done the rest.
void add_last_copies(const ScheduleMoves& moves, const Places& places, execution::Draft& draft) {
    // By rank and output chunk where the rank keeps it.
    std::vector<std::map<std::int64_t, plan::Address>> results(draft.ranks());
    for (std::size_t m = 0; m < moves.facts.size(); ++m) {
        const RankMessage& message = moves.part.messages[m];
        const auto output = places.output(message.to, message.chunk);
        if (output) results[message.to][*output] = moves.facts[m].target;
    }
    for (std::uint32_t rank = 0; rank < draft.ranks(); ++rank) {
        auto& copies = draft.of_rank[rank].last_copies;
        for (const auto& [output, place] : results[rank]) {
            const plan::Address to{plan::Buffer::Output, plan::id_of<plan::ChunkOffset>(output)};
            execution::LocalMove* last = copies.empty() ? nullptr : &copies.back();
            if (last != nullptr && last->src.plus(last->count) == place &&
                last->dst.plus(last->count) == to) {
                ++last->count;
            } else {
                copies.push_back({place, to, 1});
            }
        }
    }
}

/// There is no limit.
constexpr std::int32_t kAnyCount = std::numeric_limits<std::int32_t>::max();

execution::Draft draft_of(const Part& part, const Places& places, bool in_place, plan::ChannelType channel) {
    // The results of an all-to-all lie where other chunks' inputs do.
    const bool results_last = in_place && places.goal() == CollectiveKind::AllToAll;
    // Where every chunk is read and kept.
    ScheduleMoves moves = moves_of(part, places, results_last, kAnyCount);
    for (std::uint32_t r = 0; r < moves.memory.size() && in_place; ++r) {
        moves.memory[r] = in_place_memory(places.goal(), r, moves.memory[r]);
    }
    // Neighbouring chunks that no receiver needs one by one are moved together. In place a rank's own chunks
    // are where they belong.
    const Graph graph = graph_of(moves, kAnyCount, !in_place);
    // Messages are dealt out to connections; what comes in and goes on is the work of one thread block.
    const passes::Choice choice{.peel = false, .in_turn = true, .locals_apart = true, .graph_order = true};
    passes::Layout layout;
    form_lanes(graph, {}, choice, layout);
    form_blocks(graph, choice, layout);
    (void)find_order(graph, {}, choice, layout);
    // Where messages are put, and what each rank does in which order.
    execution::Draft draft = execution::draft_of(graph, layout, {.copies_apart = true});
    draft.in_place = in_place;
    draft.channel = channel;
    if (results_last) add_last_copies(moves, places, draft);
    // The executor finds the size of a chunk by dividing a rank's buffers, so relays have them too.
    for (std::uint32_t r = places.members(); r < draft.ranks(); ++r) {
        draft.of_rank[r].inputs = draft.of_rank[0].inputs;
        draft.of_rank[r].outputs = draft.of_rank[0].outputs;
    }
    return draft;
}

}  // namespace

ExecutionResult lower_to_execution_plan(const Instance& instance, const Schedule& schedule,
                                        CollectiveId collective, const ExecutionOptions& options) {
    const CollectiveKind kind = instance.collective(collective).kind;
    check_kind(kind);
    if (options.channel == plan::ChannelType::Switch) {
        throw InputError("execution plans are written for memory or port channels, not for switch channels");
    }
    Part part = part_of(instance, schedule, collective);
    const Places places(instance, part);
    const bool in_place = in_place_of(options, places, kind);
    execution::Draft draft = draft_of(part, places, in_place, options.channel);
    // Thread blocks, then channels and operations.
    execution::form_blocks(draft);
    ExecutionResult result{.plan = execution::assemble(draft)};
    plan::ExecutionPlan& plan = result.plan;
    plan.name = options.name.empty()
                    ? fmt::format("{} {}", instance.name(), instance.collective(collective).id)
                    : options.name;
    plan.collective = file_name(places.goal());
    plan.min_bytes = options.min_bytes.value_or(plan.min_bytes);
    plan.max_bytes = options.max_bytes.value_or(plan.max_bytes);
    if (places.has_relays()) result.condition = condition_of(part, places);
    result.npus = std::move(part.npus);
    result.members = part.members;
    return result;
}

}  // namespace tutti::compile

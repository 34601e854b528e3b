// The compiler from programs to MSCCL plans: one call for each pass. The last pass, the judge, is the
// caller's: a plan that it does not accept never leaves.

#include "compile/trace_lowering.hpp"

#include "compile/msccl_lowering.hpp"
#include "compile/trace/layout.hpp"
#include "compile/trace/replicate.hpp"
#include "compile/trace_graph.hpp"
#include "core/error.hpp"
#include "lang/contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace tutti::compile {
namespace {

using namespace trace;

constexpr std::uint32_t kMostInAStep = 71;

std::string spelled(CollectiveKind kind, const std::optional<plan::Target>& target) {
    if (kind == CollectiveKind::Custom || kind == CollectiveKind::AllToNext) return "custom";
    if (kind == CollectiveKind::ReduceScatter && target != plan::Target::Msccl) return "reducescatter";
    return std::string(plan_name_of(kind));
}

/// Everything of the plan but its steps.
plan::MscclPlan heading(const lang::Trace& program, const TraceOptions& options) {
    const lang::Shape& shape = program.shape;
    plan::MscclPlan plan;
    plan.name = program.name;
    plan.protocol = program.protocol;
    plan.ranks = static_cast<std::int32_t>(shape.ranks);
    plan.collective = spelled(shape.kind, options.target);
    plan.in_place = shape.in_place;
    plan.out_of_place = !shape.in_place;
    plan.min_bytes = options.min_bytes.value_or(0);
    plan.max_bytes = options.max_bytes.value_or(options.target && *options.target != plan::Target::Mscclpp
                                                    ? limits_of(*options.target).no_max_bytes
                                                    : 0);
    const bool share = shape.kind == CollectiveKind::Gather || shape.kind == CollectiveKind::Scatter;
    plan.chunks_per_loop =
        static_cast<std::int32_t>(share ? shape.chunks : std::max(input_chunks(shape), output_chunks(shape)));
    return plan;
}

/// One way through the passes; none: it got stuck.
std::optional<plan::MscclPlan> attempt(const lang::Trace& program, const Graph& graph, const Clock& clock,
                                       const Choice& choice, const TraceOptions& options, Layout& layout) {
    // Thread blocks: the program's, or one for each lane or pair of lanes with much to fuse.
    if (program.policy == lang::BlockPolicy::Manual) {
        take_manual_blocks(graph, program, choice, clock, layout);
    } else {
        form_lanes(graph, clock, choice, layout);
        form_blocks(graph, layout);
    }
    // The order in which everything can run.
    if (!find_order(graph, clock, choice, layout)) return std::nullopt;
    // Sums that are only passed on are not stored.
    drop_sums(graph, layout);
    choose_channels(layout);
    plan::MscclPlan plan = heading(program, options);
    plan.channels = static_cast<std::int32_t>(layout.channels);
    // Steps, each with what it waits for.
    plan.gpus = steps_of(graph, program.shape, layout);
    return plan;
}

std::size_t blocks_of(const plan::MscclPlan& plan) {
    std::size_t blocks = 0;
    for (const plan::Gpu& gpu : plan.gpus) blocks += gpu.blocks.size();
    return blocks;
}
auto size_of(const plan::MscclPlan& plan) {
    return std::tuple(steps_of(plan), blocks_of(plan), plan.channels);
}

std::size_t longest_block(const plan::MscclPlan& plan) {
    std::size_t longest = 0;
    for (const plan::Gpu& gpu : plan.gpus) {
        for (const plan::ThreadBlock& block : gpu.blocks) longest = std::max(longest, block.steps.size());
    }
    return longest;
}

/// How good a verdict is; 0: not acceptable.
int rank_of(plan::PlanClass verdict) {
    switch (verdict) {
        case plan::PlanClass::Valid:
            return 3;
        case plan::PlanClass::ValidIfBuffered:
            return 2;
        case plan::PlanClass::StructureOnly:
            return 1;
        default:
            return 0;
    }
}

}  // namespace

TraceResult compile_trace(const lang::Trace& program, const TraceOptions& options, const TraceJudge& judge) {
    const Graph graph = graph_of(program, kMostInAStep);
    const Clock clock = clock_of(graph);
    TraceResult frame;
    frame.root = program.shape.root;
    if (spelled(program.shape.kind, options.target) == "custom")
        frame.condition = lang::condition_of(program);
    const auto fifo = static_cast<std::uint32_t>(plan::fifo_capacity(program.protocol));

    std::vector<Choice> choices;
    for (const std::uint32_t room : {fifo, kNone}) {
        for (const bool in_order : {false, true}) {
            for (const bool peel : {true, false}) {
                if (!program.fusion && peel) continue;
                if (program.policy == lang::BlockPolicy::Manual && peel) continue;
                choices.push_back(
                    {.fuse = program.fusion, .peel = peel, .trace_order = in_order, .fifo = room});
            }
        }
        if (program.fusion)
            choices.push_back({.fuse = false, .peel = false, .trace_order = true, .fifo = room});
    }
    const int best_possible = frame.condition && frame.condition->outputs.empty() ? 1 : 3;

    std::optional<TraceResult> best;
    int best_rank = 0;
    std::int64_t best_time = 0;
    plan::PlanClass last{};
    std::optional<Layout> peeling;  ///< of the last way that peels
    for (const Choice& choice : choices) {
        // Later choices only help where earlier ones were not accepted.
        if (!options.timed && best_rank == best_possible &&
            (choice.trace_order || choice.fifo == kNone || !choice.fuse))
            break;
        // Without a lane of its own for anything, peeling made no difference.
        const bool same = choice.fuse && !choice.peel && peeling && !peeling->peeled;
        if (same && program.policy != lang::BlockPolicy::Manual) continue;
        Layout layout;
        auto plan = attempt(program, graph, clock, choice, options, layout);
        if (choice.peel) peeling = std::move(layout);
        if (!plan) continue;
        if (!options.timed && best && best_rank == best_possible && size_of(best->plan) <= size_of(*plan))
            continue;
        for (TraceResult& made : replicated(*plan, frame, program)) {
            const Judgement judgement = judge(made);
            last = judgement.verdict;
            const int rank = rank_of(last);
            if (rank == 0) continue;
            const bool better = !best || rank > best_rank ||
                                (rank == best_rank && std::tuple(judgement.time, size_of(made.plan)) <
                                                          std::tuple(best_time, size_of(best->plan)));
            if (better) {
                best_rank = rank;
                best_time = judgement.time;
                best = std::move(made);
            }
            break;
        }
    }
    if (!best) {
        throw InternalError(
            fmt::format("every plan for the program '{}' was rejected ({})", program.name, name_of(last)));
    }
    if (options.target && *options.target != plan::Target::Mscclpp) {
        const MscclLimits& limits = limits_of(*options.target);
        if (const std::size_t longest = longest_block(best->plan);
            longest > static_cast<std::size_t>(limits.steps)) {
            throw InputError(fmt::format("the plan has a thread block of {} steps; {} has room for {}",
                                         longest, name_of(*options.target), limits.steps));
        }
        if (best->plan.channels > limits.channels) {
            throw InputError(fmt::format("the plan needs {} channels; {} has {}", best->plan.channels,
                                         name_of(*options.target), limits.channels));
        }
    }
    return std::move(*best);
}

}  // namespace tutti::compile

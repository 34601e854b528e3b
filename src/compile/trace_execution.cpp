// The compiler from programs to execution plans of MSCCL++: the passes of trace/ up to the order, then those
// of execution/, which schedules go through too. The last pass, the judge, is the caller's.

#include "compile/execution/graph_draft.hpp"
#include "compile/execution_lowering.hpp"
#include "compile/passes/dump.hpp"
#include "compile/trace_graph.hpp"
#include "compile/trace_lowering.hpp"
#include "core/error.hpp"
#include "lang/contributions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

namespace tutti::compile {
namespace {

using execution::DraftChoice;
using passes::Choice;
using passes::Layout;
using passes::Manner;

/// Chunks of one operation; there is no limit.
constexpr std::uint32_t kAnyCount = std::numeric_limits<std::uint32_t>::max();

/// Empty: the format has no name for it.
std::string_view execution_name(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::AllGather:
        case CollectiveKind::AllToAll:
            return plan_name_of(kind);
        case CollectiveKind::ReduceScatter:
            return "reducescatter";
        default:
            return "";
    }
}

void check_mode(const lang::Shape& shape) {
    const bool rooted = shape.kind == CollectiveKind::Gather || shape.kind == CollectiveKind::Scatter;
    if (!rooted || !shape.in_place) return;
    throw InputError(
        fmt::format("an in-place {} is in place at the root only, which execution plans cannot "
                    "say; expected one that is out of place",
                    name_of(shape.kind)));
}

/// Thread blocks and an order for the graph; none: a message that is passed on at once would overtake
/// another. Without joined lanes there is always one.
std::optional<Layout> layout_of(const lang::Trace& program, const Graph& graph, const Clock& clock,
                                bool joined) {
    Choice choice{.fuse = joined, .peel = false};
    Layout layout;
    if (program.policy == lang::BlockPolicy::Manual) {
        take_manual_blocks(graph, program, choice, clock, layout);
    } else {
        form_lanes(graph, clock, choice, layout);
        form_blocks(graph, choice, layout);
    }
    if (find_order(graph, clock, choice, layout)) return layout;
    choice.graph_order = true;
    if (find_order(graph, clock, choice, layout)) return layout;
    return std::nullopt;
}

auto size_of(const plan::ExecutionPlan& plan) {
    std::size_t blocks = 0;
    for (const plan::ExecutionGpu& gpu : plan.gpus) blocks += gpu.blocks.size();
    return std::tuple(operations_of(plan), blocks);
}

class ExecutionCompiler {
  public:
    ExecutionCompiler(const lang::Trace& program, const TraceOptions& options, const ExecutionJudge& judge)
        : program_(program), options_(options), judge_(judge) {
        if (execution_name(program.shape.kind).empty()) condition_ = lang::condition_of(program);
    }

    TraceExecution run() {
        std::optional<TraceExecution> best;
        std::tuple<std::int64_t, std::size_t, std::size_t> best_size;
        for (const auto& [joined, reads] : {std::pair(true, true), std::pair(true, false),
                                            std::pair(false, true), std::pair(false, false)}) {
            if (joined && !program_.fusion) continue;
            if (reads && !may_read()) continue;
            std::optional<TraceExecution> made = first_accepted(joined, reads);
            if (!made) continue;
            const auto size = std::tuple_cat(std::tuple(time_), size_of(made->plan));
            if (best && best_size <= size) continue;
            best_size = size;
            best = std::move(made);
        }
        if (best) return std::move(*best);
        throw InternalError(fmt::format("every execution plan for the program '{}' was rejected ({})",
                                        program_.name, name_of(last_)));
    }

  private:
    /// The proxies of port channels only put, and packets are put.
    [[nodiscard]] bool may_read() const {
        return options_.channel == plan::ChannelType::Memory && !landings().front().packets;
    }

    std::optional<TraceExecution> first_accepted(bool joined, bool reads) {
        const bool ranges =
            std::ranges::any_of(program_.verbs, [](const lang::Verb& verb) { return verb.count > 1; });
        const auto manners =
            program_.instances > 1 ? passes::manners_of(program_, ranges) : std::vector{Manner::Runs};
        for (const Manner manner : manners) {
            const Graph graph = graph_of(program_, manner == Manner::Singles ? 1 : kAnyCount);
            const std::optional<Layout> layout = layout_of(program_, graph, clock_of(graph), joined);
            if (!layout) continue;
            for (DraftChoice choice : landings()) {
                choice.reads = reads;
                choice.instances = std::int64_t{program_.instances};
                choice.manner = manner;
                TraceExecution made = attempt(graph, *layout, choice);
                const Judgement judgement = judge_(made);
                made.judged = calls_++;
                if (options_.dump_after && *options_.dump_after <= Pass::Order)
                    made.dump = told(graph, *layout);
                last_ = judgement.verdict;
                time_ = judgement.time;
                const bool nothing_to_judge = condition_ && condition_->outputs.empty();
                if (last_ == plan::PlanClass::Valid ||
                    (nothing_to_judge && last_ == plan::PlanClass::StructureOnly))
                    return made;
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] PassDump told(const Graph& graph, const Layout& layout) const {
        return {passes::dump(program_, graph, clock_of(graph), layout, *options_.dump_after, options_.dot),
                {}};
    }

    /// Where messages land, the best first. Packets are for low latency, if every rank's result depends on
    /// all ranks: then none can be two calls ahead of another, and overwrite packets that are still to be
    /// read.
    [[nodiscard]] std::vector<DraftChoice> landings() const {
        const CollectiveKind kind = program_.shape.kind;
        const bool from_all = kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
                              kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
        const bool packets = program_.protocol == plan::Protocol::LL && from_all;
        const bool staged = options_.channel == plan::ChannelType::Port;
        if (packets) return {{.packets = true, .staged = staged}};
        return {{.direct = true}, {.direct = false}};
    }

    [[nodiscard]] TraceExecution attempt(const Graph& graph, const Layout& layout,
                                         const DraftChoice& choice) const {
        execution::Draft draft = draft_of(graph, layout, choice);
        draft.in_place = program_.shape.in_place;
        draft.channel = options_.channel;
        form_blocks(draft);
        TraceExecution made{.plan = assemble(draft)};
        if (choice.packets) {
            made.plan.protocol = plan::Protocol::LL;
            made.plan.double_scratch =
                true;  // a call may begin while another rank still reads the last one's
        }
        made.plan.name = program_.name;
        made.plan.collective = condition_ ? "custom" : execution_name(program_.shape.kind);
        if (options_.min_bytes) made.plan.min_bytes = static_cast<std::uint64_t>(*options_.min_bytes);
        if (options_.max_bytes.value_or(0) > 0)
            made.plan.max_bytes = static_cast<std::uint64_t>(*options_.max_bytes);
        if (condition_) {
            made.condition = choice.instances > 1 ? passes::copied(*condition_, program_.shape,
                                                                   choice.instances, choice.manner)
                                                  : condition_;
        }
        return made;
    }

    const lang::Trace& program_;
    const TraceOptions& options_;
    const ExecutionJudge& judge_;
    std::optional<plan::Condition> condition_;
    plan::PlanClass last_{};
    std::int64_t time_ = 0;  ///< of the plan that was judged last
    std::uint32_t calls_ = 0;
};

}  // namespace

TraceExecution compile_trace_to_execution(const lang::Trace& program, const TraceOptions& options,
                                          const ExecutionJudge& judge) {
    if (options.channel == plan::ChannelType::Switch) {
        throw InputError("execution plans are written for memory or port channels, not for switch channels");
    }
    check_mode(program.shape);
    return ExecutionCompiler(program, options, judge).run();
}

}  // namespace tutti::compile

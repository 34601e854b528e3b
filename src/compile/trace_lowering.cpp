// The compiler from programs to MSCCL plans: one call for each pass. The last pass, the judge, is the
// caller's: a plan that it does not accept never leaves.

#include "compile/trace_lowering.hpp"

#include "compile/msccl_lowering.hpp"
#include "compile/passes/dump.hpp"
#include "compile/passes/layout.hpp"
#include "compile/passes/replicate.hpp"
#include "compile/trace_graph.hpp"
#include "core/error.hpp"
#include "lang/contributions.hpp"
#include "lang/verbs_aside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace tutti::compile {
namespace {

using namespace passes;

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

/// The plan would only be right with more room on its lanes than there is.
struct NeedsRoom {};
/// What an attempt ended in: a plan, a limit that is not kept, or nothing: it got stuck.
using Outcome = std::variant<std::monostate, plan::MscclPlan, Excess, NeedsRoom>;

/// What may be freed once it is not needed any more: parts of the graph, and the program's verbs.
struct Spare {
    Graph* graph = nullptr;
    lang::Trace* program = nullptr;  ///< null: they stay
    lang::VerbsAside* aside = nullptr;
};

/// One way through the passes.
class Attempt {
  public:
    Attempt(const lang::Trace& program, const Graph& graph, const Spare& spare, const Choice& choice,
            const TraceOptions& options)
        : program_(program),
          graph_(graph),
          spare_(spare),
          clock_(clock_of(graph)),
          choice_(choice),
          options_(options) {}

    /// `room`: how many chunks its lanes should hold; kNone: that does not matter.
    Outcome run(std::uint32_t room) {
        told_.reset();
        tell(Pass::Clock);
        // Thread blocks: the program's, or one for each lane or pair of lanes with much to fuse.
        if (program_.policy == lang::BlockPolicy::Manual) {
            take_manual_blocks(graph_, program_, choice_, clock_, layout_);
            tell(Pass::Lanes);
        } else {
            form_lanes(graph_, clock_, choice_, layout_);
            tell(Pass::Lanes);
            form_blocks(graph_, choice_, layout_);
        }
        tell(Pass::Blocks);
        // The order in which everything can run.
        if (!find_order(graph_, clock_, choice_, layout_)) return {};
        tell(Pass::Order);
        if (room != kNone && !runs_by_chunks(graph_, layout_, room)) return NeedsRoom{};
        // Sums that are only passed on are not stored.
        drop_sums(graph_, layout_);
        tell(Pass::Sums);
        // Sums that are not stored need no place.
        pack_scratch(graph_, layout_);
        if (const auto excess = choose_channels(graph_.ranks(), limits(options_), layout_)) return *excess;
        tell(Pass::Channels);
        make_room();
        plan::MscclPlan plan = heading(program_, options_);
        plan.channels = static_cast<std::int32_t>(layout_.channels);
        // Steps, each with what it waits for.
        auto steps = steps_of(graph_, limits(options_), layout_);
        if (const auto* excess = std::get_if<Excess>(&steps)) return *excess;
        plan.gpus = std::move(std::get<std::vector<plan::Gpu>>(steps));
        if (options_.dump_after == Pass::Steps) tell(plan);
        return plan;
    }
    /// Tells what there is at last.
    void tell(const plan::MscclPlan& plan) {
        told_ = options_.dot ? PassDump{dot_of(plan), {}} : PassDump{{}, plan};
    }
    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] const std::optional<PassDump>& told() const { return told_; }

    static const MscclLimits* limits(const TraceOptions& options) {
        const bool has = options.target && *options.target != plan::Target::Mscclpp;
        return has ? &limits_of(*options.target) : nullptr;
    }

  private:
    /// For the steps: what is not needed any more goes.
    void make_room() {
        clock_ = {};
        if (spare_.graph == nullptr || (choice_.peel && layout_.peeled))
            return;  // there will be another attempt
        spare_.graph->forget_order();
        layout_.lane_of = std::vector<std::uint32_t>();
        if (spare_.program != nullptr) spare_.aside->take(*spare_.program);
    }
    void tell(Pass pass) {
        if (options_.dump_after == pass)
            told_ = PassDump{dump(program_, graph_, clock_, layout_, pass, options_.dot), {}};
    }

    const lang::Trace& program_;
    const Graph& graph_;
    Spare spare_;
    Clock clock_;
    const Choice& choice_;
    const TraceOptions& options_;
    Layout layout_;
    std::optional<PassDump> told_;
};

std::size_t blocks_of(const plan::MscclPlan& plan) {
    std::size_t blocks = 0;
    for (const plan::Gpu& gpu : plan.gpus) blocks += gpu.blocks.size();
    return blocks;
}
std::tuple<std::size_t, std::size_t, std::int32_t> size_of(const plan::MscclPlan& plan) {
    return {steps_of(plan), blocks_of(plan), plan.channels};
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

/// All ways through the passes, and the best plan so far.
class Search {
  public:
    /// `spare`: the program again, if it may be without its verbs meanwhile.
    Search(const lang::Trace& program, lang::Trace* spare, const TraceOptions& options,
           const TraceJudge& judge)
        : program_(program), spare_(spare), options_(options), judge_(judge) {
        frame_.root = program.shape.root;
        if (spelled(program.shape.kind, options.target) == "custom")
            frame_.condition = lang::condition_of(program);
        best_possible_ = frame_.condition && frame_.condition->outputs.empty() ? 1 : 3;
    }

    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    ~Search() {
        try {
            give_back_verbs();
        } catch (const std::bad_alloc&) {
            // Whoever is told of that has no use for them.
            spare_ = nullptr;
        }
    }

    TraceResult run() {
        // Where thread blocks are too long for the target, connections become several; where there are too
        // many, connections share them.
        std::uint32_t length = kNone;
        while (true) {
            try_all(length);
            if (best_ || !excess_ || program_.policy == lang::BlockPolicy::Manual) break;
            const Excess::Of of = excess_->of;
            const bool too_many =
                of == Excess::Of::Blocks || of == Excess::Of::Channels || of == Excess::Of::WaitedBlock;
            if (of == Excess::Of::Steps && length != 1) {
                length = length == kNone ? static_cast<std::uint32_t>(Attempt::limits(options_)->steps)
                                         : length / 2;
            } else if (too_many && !pack_) {
                pack_ = true;
            } else {
                break;
            }
        }
        if (!best_ && excess_) throw InputError(text_of(*excess_, *options_.target));
        if (!best_) {
            throw InternalError(fmt::format("every plan for the program '{}' was rejected ({})",
                                            program_.name, name_of(last_)));
        }
        if (best_->plan.gpus.empty()) make_again();
        if (options_.dump_after) add_dump();
        return std::move(*best_);
    }

  private:
    [[nodiscard]] std::vector<Choice> choices(std::uint32_t lane_length) const {
        const auto fifo = static_cast<std::uint32_t>(plan::fifo_capacity(program_.protocol));
        std::vector<Choice> all;
        for (const std::uint32_t room : {fifo, kNone}) {
            for (const bool in_order : {false, true}) {
                for (const bool peel : {true, false}) {
                    if ((!program_.fusion || pack_) && peel) continue;
                    if (program_.policy == lang::BlockPolicy::Manual && peel) continue;
                    all.push_back({.fuse = program_.fusion,
                                   .peel = peel,
                                   .pack = pack_,
                                   .lane_length = lane_length,
                                   .graph_order = in_order,
                                   .fifo = room});
                }
            }
            if (program_.fusion) {
                all.push_back({.fuse = false,
                               .peel = false,
                               .pack = pack_,
                               .lane_length = lane_length,
                               .graph_order = true,
                               .fifo = room});
            }
        }
        return all;
    }

    void try_all(std::uint32_t lane_length) {
        bool peeled = true;  // whether the last way that could give messages lanes of their own did
        std::vector<Choice> put_off;
        for (const Choice& choice : choices(lane_length)) {
            // Later choices only help where earlier ones were not accepted.
            const bool late = choice.graph_order || choice.fifo == kNone || !choice.fuse;
            if (!options_.timed && best_rank_ >= best_possible_ && late) break;
            if (choice.fuse && !choice.peel && !peeled) continue;  // it would be the same again
            // Without a time to compare, what needs more room is only of use if nothing else is right.
            const bool can_wait = !options_.timed && best_possible_ == rank_of(plan::PlanClass::Valid);
            if (!go(choice, can_wait ? choice.fifo : kNone, peeled)) put_off.push_back(choice);
        }
        for (const Choice& choice : put_off) {
            if (best_rank_ < best_possible_) go(choice, kNone, peeled);
        }
    }
    /// Goes one way to its end; false: it was given up for lack of room.
    bool go(const Choice& choice, std::uint32_t room, bool& peeled) {
        Outcome outcome = attempt(choice, room, peeled);
        if (const auto* excess = std::get_if<Excess>(&outcome)) excess_ = *excess;
        if (auto* plan = std::get_if<plan::MscclPlan>(&outcome)) take(std::move(*plan), choice);
        return !std::holds_alternative<NeedsRoom>(outcome);
    }
    Outcome attempt(const Choice& choice, std::uint32_t room, bool& peeled) {
        if (!graph_) {
            give_back_verbs();
            graph_.emplace(graph_of(program_, kMostInAStep));
        }
        Attempt attempt(program_, *graph_, {&*graph_, spare_, &aside_}, choice, options_);
        Outcome outcome = attempt.run(room);
        if (choice.peel) peeled = attempt.layout().peeled;
        // If the plan is accepted, it mostly is the last attempt: what judging needs is not needed twice.
        const bool is_judged = !std::holds_alternative<NeedsRoom>(outcome);
        if (is_judged && (!choice.peel || !peeled)) graph_.reset();
        return outcome;
    }

    void take(plan::MscclPlan plan, const Choice& choice) {
        const bool cannot_win = best_ && best_rank_ >= best_possible_ && best_size_ <= size_of(plan);
        if (!options_.timed && cannot_win) return;
        const MscclLimits* const limits = Attempt::limits(options_);
        std::size_t manner = 0;
        for (TraceResult& made : replicated(std::move(plan), frame_, program_)) {
            ++manner;
            if (limits != nullptr) {
                if (const auto excess = excess_of(made.plan, *limits)) {
                    excess_ = excess;
                    continue;
                }
            }
            const Judgement judgement = judge_(made);
            made.judged = calls_++;
            last_ = judgement.verdict;
            const int rank = rank_of(last_);
            if (rank == 0) continue;
            const bool better = !best_ || rank > best_rank_ ||
                                (rank == best_rank_ && std::tuple(judgement.time, size_of(made.plan)) <
                                                           std::tuple(best_time_, best_size_));
            if (better) {
                best_rank_ = rank;
                best_time_ = judgement.time;
                best_size_ = size_of(made.plan);
                best_ = std::move(made);
                way_ = choice;
                manner_ = manner - 1;
                // Other ways will be tried: two plans at once would need twice the memory.
                if (rank < best_possible_) best_->plan.gpus = std::vector<plan::Gpu>();
            }
            break;
        }
    }

    /// The steps of the best plan, which were dropped for another one's.
    void make_again() {
        give_back_verbs();
        const Graph graph = graph_of(program_, kMostInAStep);
        Outcome outcome = Attempt(program_, graph, {}, way_, options_).run(kNone);
        auto made = replicated(std::move(std::get<plan::MscclPlan>(outcome)), frame_, program_);
        best_->plan.gpus = std::move(made[manner_].plan.gpus);
    }

    /// Goes the way again that led to the plan.
    void add_dump() {
        give_back_verbs();
        const Graph graph = graph_of(program_, kMostInAStep);
        Attempt attempt(program_, graph, {}, way_, options_);
        (void)attempt.run(kNone);
        if (options_.dump_after == Pass::Trace && options_.dot) {
            best_->dump = PassDump{dump(program_, graph, clock_of(graph), {}, Pass::Trace, true), {}};
            return;
        }
        if (options_.dump_after == Pass::Replicate) attempt.tell(best_->plan);
        best_->dump = attempt.told();
    }

    void give_back_verbs() {
        if (spare_ != nullptr) aside_.give_back(*spare_);
    }

    const lang::Trace& program_;
    lang::Trace* spare_;  ///< may be null
    lang::VerbsAside aside_;
    const TraceOptions& options_;
    const TraceJudge& judge_;
    std::optional<Graph> graph_;  ///< while it is needed
    TraceResult frame_;
    int best_possible_ = 3;
    bool pack_ = false;  ///< connections share thread blocks

    std::optional<TraceResult> best_;
    Choice way_;              ///< to the best
    std::size_t manner_ = 0;  ///< of the best: of its instances
    std::tuple<std::size_t, std::size_t, std::int32_t> best_size_{};
    int best_rank_ = 0;
    std::int64_t best_time_ = 0;
    std::uint32_t calls_ = 0;  ///< of the judge
    plan::PlanClass last_{};
    std::optional<Excess> excess_;  ///< the last one
};

}  // namespace

TraceResult compile_trace(const lang::Trace& program, const TraceOptions& options, const TraceJudge& judge) {
    return Search(program, nullptr, options, judge).run();
}

TraceResult compile_trace(lang::Trace& program, const TraceOptions& options, const TraceJudge& judge) {
    return Search(program, &program, options, judge).run();
}

}  // namespace tutti::compile

#include "verify/plan/execution_steps.hpp"

#include "plan/slices.hpp"
#include "verify/plan/execution_moves.hpp"
#include "verify/plan/execution_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

// Every name in an operation is looked up once: a thread block's channel becomes a counter, its remote buffer
// and its switch channel become ranges of memories, the k-th use of a barrier by all its blocks becomes one
// set of steps. A dangling name is a violation; later parts of the verifier use no ids.
//
// Memories are counted in places, the parts of a chunk that thread block groups need (plan/slices.hpp).

namespace tutti::verify {
namespace {

using plan::ChannelType;
using plan::Operand;
using plan::Operation;
using plan::OperationType;

class StepResolver {
  public:
    StepResolver(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes, std::optional<Rank> root,
                 std::int64_t places, Findings& violations, Findings& later)
        : plan_(plan),
          layout_(plan, sizes, places, root),
          violations_(violations),
          later_(later),
          wiring_(wire(plan, violations)),
          names_(plan, wiring_, violations) {}

    std::optional<ExecutionSteps> run() {
        layout_.describe_to(result_.program);
        ExecutionMoves moves(plan_, layout_, names_, later_, result_.program);
        moves_ = &moves;
        result_.block_begin.push_back(0);
        for (const Rank gpu : plan::ranks_below(std::ssize(plan_.gpus))) {
            for (const plan::ExecutionBlock& block : plan_.gpus[gpu.index()].blocks)
                resolve_block(gpu, block);
        }
        form_meetings();
        result_.counters = std::move(wiring_.counters);
        if (!violations_.empty()) return std::nullopt;
        return std::move(result_);
    }

  private:
    void resolve_block(Rank gpu, const plan::ExecutionBlock& block) {
        step_ = {};
        step_.block = result_.blocks();
        step_.place = {.gpu = gpu, .block = block.id};
        names_.enter(gpu, block);
        for (std::size_t i = 0; i < block.ops.size(); ++i) {
            const Operation& op = block.ops[i];
            step_.place.step = plan::StepId(i);
            step_.place.inner.reset();
            if (op.type != OperationType::Pipeline) resolve_step(op);
            for (std::size_t k = 0; k < op.body.size(); ++k) {
                step_.place.inner = plan::StepId(k);
                resolve_step(op.body[k]);
            }
        }
        result_.block_begin.push_back(static_cast<std::uint32_t>(result_.steps.size()));
    }

    void resolve_step(const Operation& op) {
        step_.op = &op;
        step_.first_move = static_cast<std::uint32_t>(result_.program.moves.size());
        step_.first_use = static_cast<std::uint32_t>(result_.uses.size());
        step_.barrier = ExecutionStep::kNone;
        names_.at(step_);
        if (shape_of(op.type).moves_data()) moves_->add(op);
        if (signals(op.type) || waits(op.type) || op.type == OperationType::Flush) add_channel_uses(op);
        if (op.type == OperationType::SemAcquire || op.type == OperationType::SemRelease)
            add_semaphore_uses(op);
        if (op.type == OperationType::Barrier) {
            barriers_[{names_.gpu(), op.barrier}].push_back(static_cast<std::uint32_t>(result_.steps.size()));
        }
        step_.moves = static_cast<std::uint32_t>(result_.program.moves.size()) - step_.first_move;
        step_.uses = static_cast<std::uint32_t>(result_.uses.size()) - step_.first_use;
        result_.steps.push_back(step_);
    }

    void add_channel_uses(const Operation& op) {
        const ChannelType type = *op.channel_type;
        const bool port_only =
            !waits(op.type) && op.type != OperationType::Signal && op.type != OperationType::RelaxedSignal;
        if (type == ChannelType::Switch || (port_only && type != ChannelType::Port)) {
            return names_.complain("channel", fmt::format("impossible on a {} channel", name_of(type)));
        }
        const bool relaxed = op.type == OperationType::RelaxedSignal || op.type == OperationType::RelaxedWait;
        for (const plan::Slot slot : op.channels) {
            const auto id = names_.channel(type, slot);
            if (!id || op.type == OperationType::Flush) continue;
            const GpuWires::Channel& wire = names_.wires().channels[static_cast<std::size_t>(type)][*id];
            const bool raises = !waits(op.type);
            result_.uses.push_back({raises ? wire.outbound : wire.inbound, raises, relaxed});
        }
    }

    void add_semaphore_uses(const Operation& op) {
        for (const plan::SemaphoreId id : op.semaphores) {
            if (id.index() >= names_.wires().semaphores.size()) {
                names_.complain("semaphore", fmt::format("the gpu has no semaphore {}", id));
                continue;
            }
            result_.uses.push_back(
                {names_.wires().semaphores[id.index()], op.type == OperationType::SemRelease, false});
        }
    }

    /// Joins the k-th use of a barrier by each of its thread blocks.
    void form_meetings() {
        for (const auto& [key, steps] : barriers_) {
            std::map<std::uint32_t, std::vector<std::uint32_t>> by_block;
            for (const std::uint32_t step : steps) by_block[result_.steps[step].block].push_back(step);
            const std::size_t times = by_block.begin()->second.size();
            const auto wanted = static_cast<std::size_t>(result_.steps[steps[0]].op->barrier_blocks);
            const auto odd = std::ranges::find_if(steps, [&](std::uint32_t step) {
                return static_cast<std::size_t>(result_.steps[step].op->barrier_blocks) != by_block.size();
            });
            const auto uneven = std::ranges::find_if(
                by_block, [&](const auto& entry) { return entry.second.size() != times; });
            if (odd != steps.end() || uneven != by_block.end()) {
                const std::uint32_t at = odd != steps.end() ? *odd : uneven->second.front();
                step_ = result_.steps[at];
                names_.at(step_);
                names_.complain(
                    "barrier",
                    odd != steps.end()
                        ? fmt::format("barrier {} of gpu {} is for {} thread blocks, but {} come to it",
                                      key.second, key.first, step_.op->barrier_blocks, by_block.size())
                        : fmt::format("barrier {} of gpu {} for {} thread blocks: this one comes {} times, "
                                      "another one {} times",
                                      key.second, key.first, wanted, uneven->second.size(), times));
                continue;
            }
            const std::size_t first = result_.meetings.size();
            result_.meetings.resize(first + times);
            for (const auto& [block, own] : by_block) {
                for (std::size_t k = 0; k < times; ++k) {
                    result_.meetings[first + k].push_back(own[k]);
                    result_.steps[own[k]].barrier = static_cast<std::uint32_t>(first + k);
                }
            }
        }
    }

    const plan::ExecutionPlan& plan_;
    ExecutionLayout layout_;
    Findings& violations_;
    Findings& later_;
    ExecutionWiring wiring_;
    ExecutionNames names_;
    ExecutionMoves* moves_ = nullptr;
    ExecutionSteps result_;
    std::map<std::pair<Rank, plan::BarrierId>, std::vector<std::uint32_t>> barriers_;
    ExecutionStep step_;  ///< at hand
};

}  // namespace

std::optional<ExecutionSteps> resolve(const plan::ExecutionPlan& plan, const plan::CallSizes& sizes,
                                      std::optional<Rank> root, Findings& violations, Findings& later) {
    const auto places = plan::parts_per_chunk(plan);
    if (!places) {
        violations.add("tbg", fmt::format("its thread block groups cut chunks into more than {} parts",
                                          plan::kMostPartsPerChunk));
        return std::nullopt;
    }
    return StepResolver(plan, sizes, root, *places, violations, later).run();
}

}  // namespace tutti::verify

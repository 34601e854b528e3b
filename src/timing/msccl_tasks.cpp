// Converts an MSCCL plan to tasks.
//
// Tasks are numbered by gpu, thread block, step and chunk, so that the simulator breaks ties in that order.
// A task waits for
// - the start of its predecessor in its thread block: a block continues as soon as a link takes its data, not
//   when the data has arrived;
// - if its step has a dependency and it is the first of the step: the start of the last task of the first
//   step at or after `deps` that signals (section 3 of docs/msccl-xml.md);
// - if it receives: the arrival of its message. Message k of a connection is the k-th chunk sent and
// received;
// - if it sends message k of a connection with capacity c: the removal of message k - c, which happens when
//   the receiving task is ready. A fused step is one task per chunk that receives and sends, so it takes a
//   message only when there is room to forward it, and chunk i is forwarded while chunk i + 1 is in flight.

#include "timing/msccl_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tutti::timing {
namespace {

using plan::Gpu;
using plan::MscclPlan;
using plan::Step;
using plan::StepType;
using plan::ThreadBlock;

std::uint64_t tasks_of(const Step& step) {
    const bool talks = plan::sends(step.type) || plan::receives(step.type);
    return talks && step.count > 1 ? static_cast<std::uint64_t>(step.count) : 1;
}

/// A thread block, listed by gpu, then by id, whatever the order in the plan.
struct Block {
    Rank gpu{};
    const ThreadBlock* block = nullptr;
    std::size_t first_step = 0;  ///< in tables over all steps
};

std::vector<Block> blocks_in_order(const MscclPlan& plan) {
    std::vector<Block> blocks;
    for (const Gpu& gpu : plan.gpus) {
        for (const ThreadBlock& block : gpu.blocks) blocks.push_back({gpu.id, &block});
    }
    std::ranges::stable_sort(blocks, {}, [](const Block& b) { return std::pair(b.gpu, b.block->id); });
    std::size_t steps = 0;
    for (Block& block : blocks) {
        block.first_step = steps;
        steps += block.block->steps.size();
    }
    return blocks;
}

/// One end of a connection.
struct End {
    OptionalId<Rank> from{}, to{};
    OptionalId<plan::ChannelId> channel{};
    std::size_t block = 0;
    [[nodiscard]] auto key() const { return std::tuple(from, to, channel); }
};

/// The chunks that a thread block sends (or receives), in order, as task numbers.
class Messages {
  public:
    Messages(const ThreadBlock& block, const TaskId* first_tasks, bool (*counts)(StepType))
        : steps_(block.steps), first_(first_tasks), counts_(counts) {
        skip();
    }
    [[nodiscard]] bool at_end() const { return step_ == steps_.size(); }
    TaskId next() {
        const TaskId task = first_[step_] + chunk_;
        if (++chunk_ == tasks_of(steps_[step_])) {
            chunk_ = 0;
            ++step_;
            skip();
        }
        return task;
    }

  private:
    void skip() {
        while (step_ < steps_.size() && !counts_(steps_[step_].type)) ++step_;
    }
    std::span<const Step> steps_;
    const TaskId* first_;
    bool (*counts_)(StepType);
    std::size_t step_ = 0;
    std::uint32_t chunk_ = 0;
};

class MscclWriter {
  public:
    MscclWriter(TimedProgram& program, Placement& placement, const MscclPlan& plan, std::int64_t capacity)
        : program_(program),
          placement_(placement),
          plan_(plan),
          capacity_(capacity),
          blocks_(blocks_in_order(plan)) {}

    void write() {
        check_gpus();
        find_connections();
        write_tasks();
        for (std::size_t i = 0; i < senders_.size(); ++i) join(senders_[i], receivers_[i]);
        write_dependencies();
    }

  private:
    void check_gpus() const {
        std::vector<bool> seen(static_cast<std::size_t>(std::max(plan_.ranks, 0)), false);
        for (const Gpu& gpu : plan_.gpus) {
            if (gpu.id.index() >= seen.size() || seen[gpu.id.index()])
                throw InputError(fmt::format("gpu {} is twice in the plan or not one of its {} ranks", gpu.id,
                                             plan_.ranks));
            seen[gpu.id.index()] = true;
        }
        std::uint64_t tasks = 0;
        for (const Block& block : blocks_) {
            for (const Step& step : block.block->steps) tasks += tasks_of(step);
        }
        program_.expect_room_for(tasks);
    }

    void find_connections() {
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            const auto& [gpu, block, first] = blocks_[i];
            const auto any = [&](bool (*does)(StepType)) {
                return std::ranges::any_of(block->steps, [&](const Step& step) { return does(step.type); });
            };
            if (any(plan::sends)) senders_.push_back({gpu, block->send_peer, block->channel, i});
            if (any(plan::receives)) receivers_.push_back({block->recv_peer, gpu, block->channel, i});
        }
        for (auto* ends : {&senders_, &receivers_}) {
            std::ranges::sort(*ends, {}, &End::key);
            const auto twice = std::ranges::adjacent_find(*ends, {}, &End::key);
            if (twice != ends->end()) throw InputError(name_of(*twice) + " is used by two thread blocks");
        }
        const auto [lone, other] = std::ranges::mismatch(senders_, receivers_, {}, &End::key, &End::key);
        if (lone != senders_.end() || other != receivers_.end()) {
            const bool sends =
                lone != senders_.end() && (other == receivers_.end() || lone->key() < other->key());
            throw InputError(sends ? name_of(*lone) + " is sent on, but nobody receives on it"
                                   : name_of(*other) + " is received on, but nobody sends on it");
        }
        for (const End& end : senders_) {
            const bool named = end.to && (*end.to).index() < static_cast<std::size_t>(plan_.ranks);
            if (!named || end.to == end.from)
                throw InputError(name_of(end) + " does not join two ranks of the plan");
        }
    }

    void write_tasks() {
        std::vector<RouteId> route(blocks_.size(), kNoRoute);
        std::uint32_t turn = 0;
        for (std::size_t i = 0; i < senders_.size(); ++i) {
            const End& end = senders_[i];
            const bool same_pair = i > 0 && senders_[i - 1].from == end.from && senders_[i - 1].to == end.to;
            turn = same_pair ? turn + 1 : 0;
            route[end.block] = placement_.connect(*end.from, *end.to, end.channel, turn);
        }
        for (std::size_t i = 0; i < blocks_.size(); ++i) {
            placement_.begin_block(blocks_[i].gpu, blocks_[i].block->id);
            bool first_of_block = true;
            for (const Step& step : blocks_[i].block->steps) {
                first_task_.push_back(static_cast<TaskId>(program_.tasks.size()));
                const RouteId way = plan::sends(step.type) ? route[i] : kNoRoute;
                for (std::uint64_t c = 0; c < tasks_of(step); ++c) {
                    TimedTask task =
                        way == kNoRoute ? TimedTask{} : TimedTask::transfer(way, placement_.chunk_size());
                    task.follows = !first_of_block;
                    first_of_block = false;
                    program_.add_task(task);
                }
            }
        }
        first_task_.push_back(static_cast<TaskId>(program_.tasks.size()));
    }

    [[nodiscard]] Messages messages(const End& end, bool (*counts)(StepType)) const {
        const Block& block = blocks_[end.block];
        return {*block.block, first_task_.data() + block.first_step, counts};
    }

    /// Messages arrive in order, and a send waits until the message `capacity` before it has been removed.
    void join(const End& sender, const End& receiver) {
        Messages sent = messages(sender, plan::sends);
        Messages received = messages(receiver, plan::receives);
        Messages blocked = messages(sender, plan::sends);
        for (std::int64_t i = 0; i < capacity_ && !blocked.at_end(); ++i) blocked.next();
        while (!sent.at_end() && !received.at_end()) {
            const TaskId to = received.next();
            program_.edges.push_back({sent.next(), to, Moment::Arrive});
            if (!blocked.at_end()) program_.edges.push_back({to, blocked.next(), Moment::Ready});
        }
        if (!sent.at_end() || !received.at_end())
            throw InputError(name_of(sender) + " does not receive as many chunks as it sends");
    }

    void write_dependencies() {
        for (const Block& block : blocks_) {
            const auto& steps = block.block->steps;
            for (std::size_t s = 0; s < steps.size(); ++s) {
                if (!steps[s].dep_block) continue;
                // Earlier steps of the same thread block are complete, signalled or not.
                const bool own = steps[s].dep_block == block.block->id;
                const std::size_t named = steps[s].dep_step ? (*steps[s].dep_step).index() : 0;
                if (own && named < s) continue;
                const std::size_t served = serving_step(block, steps[s]);
                if (served == kNoStep) {
                    throw InputError(fmt::format("gpu {}, tb {}, step {} waits for a signal that never comes",
                                                 block.gpu, block.block->id, s));
                }
                const std::size_t waits = block.first_step + s;
                program_.edges.push_back({first_task_[served + 1] - 1, first_task_[waits], Moment::Start});
            }
        }
    }

    /// The step, by number over all steps, whose signal this one waits for.
    [[nodiscard]] std::size_t serving_step(const Block& block, const Step& step) {
        if (next_signal_.empty()) find_signals();
        const auto target =
            std::ranges::lower_bound(blocks_, std::pair(block.gpu, *step.dep_block), {},
                                     [](const Block& b) { return std::pair(b.gpu, b.block->id); });
        if (target == blocks_.end() || target->gpu != block.gpu || target->block->id != step.dep_block)
            return kNoStep;
        if (!step.dep_step || (*step.dep_step).index() >= target->block->steps.size()) return kNoStep;
        return next_signal_[target->first_step + (*step.dep_step).index()];
    }

    void find_signals() {
        next_signal_.assign(first_task_.size(), kNoStep);
        for (const Block& block : blocks_) {
            std::size_t next = kNoStep;
            for (std::size_t s = block.block->steps.size(); s-- > 0;) {
                const Step& step = block.block->steps[s];
                if (step.signals && step.type != StepType::Nop) next = block.first_step + s;
                next_signal_[block.first_step + s] = next;
            }
        }
    }

    [[nodiscard]] static std::string name_of(const End& end) {
        return fmt::format("the connection from rank {} to rank {} on channel {}",
                           plan::file_number(end.from), plan::file_number(end.to),
                           plan::file_number(end.channel));
    }

    static constexpr std::size_t kNoStep = static_cast<std::size_t>(-1);
    TimedProgram& program_;
    Placement& placement_;
    const MscclPlan& plan_;
    std::int64_t capacity_;
    std::vector<Block> blocks_;
    std::vector<End> senders_, receivers_;  ///< in the same order
    std::vector<TaskId> first_task_;        ///< per step, and one more at the end
    std::vector<std::size_t> next_signal_;  ///< per step: the first at or after it that signals
};

}  // namespace

void append_tasks(TimedProgram& program, Placement& placement, const plan::MscclPlan& plan,
                  std::int64_t capacity) {
    MscclWriter(program, placement, plan, capacity).write();
}

}  // namespace tutti::timing

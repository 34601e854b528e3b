// Converts an MSCCL++ execution plan to tasks.
//
// A thread block executes its operations in sequence. Data that an operation moves between ranks is divided
// into parts of a chunk (all thread block groups move whole parts); each part is a transfer. Per operation
// and pair of operands the parts are sequential; different pairs are concurrent. Local memory takes no time.
//
// - A put by threads lasts until a link has taken the last part. A put on a port channel is handed to the
//   proxy, which serves each channel in order; the block continues at once.
// - An operation that reads from other ranks fetches part by part and lasts until the last one has arrived.
//   If it also sends (rres), a part is sent as soon as it has arrived from all ranks.
// - Packets are read part by part too: a part waits for the first operation that writes it.
// - A switch channel is timed as one transfer from or to each rank of the group.
//
// A signal takes the latencies of its route. It takes effect only after all earlier puts of the block have
// arrived, on every channel, and all puts that other blocks of the GPU issued before a common barrier. So
// data that the plan's order makes visible has arrived when it is used; the lower bound relies on this.
// The same holds for puts of a block that hands over by a semaphore: where one block releases it and one
// acquires it, the acquiring block's signals wait for the releasing block's puts. Other semaphores are
// released only when the block's puts have arrived (later than necessary, but any block may acquire them and
// signal). Relaxed signals wait for nothing.
//
// `puts` holds the puts that nothing has waited for yet: tasks, and one task that stands for all before them.

#include "timing/execution_tasks.hpp"

#include "plan/slices.hpp"
#include "timing/execution_handovers.hpp"
#include "timing/execution_work.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::timing {
namespace {

using plan::ChannelType;
using plan::ExecutionPlan;
using plan::Operation;
using plan::OperationType;

class ExecutionWriter {
  public:
    ExecutionWriter(TimedProgram& program, Placement& placement, const ExecutionPlan& plan,
                    std::int64_t parts)
        : work_(program, placement, plan, parts) {}

    void write() {
        for (work_.gpu = 0; work_.gpu < work_.plan.gpus.size(); ++work_.gpu) {
            const auto& blocks = work_.plan.gpus[work_.gpu].blocks;
            const Handovers handovers(work_.plan.gpus[work_.gpu]);
            handovers_ = &handovers;
            handed_.clear();
            for (work_.block = 0; work_.block < blocks.size(); ++work_.block) {
                work_.placement.begin_block(work_.rank(), plan::BlockId(work_.block));
                work_.at = work_.program.add_task({});
                work_.puts.clear();
                barriers_.clear();
                semaphore_uses_.clear();
                for (const Operation& op : blocks[work_.block].ops) write(op);
            }
        }
        check_barriers();
        join_packets();
    }

  private:
    void write(const Operation& op) {
        using enum OperationType;
        switch (op.type) {
            case Nop:
                break;
            case Pipeline:
                for (const Operation& inner : op.body) write(inner);
                break;
            case Barrier:
                barrier(op);
                break;
            case Flush:
                flush(op);
                break;
            case SemRelease:
                release(op);
                break;
            case SemAcquire:
                acquire(op);
                break;
            case Wait:
            case RelaxedWait:
                wait(op);
                break;
            case Signal:
            case RelaxedSignal:
                signal(op);
                break;
            default:
                write_moves(work_, op);
                if (plan::signals(op.type)) signal(op);
                if (op.type == PutSignalFlush) flush(op);
        }
    }

    void signal(const Operation& op) {
        const ChannelType type = op.channel_type.value_or(ChannelType::Memory);
        const bool is_relaxed = op.type == OperationType::RelaxedSignal;
        for (const plan::Slot id : op.channels) {
            const auto& channel = work_.wires.channel(work_.gpu, work_.block, type, id);
            if (!channel.outbound) continue;
            const RouteId route = work_.route(work_.rank(), channel.peer);
            const TaskId sent = work_.task_after(work_.at, TimedTask::signal(route));
            if (type == ChannelType::Port) work_.enqueue_on_proxy(channel, sent);
            const TaskId raise = work_.program.add_task(TimedTask::raise(*channel.outbound));
            work_.edge(sent, raise, Moment::Arrive);
            if (const auto before = is_relaxed ? std::nullopt : work_.all_arrived())
                work_.edge(*before, raise, Moment::Arrive);
        }
    }

    void wait(const Operation& op) {
        const ChannelType type = op.channel_type.value_or(ChannelType::Memory);
        std::vector<CounterId> counters;
        for (const plan::Slot id : op.channels)
            counters.push_back(work_.wires.channel(work_.gpu, work_.block, type, id).inbound);
        take(counters);
    }

    void acquire(const Operation& op) {
        std::vector<CounterId> counters;
        for (const plan::SemaphoreId id : op.semaphores)
            counters.push_back(work_.wires.semaphore(work_.gpu, id));
        take(counters);
        for (const plan::SemaphoreId id : op.semaphores) {
            if (handovers_->contains(id)) work_.puts.push_back(handed_over(id));
        }
    }

    /// Done when the puts before the release that the block is at, or before the one that it acquires, have
    /// arrived.
    TaskId handed_over(plan::SemaphoreId id) {
        const auto [entry, is_new] = handed_.try_emplace({id, semaphore_uses_[id]++});
        if (is_new) entry->second = work_.program.add_task({});
        return entry->second;
    }

    void take(const std::vector<CounterId>& counters) {
        if (counters.empty()) return;
        std::vector<TaskId> taken;
        for (const CounterId counter : counters)
            taken.push_back(work_.task_after(work_.at, TimedTask::take(counter)));
        const TaskId next = work_.task_after(work_.at, {});
        for (const TaskId task : taken) work_.edge(task, next);
        work_.at = next;
    }

    void release(const Operation& op) {
        for (const plan::SemaphoreId id : op.semaphores) {
            const TaskId raise =
                work_.task_after(work_.at, TimedTask::raise(work_.wires.semaphore(work_.gpu, id)));
            if (handovers_->contains(id)) {
                const TaskId arrived = handed_over(id);
                for (const TaskId put : work_.puts) work_.edge(put, arrived, Moment::Arrive);
                continue;
            }
            if (const auto before = work_.all_arrived()) work_.edge(*before, raise, Moment::Arrive);
        }
    }

    /// Waits until the links have taken the data handed to the proxies.
    void flush(const Operation& op) {
        if (op.channel_type.value_or(ChannelType::Port) != ChannelType::Port) return;
        const TaskId next = work_.task_after(work_.at, {});
        for (const plan::Slot id : op.channels) {
            const auto& channel = work_.wires.channel(work_.gpu, work_.block, ChannelType::Port, id);
            if (const auto& last = work_.proxies[channel.number]) work_.edge(*last, next);
        }
        work_.at = next;
    }

    /// The n-th use of a barrier by each block of the GPU.
    struct BarrierRound {
        TaskId all = 0, puts_arrived = 0;
        std::int32_t arrived = 0, expected = 0;
    };
    void barrier(const Operation& op) {
        const std::int32_t turn = barriers_[op.barrier]++;
        const auto [entry, is_new] = barrier_rounds_.try_emplace({work_.gpu, op.barrier, turn});
        BarrierRound& round = entry->second;
        if (is_new) round = {work_.program.add_task({}), work_.program.add_task({}), 0, op.barrier_blocks};
        ++round.arrived;
        work_.edge(work_.at, round.all);
        for (const TaskId put : work_.puts) work_.edge(put, round.puts_arrived, Moment::Arrive);
        work_.at = round.all;
        work_.puts = {round.puts_arrived};
    }

    void check_barriers() const {
        for (const auto& [key, round] : barrier_rounds_) {
            if (round.arrived == round.expected) continue;
            throw InputError(fmt::format("barrier {} of gpu {} waits for {} thread blocks, but {} come to it",
                                         std::get<1>(key), std::get<0>(key), round.expected, round.arrived));
        }
    }

    void join_packets() {
        using Use = ExecutionWork::PacketUse;
        std::vector<Use>& written = work_.packets_written;
        std::ranges::stable_sort(written, {}, &Use::key);
        for (std::size_t i = 0; i < written.size();) {
            std::size_t end = i + 1;
            while (end < written.size() && written[end].key() == written[i].key()) ++end;
            if (end - i > 1) {
                const TaskId first = work_.program.add_task({TaskKind::First});
                for (std::size_t k = i; k < end; ++k) work_.edge(written[k].task, first, Moment::Arrive);
                written[i].task = first;
            }
            i = end;
        }
        for (const Use& read : work_.packets_read) {
            const auto found = std::ranges::lower_bound(written, read.key(), {}, &Use::key);
            if (found == written.end() || found->key() != read.key()) {
                throw InputError(fmt::format("gpu {} reads packets at s[{}] that nobody writes", read.gpu,
                                             read.part / work_.parts));
            }
            work_.edge(found->task, read.task, Moment::Arrive);
        }
    }

    ExecutionWork work_;
    std::map<std::tuple<std::size_t, plan::BarrierId, std::int32_t>, BarrierRound> barrier_rounds_;
    std::map<plan::BarrierId, std::int32_t> barriers_;  ///< how often the block came to each
    const Handovers* handovers_ = nullptr;              ///< of the GPU
    std::map<std::pair<plan::SemaphoreId, std::int32_t>, TaskId> handed_;  ///< of the GPU, by turn
    std::map<plan::SemaphoreId, std::int32_t> semaphore_uses_;             ///< by the block
};

}  // namespace

std::int64_t checked_parts_per_chunk(const ExecutionPlan& plan) {
    plan::for_each_operation(plan, [](const Operation& op) {
        if (op.slice && (op.slice->parts < 1 || op.slice->part < 0 || op.slice->part >= op.slice->parts))
            throw InputError("a thread block group has no such part");
    });
    if (const auto parts = plan::parts_per_chunk(plan)) return *parts;
    throw InputError(
        fmt::format("thread block groups cut chunks into more than {} parts", plan::kMostPartsPerChunk));
}

void append_tasks(TimedProgram& program, Placement& placement, const ExecutionPlan& plan,
                  std::int64_t parts) {
    ExecutionWriter(program, placement, plan, parts).write();
}

}  // namespace tutti::timing

// From an MSCCL++ execution plan to tasks.
//
// A thread block does one operation after the other. What an operation moves between ranks is cut into parts
// of a chunk (all thread block groups move whole parts); each part is a transfer. Per operation and pair of
// operands the parts go one after the other, the pairs side by side. Local memory takes no time.
//
// - A put by threads lasts until the last part was taken by its link. One on a port channel is handed to the
//   proxy, which works through what it gets channel by channel; the block goes on at once.
// - What reads from other ranks fetches part by part and lasts until the last one has arrived. If it also
// sends
//   (rres), a part goes on as soon as it has come from all.
// - Packets are read part by part too: a part waits until it has been written, by whoever writes it first.
// - A switch channel is timed as one transfer from or to each rank of the group.
//
// Signals take the latencies of their way. They come after the data: a signal counts only once all that the
// block had put before has arrived, wherever it went; and all that other blocks of the GPU had put before
// they met this one at a barrier. So what the plan's own order makes visible has arrived when it is used,
// which the lower bound relies on. Semaphores are given free only when the block's puts have arrived (later
// than need be, but who takes the semaphore may signal). Relaxed signals wait for nothing.
//
// `Puts` keeps what has been put and not been waited for: tasks, and one task that stands for all before
// them.

#include "timing/execution_tasks.hpp"

#include "timing/execution_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
            for (work_.block = 0; work_.block < blocks.size(); ++work_.block) {
                work_.placement.begin_block(work_.rank(), plan::BlockId(work_.block));
                work_.at = work_.program.add_task({});
                work_.puts.clear();
                barriers_.clear();
                for (const Operation& op : blocks[work_.block].ops) write(op);
            }
        }
        check_meetings();
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
                meet(op);
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
            const RouteId way = work_.route(work_.rank(), channel.peer);
            const TaskId sent = work_.task_after(work_.at, TimedTask::signal(way));
            if (type == ChannelType::Port) work_.queue_up(channel, sent);
            const TaskId raise = work_.program.add_task(TimedTask::raise(*channel.outbound));
            work_.edge(sent, raise, Moment::Arrive);
            if (const auto before = is_relaxed ? std::nullopt : work_.landed())
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
        for (const std::int32_t id : op.semaphores) counters.push_back(work_.wires.semaphore(work_.gpu, id));
        take(counters);
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
        for (const std::int32_t id : op.semaphores) {
            const TaskId raise =
                work_.task_after(work_.at, TimedTask::raise(work_.wires.semaphore(work_.gpu, id)));
            if (const auto before = work_.landed()) work_.edge(*before, raise, Moment::Arrive);
        }
    }

    /// Waits until the links have taken what the proxies were given.
    void flush(const Operation& op) {
        if (op.channel_type.value_or(ChannelType::Port) != ChannelType::Port) return;
        const TaskId next = work_.task_after(work_.at, {});
        for (const plan::Slot id : op.channels) {
            const auto& channel = work_.wires.channel(work_.gpu, work_.block, ChannelType::Port, id);
            if (const auto& last = work_.proxies[channel.number]) work_.edge(*last, next);
        }
        work_.at = next;
    }

    /// The n-th barrier of that number of each block of the GPU.
    struct Meeting {
        TaskId all = 0, landed = 0;
        std::int32_t came = 0, wanted = 0;
    };
    void meet(const Operation& op) {
        const std::int32_t turn = barriers_[op.barrier]++;
        const auto [entry, is_new] = meetings_.try_emplace({work_.gpu, op.barrier, turn});
        Meeting& meeting = entry->second;
        if (is_new) meeting = {work_.program.add_task({}), work_.program.add_task({}), 0, op.barrier_blocks};
        ++meeting.came;
        work_.edge(work_.at, meeting.all);
        for (const TaskId put : work_.puts) work_.edge(put, meeting.landed, Moment::Arrive);
        work_.at = meeting.all;
        work_.puts = {meeting.landed};
    }

    void check_meetings() const {
        for (const auto& [key, meeting] : meetings_) {
            if (meeting.came == meeting.wanted) continue;
            throw InputError(fmt::format("barrier {} of gpu {} waits for {} thread blocks, but {} come to it",
                                         std::get<1>(key), std::get<0>(key), meeting.wanted, meeting.came));
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
    std::map<std::tuple<std::size_t, std::int32_t, std::int32_t>, Meeting> meetings_;
    std::map<std::int32_t, std::int32_t> barriers_;  ///< how often the block came to each
};

}  // namespace

std::int64_t parts_per_chunk(const ExecutionPlan& plan) {
    std::int64_t parts = 1;
    const auto heed = [&](const Operation& op) {
        if (!op.slice) return;
        if (op.slice->parts < 1 || op.slice->part < 0 || op.slice->part >= op.slice->parts)
            throw InputError("a thread block group has no such part");
        parts = std::lcm(parts, static_cast<std::int64_t>(op.slice->parts));
        if (parts > kMaxParts)
            throw InputError(
                fmt::format("thread block groups cut chunks into more than {} parts", kMaxParts));
    };
    plan::for_each_operation(plan, heed);
    return parts;
}

void append_tasks(TimedProgram& program, Placement& placement, const ExecutionPlan& plan,
                  std::int64_t parts) {
    ExecutionWriter(program, placement, plan, parts).write();
}

}  // namespace tutti::timing

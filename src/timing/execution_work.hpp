#pragma once

#include "plan/execution_plan.hpp"
#include "timing/execution_wires.hpp"
#include "timing/placement.hpp"

#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tutti::timing {

/// The state of converting an execution plan to tasks, shared by the parts of the front end
/// (execution_tasks.cpp has the overview). One thread block is converted at a time.
struct ExecutionWork {
    ExecutionWork(TimedProgram& to, Placement& on, const plan::ExecutionPlan& of, std::int64_t parts_of_chunk)
        : program(to),
          placement(on),
          plan(of),
          parts(parts_of_chunk),
          wires(of, to),
          proxies(wires.channels()) {}

    TimedProgram& program;
    Placement& placement;
    const plan::ExecutionPlan& plan;
    std::int64_t parts;  ///< of a chunk
    ExecutionWires wires;
    std::vector<std::optional<TaskId>> proxies;  ///< per channel: the last task handed to its proxy
    std::map<std::tuple<Rank, Rank, std::size_t>, RouteId> routes{};
    std::map<std::pair<Rank, Rank>, std::uint32_t> turns{};  ///< blocks that connect them so far

    /// A part of the packets of a GPU, and the task that writes or reads it.
    struct PacketUse {
        Rank gpu{};
        std::int64_t part = 0;
        TaskId task = 0;
        [[nodiscard]] auto key() const { return std::pair(gpu, part); }
    };
    std::vector<PacketUse> packets_written{}, packets_read{};

    // The current block.
    std::size_t gpu = 0, block = 0;
    TaskId at = 0;               ///< the block continues when this is done
    std::vector<TaskId> puts{};  ///< puts that may still be in flight

    [[nodiscard]] Rank rank() const { return Rank(gpu); }
    void edge(TaskId from, TaskId to, Moment moment = Moment::Start) {
        program.edges.push_back({from, to, moment});
    }
    TaskId task_after(TaskId before, const TimedTask& task) {
        const TaskId made = program.add_task(task);
        edge(before, made);
        return made;
    }
    /// The block's route from rank to rank. Blocks that connect the same two ranks take turns, as the
    /// channels of MSCCL plans do.
    RouteId route(Rank from, Rank to) {
        const auto [entry, is_new] = routes.try_emplace({from, to, block});
        if (is_new) {
            const std::uint32_t turn = turns[{from, to}]++;
            entry->second = placement.connect(from, to, plan::ChannelId(block), turn);
        }
        return entry->second;
    }
    /// A proxy serves the tasks of a channel in order.
    void enqueue_on_proxy(const ExecutionWires::Channel& channel, TaskId task) {
        std::optional<TaskId>& last = proxies[channel.number];
        if (last) edge(*last, task);
        last = task;
    }
    /// A task that is done when everything put so far has arrived; none if there is nothing.
    std::optional<TaskId> all_arrived() {
        if (puts.size() > 1) {
            const TaskId all = program.add_task({});
            for (const TaskId put : puts) edge(put, all, Moment::Arrive);
            puts = {all};
        }
        return puts.empty() ? std::nullopt : std::optional(puts.front());
    }
};

/// Writes the tasks of an operation that moves data.
void write_moves(ExecutionWork& work, const plan::Operation& op);

}  // namespace tutti::timing

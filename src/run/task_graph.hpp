#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tutti::run {

/// What workers do in a call, and what waits for what. Built once; it is not changed by running.
///
/// A worker does its tasks block after block. Within a block it always takes the first one in its list that
/// may run, so that pieces overtake each other where one has to wait.
class TaskGraph {
  public:
    using TaskId = std::uint32_t;
    using Edge = std::pair<TaskId, TaskId>;  ///< a task, and one that waits for it
    static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

    explicit TaskGraph(std::size_t workers) : own_(workers), block_ends_(workers) {}

    /// A task in the worker's open block.
    TaskId add(std::uint32_t worker, std::function<void()> work);
    /// No worker's: it is done by whoever does the last of what it waits for. `work` may be empty.
    TaskId join(std::function<void()> work = {});
    void before(TaskId first, TaskId then) { edges_.emplace_back(first, then); }
    /// It also waits for one signal from outside.
    void expect_signal(TaskId task) { ++signals_[task]; }
    /// From here on the worker's tasks belong to another block.
    void end_block(std::uint32_t worker);

    /// Nothing is added from now on. `change`: what tests do to the edges, in order. Throws InternalError
    /// where tasks wait for each other in a circle, so that no call can stand still.
    using Change = std::function<void(const TaskGraph& graph, std::vector<Edge>& edges)>;
    void finish(const Change& change = {});

    [[nodiscard]] std::size_t workers() const { return own_.size(); }
    [[nodiscard]] std::size_t tasks() const { return work_.size(); }
    [[nodiscard]] std::span<const TaskId> own(std::size_t worker) const { return own_[worker]; }
    /// Where each of its blocks ends in own(worker), in order.
    [[nodiscard]] std::span<const std::size_t> block_ends(std::size_t worker) const {
        return block_ends_[worker];
    }
    [[nodiscard]] std::uint32_t worker_of(TaskId task) const { return worker_[task]; }
    [[nodiscard]] std::span<const TaskId> behind(TaskId task) const {
        return std::span(behind_).subspan(first_behind_[task], first_behind_[task + 1] - first_behind_[task]);
    }
    /// How many tasks and signals it waits for.
    [[nodiscard]] std::uint32_t waits(TaskId task) const { return waits_[task]; }
    void work(TaskId task) const {
        if (work_[task]) work_[task]();
    }

  private:
    void check_order() const;

    std::vector<std::function<void()>> work_;
    std::vector<std::uint32_t> worker_, signals_, waits_;  ///< by task
    std::vector<std::vector<TaskId>> own_;                 ///< by worker
    std::vector<std::vector<std::size_t>> block_ends_;
    std::vector<Edge> edges_;
    std::vector<std::size_t> first_behind_;
    std::vector<TaskId> behind_;
};

}  // namespace tutti::run

#pragma once

#include "core/stop.hpp"
#include "run/meeting.hpp"
#include "run/task_graph.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

namespace tutti::run {

/// Something outside that signals tasks when their time has come.
class TaskClock {
  public:
    using Time = std::chrono::steady_clock::time_point;
    TaskClock() = default;
    TaskClock(const TaskClock&) = delete;
    TaskClock& operator=(const TaskClock&) = delete;
    virtual ~TaskClock() = default;
    /// Before every call, and before any task runs.
    virtual void reset() = 0;
    /// Does what is due; returns when there is more to do. Any worker calls it, several at a time.
    virtual std::optional<Time> poll() = 0;
};

/// Calls of a task graph by its workers, again and again. What they share are counters only: it may lie in
/// memory that processes share.
class TaskRun {
  public:
    /// Thrown by workers whose call was ended by another.
    struct Ended {};

    [[nodiscard]] static std::size_t shared_bytes(const TaskGraph& graph);

    /// `shared`: zeros, of shared_bytes(graph), aligned to 64 bytes. All must outlive this.
    TaskRun(const TaskGraph& graph, std::byte* shared, Stop stop);

    void set_clock(TaskClock* clock) { clock_ = clock; }

    /// One call, by this worker; returns when all workers are done. `before`: by the last worker to come,
    /// before any task. Throws Ended, LimitError when stopped, and what a task throws: then the calls of all
    /// have ended.
    void call(std::uint32_t worker, const std::function<void()>& before);
    /// Ends the calls of all.
    void end();
    /// Waits for all workers.
    void meet();

    /// One of the signals that the task expects.
    void signal(TaskGraph::TaskId task) { arrive(task, TaskGraph::kNobody); }
    /// There is something for sleeping workers to look at.
    void wake_all();

  private:
    struct Head {
        MeetingPoint meeting;
        alignas(64) std::atomic<std::uint32_t> ended{0};
    };

    [[nodiscard]] Patience patience() const;
    void reset();
    void work(std::uint32_t worker);
    void run_block(std::uint32_t worker, std::size_t begin, std::size_t end);
    void complete(TaskGraph::TaskId task, std::uint32_t worker);
    void arrive(TaskGraph::TaskId task, std::uint32_t worker);
    void wait(std::uint32_t worker, std::uint32_t heard, std::uint32_t turns);
    void check() const;

    const TaskGraph& graph_;
    Stop stop_;
    Head* head_;
    Bell* bells_;                        ///< by worker
    std::atomic<std::uint32_t>* waits_;  ///< by task
    TaskClock* clock_ = nullptr;
    std::function<void()> check_;
    bool spare_cores_;
};

}  // namespace tutti::run

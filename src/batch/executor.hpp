#pragma once

#include "batch/child.hpp"
#include "batch/message.hpp"
#include "batch/task_listener.hpp"

#include <chrono>
#include <list>

namespace tutti::batch {

/// Runs each task in a child process of this one, and ends those that take more than they may. The process
/// must have one thread only. A task is one event Ended, and any number of Found before.
class Executor {
  public:
    using Clock = std::chrono::steady_clock;

    struct Settings {
        std::string results{};  ///< the folder
        Limits limits{};
        unsigned cores = 1;  ///< threads at a time; a task of more runs alone
        Work work{};         ///< what a child does: app::solve, but for tests
    };

    explicit Executor(Settings settings);
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;
    ~Executor() { stop(); }

    /// Whether a task of so many threads can begin now. An executor without work takes any task.
    [[nodiscard]] bool has_room(unsigned threads) const;
    /// Precondition: has_room(task.variant.threads).
    void begin(std::size_t number, const Task& task);
    /// What has happened; empty after `time` without an event.
    [[nodiscard]] std::vector<TaskEvent> wait(std::chrono::milliseconds time);
    /// Ends everything at once; no event tells of it.
    void stop();

  private:
    struct Running {
        std::size_t number;
        Task task;
        Child child;
        Clock::time_point begin;
        Frames frames{};
        std::string words{};   ///< the end of what it wrote to standard error
        std::string digest{};  ///< of its instance's file
        std::optional<Ticks> makespan{}, lower_bound{};
        std::optional<io::ResultLine> line{};
        std::optional<Clock::time_point> too_large_since{};
        io::Failure killed_for = io::Failure::None;
        bool ended = false;
    };

    /// A task for which the system had no process, pipe or memory left.
    struct Postponed {
        std::size_t number;
        Task task;
        Clock::time_point since;
    };

    [[nodiscard]] bool start(std::size_t number, const Task& task);
    void start_postponed();
    void listen(std::chrono::milliseconds time);
    void hear(Running& running);
    void watch_limits();
    [[nodiscard]] bool is_too_large(Running& running, Clock::time_point now) const;
    void kill(Running& running, io::Failure why);
    [[nodiscard]] io::ResultLine line_of_end(Running& running, const Ending& ending) const;
    [[nodiscard]] std::string best_so_far(const Running& running) const;

    const Settings settings_;
    std::list<Running> running_;
    std::list<Postponed> postponed_;
    std::string why_postponed_;
    Clock::time_point tried_{};
    unsigned busy_ = 0;  ///< threads
    std::vector<TaskEvent> events_;
    Clock::time_point watched_{};
};

/// How long a task may go on after its time limit until it is killed; time in which it was ready to run and
/// had no core is not counted.
[[nodiscard]] std::chrono::duration<double> grace_after(double time_limit);

}  // namespace tutti::batch

#pragma once

#include "batch/task.hpp"
#include "io/result_jsonl.hpp"

#include <chrono>
#include <functional>
#include <vector>

namespace tutti::batch {

/// What happened to a task.
struct TaskEvent {
    enum class Kind {
        Found,  ///< a better schedule or bound
        Ended,  ///< with a line, of a failure too
        Lost,   ///< whoever was at it is gone, and nobody knows more
    };
    Kind kind = Kind::Ended;
    std::size_t task = 0;  ///< the number under which it began
    std::optional<Ticks> makespan{}, lower_bound{};
    std::optional<io::ResultLine> line{};
    std::string who{};     ///< for people: "rank 3 on node17"
    std::string digest{};  ///< of the instance's file, once that was read
};

/// Who runs tasks: children of this process (LocalExecutor), or those of other ranks (cluster/). One thread
/// uses it. A task is one event Ended or Lost, and any number of Found before.
class Executor {
  public:
    virtual ~Executor() = default;

    /// Whether a task of so many threads can begin now. An executor without work takes any task.
    [[nodiscard]] virtual bool has_room(unsigned threads) const = 0;
    /// Precondition: has_room(task.variant.threads).
    virtual void begin(std::size_t number, const Task& task) = 0;
    /// What has happened; empty after `time` without an event.
    [[nodiscard]] virtual std::vector<TaskEvent> wait(std::chrono::milliseconds time) = 0;
    /// Ends everything at once; no event tells of it.
    virtual void stop() = 0;
    /// Who is to be told what people should know from now on: who is lost, who never came.
    virtual void on_remark(std::function<void(const std::string&)>) {}
    /// False when nobody is left to do anything.
    [[nodiscard]] virtual bool alive() const { return true; }
};

}  // namespace tutti::batch

#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "run/task_run.hpp"
#include "tensor/mesh.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <vector>

namespace tutti::run {

/// A schedule of collectives on a network: all groups of their axes at once.
struct NetworkCall {
    std::shared_ptr<const Instance> instance{};  ///< null: nothing has to be sent
    const Schedule* schedule = nullptr;
};

/// Links that are not there: calls of collectives under their schedules, with the clock of this machine. A
/// send starts when its chunk has come to its node (the chunks of a rank when that rank is ready) and its
/// link is free, first come, first served; it takes the contract's time. Nothing is copied: when the last
/// message for a rank has arrived, a task is signalled, which reads what the others made. So results do not
/// depend on the schedule, and no processor time passes with the links.
///
/// Events have the times at which they happened, however late they are looked at: a late look delays what a
/// rank does, not what is on the links already. All calls must be of one topology.
class Wires final : public TaskClock {
  public:
    /// Both must outlive this.
    Wires(const Topology& topology, const tensor::Mesh& mesh) : topology_(topology), mesh_(mesh) {}

    using CallId = std::uint32_t;
    /// One use of a schedule in every call of the program. The schedule must outlive this.
    CallId add(const NetworkCall& call);
    /// The task to signal when all that the call brings to the rank is there, and the rank itself was ready.
    void tell(CallId call, std::int64_t rank, TaskGraph::TaskId task) {
        told_[call][static_cast<std::size_t>(rank)] = task;
    }
    void run_with(TaskRun& run) { run_ = &run; }

    /// What the rank hands to the call is there. By any thread, once in a call of the program.
    void ready(CallId call, std::int64_t rank);

    void reset() override;
    std::optional<Time> poll() override;

  private:
    struct Message {
        LinkId link{};
        Ticks alpha{}, beta{};
        std::int64_t to = -1;  ///< a rank, if the link leads to one's NPU
        CallId call = 0;
        std::uint32_t waits = 0;  ///< messages and ranks, before anything has happened
        bool passes = false;      ///< at the end of the link it goes on before all of it has come
    };
    struct Event {
        Ticks time{};
        bool arrives = false;
        std::uint32_t message = 0;
        /// The top of a queue is the largest.
        friend bool operator<(const Event& a, const Event& b) {
            if (a.time != b.time) return a.time > b.time;
            if (a.arrives != b.arrives) return b.arrives;
            return a.message > b.message;
        }
    };

    void add_messages(const NetworkCall& call, CallId id);
    [[nodiscard]] Ticks now() const;
    void advance(Ticks now);
    void arrive_at(CallId call, std::int64_t rank);

    const Topology& topology_;
    const tensor::Mesh& mesh_;
    TaskRun* run_ = nullptr;
    std::vector<Message> messages_;
    std::vector<std::vector<std::uint32_t>> behind_;  ///< by message: those that wait for it
    std::vector<std::vector<std::vector<std::uint32_t>>>
        first_;                                        ///< by call and rank: that wait for the rank
    std::vector<std::vector<std::uint32_t>> expects_;  ///< by call and rank: messages, and itself
    std::vector<std::vector<TaskGraph::TaskId>> told_;

    std::mutex mutex_;  ///< of all below
    Time start_{};
    std::priority_queue<Event> events_;
    std::vector<Ticks> free_;                          ///< by link
    std::vector<std::uint32_t> waits_;                 ///< by message
    std::vector<std::vector<std::uint32_t>> missing_;  ///< by call and rank
    std::vector<TaskGraph::TaskId> due_;
};

}  // namespace tutti::run

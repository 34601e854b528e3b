#pragma once

#include "run/executable.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tutti::run {

/// What one of several processes without common memory does of an executable.
///
/// Everything follows from the order in which the executable may be done: an element that a task reads comes
/// from its last writer in that order. If they are of different processes it is a message, sent as soon as it
/// was written and received before the task; what a task writes into another process's memory is a message,
/// too, and a task there stores it. A place is not written before those that read it, and its messages, are
/// done. How the plan ordered that (connections, signals, barriers) does not matter any more.
struct MessagePlan {
    /// A message of this process: its tag is its number among those of all.
    struct Message {
        std::uint32_t tag = 0, other = 0;  ///< the process at the other end
        std::uint32_t operand = 0;         ///< what is sent; or the temporary place where it arrives
    };
    struct Part {
        std::uint32_t first = 0, count = 0;
    };
    /// Besides what the task of the executable has.
    struct TaskMessages {
        Part receives{};     ///< in `receives`: before it runs
        Part sends{};        ///< in `sends`: after it
        Part sent_before{};  ///< in `sent`: sends of the same piece that must be over
        Part reuses{};       ///< in `reuses`: tasks that must be over with the piece two before
    };

    Executable local{};  ///< the tasks of this process only
    std::vector<TaskMessages> tasks{};
    std::vector<Message> receives{}, sends{};
    std::vector<std::uint32_t> sent{};
    std::vector<Wait> reuses{};
    std::uint32_t messages = 0;  ///< of all processes
};

/// Near-linear in the operands. `process_of`: of a rank.
[[nodiscard]] MessagePlan message_plan(const Executable& executable, std::uint32_t process,
                                       const std::function<std::uint32_t(Rank)>& process_of);

}  // namespace tutti::run

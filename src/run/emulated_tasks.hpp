#pragma once

#include "run/emulated_links.hpp"
#include "verify/plan/judged_program.hpp"

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace tutti::run {

/// What a plan does on a network: tasks that take no time, messages on routes, signals, and what each waits
/// for. It is made of the program that was judged and executed, while src/timing starts from the plan's file:
/// where the two disagree about time, one of them has read the plan wrongly.
///
/// A task is **ready** when all that it waits for has happened, **starts** when a link takes its data, and
/// has **arrived** when its last byte has. Without data the three are one.
struct EmulatedTask {
    enum class Kind : std::uint8_t { Step, Message, Signal } kind = Kind::Step;
    std::uint32_t route = 0;
    std::uint32_t waits = 0;        ///< for so many
    plan::OpId runs = plan::kNoOp;  ///< the op whose data is moved when it is ready
    plan::OpId of = plan::kNoOp;    ///< whose it is, for messages
};
struct EmulatedEdge {
    enum class Moment : std::uint8_t { Ready, Start, Arrive };
    std::uint32_t from = 0, to = 0;
    Moment moment = Moment::Start;
};
struct EmulatedTasks {
    std::vector<EmulatedTask> tasks{};
    std::vector<EmulatedEdge> edges{};
};

/// How a plan is emulated.
struct EmulatedPlace {
    std::vector<NodeId> npus{};  ///< by rank
    Bytes chunk{};               ///< a place of the program
    /// Messages that a connection holds before its sender waits.
    std::int64_t capacity = std::numeric_limits<std::int64_t>::max();
    /// The channel of a thread block's connection: those of the same two ranks take turns in this order.
    std::function<std::uint32_t(const plan::Place&)> channel = [](const plan::Place& at) {
        return at.block ? (*at.block).value() : 0;
    };
    /// Whether a proxy sends what the op puts, so that its thread block goes on at once.
    std::function<bool(const plan::Place&)> by_proxy = [](const plan::Place&) { return false; };
};

/// `order`: all ops, each after all that it waits for. Throws InputError where the topology has no path.
[[nodiscard]] EmulatedTasks emulated_tasks(const verify::JudgedProgram& judged,
                                           const std::vector<plan::OpId>& order, const EmulatedPlace& place,
                                           EmulatedLinks& links);

}  // namespace tutti::run

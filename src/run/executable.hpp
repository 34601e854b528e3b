#pragma once

#include "core/expects.hpp"
#include "plan/program.hpp"
#include "verify/plan/judged_program.hpp"
#include "verify/plan/postcondition.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::run {

/// A place of a memory, or a temporary place: then `place` is its number.
struct Operand {
    static constexpr std::uint32_t kTemporary = ~std::uint32_t{0};
    std::uint32_t memory = 0;
    std::uint32_t place = 0;
    [[nodiscard]] bool temporary() const { return memory == kTemporary; }
    friend bool operator==(const Operand&, const Operand&) = default;
};

/// One place: all targets = source 0 + source 1 + …, in this order. `operands` has the targets first.
struct Step {
    std::uint32_t first_operand = 0;
    std::uint16_t targets = 0, sources = 0;
};

/// Until the stream has done that many of its tasks.
struct Wait {
    std::uint32_t stream = 0, done = 0;
    friend bool operator==(const Wait&, const Wait&) = default;
};

/// What one op of the plan does. A task without steps only passes on what others did.
struct Task {
    std::uint32_t stream = 0;
    std::uint32_t first_step = 0, steps = 0;
    std::uint32_t first_wait = 0, waits = 0;
    plan::OpId op = plan::kNoOp;
};

/// A thread block of the plan: its tasks in its order.
struct Stream {
    Rank gpu{};
    std::vector<std::uint32_t> tasks{};
};

/// A memory of the plan, cut into the blocks that the collective has.
struct ExecutableMemory {
    Rank gpu{};
    plan::Buffer buffer = plan::Buffer::Input;
    std::int64_t places = 0;
    std::int64_t block = 0;  ///< places of a block, whose last ones may be shorter; 0: all are whole
    OptionalId<Rank> origin{};
    std::int64_t origin_shift = 0, known_first = 0, known_last = 0;  ///< as in plan::Memory
};

/// A judged program as it is executed: place by place, in one order, with what each task has to wait for
/// where the thread blocks run by themselves. It knows nothing of sizes, so it serves every call.
///
/// A message is read where its sender has it: the place that the sender stored it to or read it from, if the
/// receiver stands in the order before the next writer of that place; then the writer also waits for the
/// receiver. All other messages have a temporary place. All waits lead back in the order, so nothing hangs.
struct Executable {
    std::vector<ExecutableMemory> memories{};
    std::vector<Operand> operands{};
    std::vector<Step> steps{};
    std::vector<Task> tasks{};  ///< in an order in which they may be executed one after the other
    std::vector<Wait> waits{};
    std::vector<Stream> streams{};
    std::uint32_t temporaries = 0;
    /// The step that writes each temporary place and the last one that reads it.
    struct Lifetime {
        std::uint32_t written = 0, last_read = 0;
    };
    std::vector<Lifetime> lifetimes{};
    /// The task that reads each temporary place last.
    std::vector<std::uint32_t> last_readers{};
    std::vector<plan::Range> outputs{};         ///< by rank
    std::vector<std::int64_t> output_places{};  ///< by rank
    verify::Postcondition postcondition{};
    bool in_place = false;

    [[nodiscard]] std::int32_t ranks() const { return postcondition.ranks; }
    [[nodiscard]] std::span<const Operand> targets(const Step& step) const {
        return std::span(operands).subspan(step.first_operand, step.targets);
    }
    [[nodiscard]] std::span<const Operand> sources(const Step& step) const {
        return std::span(operands).subspan(step.first_operand + step.targets, step.sources);
    }
};

/// How an executable is made.
struct ExecutableOptions {
    /// Another order than the usual one, among all that the plan allows: to see what a race does.
    std::uint64_t shuffle = 0;  ///< 0: the usual order
    /// All messages have temporary places, so nobody waits until a message was read before overwriting where
    /// it came from. Shuffled orders have that always.
    bool messages_apart = false;
};

/// Near-linear in the places that all moves touch. Throws InputError if the tasks wait for each other in a
/// circle (its message has the circle), LimitError if there are more than 2^32 operands.
[[nodiscard]] Executable executable_of(const verify::JudgedProgram& judged,
                                       const ExecutableOptions& options = {});

}  // namespace tutti::run

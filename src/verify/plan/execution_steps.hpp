#pragma once

#include "core/collective.hpp"
#include "plan/execution_plan.hpp"
#include "plan/plan_verdict.hpp"
#include "plan/program.hpp"
#include "verify/plan/execution_layout.hpp"
#include "verify/plan/execution_wiring.hpp"
#include "verify/plan/findings.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::verify {

/// An execution plan's operations with every name resolved: the first half of its lowering
/// (execution_program.hpp). Thread blocks of all GPUs are numbered 0, 1, …; their operations, with pipelines
/// flattened, are steps.

struct CounterUse {
    std::uint32_t counter = 0;
    bool raises = false, relaxed = false;
};

struct ExecutionStep {
    plan::Place place{};
    const plan::Operation* op = nullptr;
    std::uint32_t block = 0;
    std::uint32_t first_move = 0, moves = 0;  ///< in ExecutionSteps::program
    std::uint32_t first_use = 0, uses = 0;    ///< in ExecutionSteps::uses
    std::uint32_t barrier = kNone;            ///< which meeting, in ExecutionSteps::meetings

    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// Synchronises the threads of its block. `rppkt` on a port channel does: all threads wait for the
    /// packets, then for each other, then one of them hands the put to the proxy.
    [[nodiscard]] bool fence() const {
        const bool waits_for_all = op->type == plan::OperationType::ReadPutPackets && !by_threads();
        return op->type == plan::OperationType::Nop || op->type == plan::OperationType::Barrier ||
               waits_for_all;
    }
    /// Its data is moved by the threads of the block, each doing its part.
    [[nodiscard]] bool by_threads() const {
        return shape_of(op->type).moves_data() && op->channel_type != plan::ChannelType::Port;
    }
};

struct ExecutionSteps {
    plan::Program program{};  ///< memories, ranges, moves, outputs; no ops yet
    std::vector<ExecutionStep> steps{};
    std::vector<std::uint32_t> block_begin{};  ///< steps of block b: block_begin[b] … block_begin[b + 1]
    std::vector<Counter> counters{};
    std::vector<CounterUse> uses{};
    std::vector<std::vector<std::uint32_t>> meetings{};  ///< per meeting at a barrier its steps
    [[nodiscard]] std::uint32_t blocks() const { return static_cast<std::uint32_t>(block_begin.size() - 1); }
    [[nodiscard]] std::span<const CounterUse> uses_of(const ExecutionStep& step) const {
        return std::span(uses).subspan(step.first_use, step.uses);
    }
    [[nodiscard]] std::span<const plan::Move> moves_of(const ExecutionStep& step) const {
        return std::span(program.moves).subspan(step.first_move, step.moves);
    }
};

/// Nothing if the plan's structure is wrong (`violations`). `later` gets violations that do not prevent
/// lowering. The plan must outlive the result. O(operands), whatever their sizes.
[[nodiscard]] std::optional<ExecutionSteps> resolve(const plan::ExecutionPlan& plan,
                                                    const plan::CallSizes& sizes, std::optional<Rank> root,
                                                    Findings& violations, Findings& later);

/// "put i[0..2) -> s[4..6) of gpu 3": a step in messages.
[[nodiscard]] std::string text_of(const plan::ExecutionPlan& plan, const ExecutionStep& step);

}  // namespace tutti::verify

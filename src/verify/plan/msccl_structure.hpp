#pragma once

#include "plan/msccl_plan.hpp"
#include "plan/program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

namespace tutti::verify {

/// A plan with its ids, connections, messages and dependencies resolved: everything of section 3 of
/// docs/msccl-xml.md that does not depend on what the steps compute. Steps are numbered gpu by gpu, thread
/// block by thread block. Refers to the plan.
struct MscclStructure {
    struct Block {
        const plan::ThreadBlock* block = nullptr;
        Rank gpu{};
        plan::OpId first = 0;  ///< number of its first step
    };
    std::vector<const plan::Gpu*> gpus{};      ///< by rank
    std::vector<Block> blocks{};               ///< by gpu, then id
    std::vector<std::uint32_t> first_block{};  ///< of each gpu; one more at the end
    /// By step that others wait for and that does not signal: the later one of its block that does.
    std::unordered_map<plan::OpId, plan::OpId> served_by{};

    /// A connection of the plan leads from one of the blocks to another.
    struct Connection {
        std::uint32_t sender = 0, receiver = 0;
    };
    std::vector<Connection> connections{};  ///< by plan::ConnectionId

    [[nodiscard]] std::size_t steps() const {
        return blocks.empty() ? 0 : blocks.back().first + blocks.back().block->steps.size();
    }
    /// The step whose signal a step of that block waits for; kNoOp: none, or an earlier one of its own block.
    /// Precondition: dependencies are resolved.
    [[nodiscard]] plan::OpId waits_for(const Block& block, const plan::Step& step) const;
    /// The block of a step. O(log blocks).
    [[nodiscard]] std::uint32_t block_of(plan::OpId step) const;
    [[nodiscard]] const plan::Step& step(plan::OpId id) const {
        const Block& block = blocks[block_of(id)];
        return block.block->steps[id - block.first];
    }
    static constexpr std::uint32_t kNoBlock = std::numeric_limits<std::uint32_t>::max();
    /// By block the one that it receives from, the k-th time what that one sends the k-th time; kNoBlock: it
    /// does not receive.
    [[nodiscard]] std::vector<std::uint32_t> sending_blocks() const;
    /// The blocks of a gpu.
    [[nodiscard]] std::span<const Block> blocks_of(Rank gpu) const {
        const std::uint32_t begin = first_block[gpu.index()];
        return std::span(blocks).subspan(begin, first_block[gpu.index() + 1] - begin);
    }
    [[nodiscard]] plan::Place place(plan::OpId step) const;
    [[nodiscard]] static plan::Place place(const Block& block) {
        return {.gpu = block.gpu, .block = block.block->id};
    }
    /// "rrc i[2] -> o[2..4]", "s i[0] to gpu 3".
    [[nodiscard]] std::string words(plan::OpId step) const;
    /// "gpu 0, tb 1, step 2 (s i[3] to gpu 1)": place and words.
    [[nodiscard]] std::string named(plan::OpId step) const;
};

/// Runtimes let no nop signal.
[[nodiscard]] inline bool gives_signal(const plan::Step& step) {
    return step.signals && step.type != plan::StepType::Nop;
}

/// Nothing if violations were found that prevent further checks.
[[nodiscard]] std::optional<MscclStructure> resolve(const plan::MscclPlan& plan, const PlanReading& reading,
                                                    Findings& violations, Findings& warnings);

// The parts of resolve(), in this order, once gpus, blocks and steps are numbered.

/// Connections: as many receives as sends, and one thread block at each end.
void find_connections(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                      Findings& warnings);
/// The k-th send of each connection with its k-th receive.
void match_messages(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                    Findings& warnings);
/// Checks the step that each step waits for, and finds the one whose signal it gets; warns of nops that
/// runtimes interpret differently.
void resolve_dependencies(const PlanReading& reading, MscclStructure& structure, Findings& violations,
                          Findings& warnings);

}  // namespace tutti::verify

#pragma once

#include "plan/msccl_plan.hpp"
#include "plan/program.hpp"
#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::verify {

/// A plan with its ids, connections, messages and dependencies resolved: everything of section 3 of
/// docs/msccl-xml.md that does not depend on what the steps compute. Steps are numbered gpu by gpu, thread
/// block by thread block. Refers to the plan.
struct MscclStructure {
    struct Block {
        const plan::ThreadBlock* block = nullptr;
        std::int32_t gpu = 0;
        plan::OpId first = 0;  ///< number of its first step
    };
    std::vector<const plan::Gpu*> gpus{};      ///< by rank
    std::vector<Block> blocks{};               ///< by gpu, then id
    std::vector<std::uint32_t> first_block{};  ///< of each gpu; one more at the end
    std::vector<const plan::Step*> steps{};
    std::vector<std::uint32_t> block_of{};   ///< of each step
    std::vector<plan::OpId> message_from{};  ///< the step that it receives from
    std::vector<plan::OpId> waits_for{};     ///< the step whose signal it waits for

    /// A connection of the plan: the steps that send on it and the steps that receive, in order.
    struct Connection {
        std::int32_t from = 0, to = 0, channel = 0;
        std::uint32_t sender = 0, receiver = 0;  ///< blocks
        std::uint32_t messages = 0;              ///< steps
    };
    std::vector<Connection> connections{};

    [[nodiscard]] plan::PlanPlace place(plan::OpId step) const;
    /// "rrc i[2] -> o[2..4]", "s i[0] to gpu 3".
    [[nodiscard]] std::string words(plan::OpId step) const;
};

/// Nothing if violations were found that make the rest meaningless.
[[nodiscard]] std::optional<MscclStructure> resolve(const plan::MscclPlan& plan, const PlanReading& reading,
                                                    Findings& violations, Findings& warnings);

}  // namespace tutti::verify

#pragma once

#include "compile/rank_memory.hpp"
#include "compile/waits.hpp"
#include "plan/msccl_plan.hpp"

#include <cstdint>
#include <vector>

namespace tutti::compile {

/// Writes the steps of one rank's thread blocks, with what they wait for (compile/waits). A step has room for
/// one dependency. Others stand on nops directly before it, each with one; the step itself keeps one, because
/// runtimes drop the file otherwise.
class StepWriter {
  public:
    StepWriter(std::size_t blocks, const RankMemory& places)
        : places_(places), waits_(blocks, places.size()), blocks_(blocks) {}

    /// The next step of the rank stands in that block.
    void add(std::uint32_t block, plan::Step step);
    /// The block's steps, which are not here any more then.
    [[nodiscard]] std::vector<plan::Step> take_steps(std::size_t block);

  private:
    struct Block {
        std::vector<plan::Step> steps{};
        bool has_nops = false;
        std::vector<plan::StepId> works{};  ///< where there are nops: the steps that are none
    };
    void list(const plan::Address& first, std::int32_t count, std::vector<std::size_t>& numbers) const;
    static void push_nop(Block& block, plan::Step nop);
    /// The number of a block's step, counted without nops.
    [[nodiscard]] static plan::StepId number_of(const Block& block, std::uint32_t work) {
        return block.has_nops ? block.works[work] : plan::StepId(work);
    }

    RankMemory places_;
    Waits waits_;
    std::vector<Block> blocks_;
    std::vector<std::size_t> reads_, writes_;
};

}  // namespace tutti::compile

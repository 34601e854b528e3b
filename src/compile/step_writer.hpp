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
    [[nodiscard]] const std::vector<plan::Step>& steps(std::size_t block) const {
        return blocks_[block].steps;
    }

  private:
    struct Block {
        std::vector<plan::Step> steps{};
        std::vector<plan::StepId> works{};  ///< the steps that are no nops
    };
    void list(const plan::Address& first, std::int32_t count, std::vector<std::size_t>& numbers) const;
    void push(std::uint32_t block, plan::Step step);

    RankMemory places_;
    Waits waits_;
    std::vector<Block> blocks_;
    std::vector<std::size_t> reads_, writes_;
};

}  // namespace tutti::compile

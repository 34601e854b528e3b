#pragma once

#include "plan/msccl_plan.hpp"
#include "tests/support/plan_ids.hpp"

#include <string_view>
#include <utility>

namespace tutti::test {

/// Writes small plans down step by step: PlanBuilder("allgather", 2, 2).gpu(1, 2).tb(1, 1).step("s", "o0",
/// "o0")…
class PlanBuilder {
  public:
    PlanBuilder(std::string_view collective, std::int32_t ranks, std::int32_t chunks) {
        plan_.name = "test";
        plan_.ranks = ranks;
        plan_.chunks_per_loop = chunks;
        plan_.collective = collective;
        plan_.in_place = true;
        plan_.out_of_place = false;
        plan_.min_bytes = plan_.max_bytes = 0;
    }
    PlanBuilder& out_of_place() {
        plan_.in_place = false;
        plan_.out_of_place = true;
        return *this;
    }
    PlanBuilder& both_modes() {
        plan_.in_place = plan_.out_of_place = true;
        return *this;
    }
    PlanBuilder& gpu(std::int32_t input, std::int32_t output, std::int32_t scratch = 0) {
        plan_.gpus.push_back({Rank(plan_.gpus.size()), input, output, scratch, {}, {}});
        return *this;
    }
    PlanBuilder& tb(std::int32_t send, std::int32_t recv, std::int32_t channel = 0) {
        auto& blocks = plan_.gpus.back().blocks;
        plan_.channels = std::max(plan_.channels, channel + 1);
        blocks.push_back({plan::BlockId(blocks.size()),
                          maybe<Rank>(send),
                          maybe<Rank>(recv),
                          maybe<plan::ChannelId>(channel),
                          {}});
        return *this;
    }
    /// Addresses are a letter and an offset: "o12"; "-" where there is none.
    PlanBuilder& step(std::string_view type, std::string_view src, std::string_view dst,
                      std::int32_t count = 1) {
        auto& steps = plan_.gpus.back().blocks.back().steps;
        steps.push_back({.number = plan::StepId(steps.size()),
                         .type = *plan::step_type(type),
                         .src = address(src),
                         .dst = address(dst),
                         .count = count});
        return *this;
    }
    /// The last step waits for that one.
    PlanBuilder& after(std::int32_t block, std::int32_t step) {
        last().dep_block = maybe<plan::BlockId>(block);
        last().dep_step = maybe<plan::StepId>(step);
        return *this;
    }
    /// The last step signals.
    PlanBuilder& signals() {
        last().signals = true;
        return *this;
    }
    [[nodiscard]] plan::MscclPlan& plan() { return plan_; }
    operator const plan::MscclPlan&() const { return plan_; }  // NOLINT: a builder stands for its plan

  private:
    plan::Step& last() { return plan_.gpus.back().blocks.back().steps.back(); }
    static plan::Address address(std::string_view text) {
        if (text == "-") return {};
        const auto buffer = text[0] == 'i'   ? plan::Buffer::Input
                            : text[0] == 'o' ? plan::Buffer::Output
                                             : plan::Buffer::Scratch;
        return {buffer, id<plan::ChunkOffset>(std::stoi(std::string(text.substr(1))))};
    }

    plan::MscclPlan plan_;
};

}  // namespace tutti::test

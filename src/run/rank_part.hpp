#pragma once

#include "run/kernel_coder.hpp"
#include "run/piece_ranges.hpp"
#include "run/program_stages.hpp"
#include "run/rank_memory.hpp"
#include "run/run_faults.hpp"

#include <cstdint>
#include <memory>

namespace tutti::run {

/// What a rank does for a part of a program, made ready: addresses are known, and nothing is allocated in a
/// call.
class RankPart {
  public:
    RankPart() = default;
    RankPart(const RankPart&) = delete;
    RankPart& operator=(const RankPart&) = delete;
    virtual ~RankPart() = default;
    virtual void run(std::int64_t piece) = 0;
};

/// All must outlive what they make. Each returns null where the rank has nothing to do.
struct RankPartMaker {
    const tensor::Program& program;
    const MemoryPlan& plan;
    const RankMemory& memory;
    KernelCoder& coder;
    bool writes_to_others = true;  ///< whether ranks reach each other's memory to write there
    const RunFaults* faults = nullptr;

    [[nodiscard]] std::unique_ptr<RankPart> made(const ProgramPart& part, const ProgramStage& stage,
                                                 std::int64_t rank) const;

  private:
    [[nodiscard]] std::unique_ptr<RankPart> loop(const ProgramPart& part, const ProgramStage& stage,
                                                 std::int64_t rank) const;
    [[nodiscard]] std::unique_ptr<RankPart> exchange(tensor::ValueId id, const ProgramStage& stage,
                                                     std::int64_t rank) const;
    [[nodiscard]] std::unique_ptr<RankPart> local(tensor::ValueId id, const ProgramStage& stage,
                                                  std::int64_t rank) const;
    [[nodiscard]] std::vector<PieceRanges> pieces_of(const ProgramStage& stage, tensor::ValueId id,
                                                     std::int64_t rank) const;
};

}  // namespace tutti::run

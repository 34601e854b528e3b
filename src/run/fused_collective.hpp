#pragma once

#include "run/exchange.hpp"
#include "run/kernel_code.hpp"
#include "run/rank_part.hpp"
#include "tensor/loop.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace tutti::run {

/// A loop over pointwise values with the collectives that are one kernel with it. It goes through a piece in
/// stretches of some thousand elements: when the last contribution to a stretch has been added, in the order
/// of ranks, the loop runs on it, and what it made of it is written to those who gather it. So the sum is
/// read from the nearest cache, and memory is touched once.
class FusedLoop final : public RankPart {
  public:
    FusedLoop(const tensor::Program& program, const MemoryPlan& plan, const RankMemory& memory,
              KernelCoder& coder, const ProgramPart& part, std::vector<PieceRanges> pieces,
              std::int64_t rank);

    void run(std::int64_t piece) override;

  private:
    struct Head {
        Exchange exchange;
        std::vector<const std::byte*> others{};  ///< by side
        std::size_t tensor = 0;                  ///< of the loop
        Storage storage{};
        std::vector<std::byte> sum{};
    };
    struct Tail {
        Exchange exchange;
        std::vector<std::byte*> others{};  ///< by side; null: the elements are there already
        const std::byte* own = nullptr;
        Storage storage{};
    };

    void add_head(const tensor::Program& program, const RankMemory& memory, tensor::ValueId head,
                  std::int64_t rank);
    void add_tail(const tensor::Program& program, const RankMemory& memory, tensor::ValueId tail,
                  std::int64_t rank);
    void run_stretch(tensor::Interval range);

    tensor::Loop loop_;
    std::unique_ptr<KernelCode> code_;
    std::vector<const void*> tensors_;
    std::vector<void*> outputs_;
    std::vector<PieceRanges> pieces_;
    std::optional<Head> head_;
    std::vector<Tail> tails_;
    Arithmetic arithmetic_;
};

}  // namespace tutti::run

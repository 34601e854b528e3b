#pragma once

#include "run/contraction.hpp"
#include "run/rank_part.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace tutti::run {

/// One value of what the rank has itself: einsum, reduce, transpose, broadcast, or elements that have to be
/// copied to another place.
class LocalPart final : public RankPart {
  public:
    LocalPart(const tensor::Program& program, const RankMemory& memory, const Blas& blas, tensor::ValueId id,
              const ProgramStage& stage, const std::vector<PieceRanges>& pieces, std::int64_t rank);

    void run(std::int64_t piece) override;

  private:
    /// The result, or a piece of it, and what is read for it.
    struct Piece {
        MemoryView result;
        std::vector<MemoryView> operands{};
    };
    void make(const Piece& piece);
    [[nodiscard]] std::optional<std::size_t> common_operand(const ProgramStage& stage) const;

    const tensor::Value& value_;
    Arithmetic arithmetic_;
    const Blas& blas_;
    std::vector<std::vector<Piece>> pieces_;
    EinsumMemory memory_;
    std::size_t done_ = 0;  ///< pieces of this call
};

}  // namespace tutti::run

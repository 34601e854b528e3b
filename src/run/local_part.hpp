#pragma once

#include "run/rank_part.hpp"

#include <vector>

namespace tutti::run {

/// One value of what the rank has itself: einsum, reduce, transpose, broadcast, or elements that have to be
/// copied to another place.
class LocalPart final : public RankPart {
  public:
    LocalPart(const tensor::Program& program, const RankMemory& memory, const Blas& blas, tensor::ValueId id,
              const std::vector<PieceRanges>& pieces, std::int64_t rank);

    void run(std::int64_t piece) override;

  private:
    /// The result, or a piece of it, and what is read for it.
    struct Piece {
        MemoryView result;
        std::vector<MemoryView> operands{};
    };
    void make(const Piece& piece) const;

    const tensor::Value& value_;
    Arithmetic arithmetic_;
    const Blas& blas_;
    std::vector<std::vector<Piece>> pieces_;
};

}  // namespace tutti::run

#pragma once

#include "tensor/program.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::verify {

/// Whether the kernels of an overlap can run piece by piece.
struct PieceVerdict {
    std::string code{};   ///< empty: they can; else as src/rewrite refuses it
    std::string words{};  ///< why not
    /// The values of the chain and the dimension along which each is cut: elements of the last at an index
    /// depend on those of the first at the same index of that dimension only.
    std::vector<std::pair<tensor::ValueId, std::size_t>> cuts{};
};

/// Every kernel must use what the one before makes; nothing that needs one kernel of the chain may be needed
/// by another without being in it; and a dimension must survive from the first kernel to the last: any
/// through pointwise values and collectives, kept letters through einsum, kept dimensions through reduce.
[[nodiscard]] PieceVerdict judge_pieces(const tensor::Program& program, const tensor::Overlap& overlap);

}  // namespace tutti::verify

#pragma once

#include "tensor/kernels.hpp"
#include "tensor/program.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tutti::emit {

/// How the kernels of an overlap work on pieces. Each value of the chain is cut along one dimension; a piece
/// of it is the same interval of every part that `axes`, the finest slicing in the chain, make of it.
struct PiecePlan {
    std::map<tensor::ValueId, std::size_t> dim{};        ///< of the values that are made in pieces
    std::vector<tensor::ValueId> before{};               ///< of the chain, but whole: made before the pieces
    std::vector<std::vector<tensor::ValueId>> levels{};  ///< a level uses collectives of earlier ones only
    std::map<tensor::ValueId, std::size_t> level{};
    std::vector<tensor::AxisId> axes{};
    std::int64_t part = 0;   ///< the nominal size of such a part
    std::int64_t piece = 0;  ///< of a part: all but the last piece
    std::int64_t pieces = 0;

    [[nodiscard]] bool has(tensor::ValueId id) const { return dim.contains(id); }
};

/// None where no dimension goes through the whole chain: it is then made in one piece.
[[nodiscard]] std::optional<PiecePlan> piece_plan(const tensor::Program& program,
                                                  const tensor::Kernels& kernels,
                                                  const tensor::Overlap& overlap);

/// Whether the kernel is one call over several buffers (a step `coalesce`).
[[nodiscard]] bool is_coalesced(const tensor::Program& program, const tensor::Kernel& kernel);

}  // namespace tutti::emit

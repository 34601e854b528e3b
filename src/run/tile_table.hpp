#pragma once

#include "tensor/dtype.hpp"
#include "tensor/op.hpp"

#include <cstddef>
#include <cstdint>

namespace tutti::run {

/// result[i] = operation of operands[0][i], operands[1][i], …, for elements that are next to each other. They
/// do not overlap. `salt`: of the field.
using TileFunction = void (*)(const void* const* operands, void* result, std::int64_t count,
                              unsigned long long salt);
/// Rounds numbers to what their type has.
using RoundFunction = void (*)(void* numbers, std::int64_t count);
/// into[i] = into[i] combined with from[i].
using CombineFunction = void (*)(void* into, const void* from, std::int64_t count, unsigned long long salt);

inline constexpr std::size_t kFirstPointwise = static_cast<std::size_t>(tensor::Op::Neg);
inline constexpr std::size_t kTileSteps = static_cast<std::size_t>(tensor::Op::Cast) - kFirstPointwise;

/// The loops over real numbers, compiled for a kind of processor. All give the same bits. Where an entry is
/// none there is nothing to do.
struct TileTable {
    TileFunction steps[2][kTileSteps]{};  ///< by storage of the operands (of what select chooses from):
                                          ///< float, double; and by operation
    TileFunction casts[2][2][2]{};        ///< by storage from, to; and whether whole numbers are made
    RoundFunction round_single[tensor::kDTypeNames.size()]{};
    RoundFunction round_full[tensor::kDTypeNames.size()]{};
    CombineFunction combine[2][tensor::kReductionNames.size()]{};
};
extern const TileTable kPortableTiles;
extern const TileTable kAvx2Tiles;  ///< only defined where there are such processors

/// The table for this processor.
[[nodiscard]] const TileTable& tile_table();
/// The same in the prime field; casts by both types.
[[nodiscard]] TileFunction field_step(tensor::Op op);
[[nodiscard]] CombineFunction field_combine(tensor::Reduction reduction);

}  // namespace tutti::run

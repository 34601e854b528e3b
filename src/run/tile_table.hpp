#pragma once

#include "tensor/dtype.hpp"
#include "tensor/op.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::run {

/// result[i] = operation of operands[0][i], operands[1][i], …, for elements that are next to each other. The
/// result may be the memory of an operand of the same type, else they do not overlap. `salt`: of the field.
using TileFunction = void (*)(const void* const* operands, void* result, std::int64_t count,
                              unsigned long long salt);
/// Rounds numbers to what their type has.
using RoundFunction = void (*)(void* numbers, std::int64_t count);
/// into[i] = into[i] combined with from[i].
using CombineFunction = void (*)(void* into, const void* from, std::int64_t count, unsigned long long salt);

inline constexpr std::size_t kFirstPointwise = static_cast<std::size_t>(tensor::Op::Neg);
inline constexpr std::size_t kTileSteps = static_cast<std::size_t>(tensor::Op::Cast) - kFirstPointwise;

/// Which operands are one number for all elements: a bit for each, the first is bit 0.
inline constexpr std::size_t kScalarMasks = 8;
/// Two operations on floats as one function, each rounded: of operands 0 and 1, and of that and operand 2.
inline constexpr std::size_t kPairFirsts = 4;   ///< Add, Sub, Mul, Div
inline constexpr std::size_t kPairSeconds = 6;  ///< the same, and Sub and Div the other way round

/// The loops over real numbers, compiled for a kind of processor. All give the same bits. Where an entry is
/// none there is no such function; of roundings, there is nothing to do.
struct TileTable {
    TileFunction steps[2][kScalarMasks][kTileSteps]{};  ///< by storage of the operands (of what select
                                                        ///< chooses from): float, double; by operation
    TileFunction pairs[kScalarMasks][kPairFirsts][kPairSeconds]{};
    TileFunction casts[2][2][2]{};  ///< by storage from, to; and whether whole numbers are made
    RoundFunction round_single[tensor::kDTypeNames.size()]{};
    RoundFunction round_full[tensor::kDTypeNames.size()]{};
    CombineFunction combine[2][tensor::kReductionNames.size()]{};
};
extern const TileTable kPortableTiles;
extern const TileTable kAvx2Tiles, kAvx512Tiles;  ///< only defined where there are such processors

/// Those that this processor can execute, the best one first.
[[nodiscard]] std::vector<const TileTable*> tile_tables();
/// The first of them.
[[nodiscard]] const TileTable& tile_table();
/// The same in the prime field; casts by both types.
[[nodiscard]] TileFunction field_step(tensor::Op op);
[[nodiscard]] CombineFunction field_combine(tensor::Reduction reduction);

}  // namespace tutti::run

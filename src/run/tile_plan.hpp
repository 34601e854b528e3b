#pragma once

#include "run/local_tensor.hpp"
#include "run/tile_table.hpp"
#include "tensor/loop.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace tutti::run {

/// One pass over a tile.
struct TileStep {
    TileFunction function = nullptr;  ///< none: a cast in the field
    RoundFunction round = nullptr;
    std::array<std::size_t, 3> operands{};  ///< places
    std::size_t place = 0;
    std::optional<std::size_t> output{};
    std::size_t slot = 0;  ///< where the result is, if it is no output
    tensor::DType from{}, to{};
};

/// What the interpreter does with every tile. Places are numbered: constants, then tensors, then steps.
struct TilePlan {
    std::vector<tensor::LoopConstant> constants{};
    std::size_t tensors = 0;
    std::vector<TileStep> steps{};
    std::size_t slots = 0;             ///< tiles for results that stay here
    std::vector<bool> as_tile{};       ///< by place: a scalar of which functions read a whole tile
    std::vector<std::size_t> written;  ///< by output: the step that makes it
    std::vector<std::size_t> read;     ///< by tensor: the last step that reads it

    [[nodiscard]] std::size_t place_of_tensor(std::size_t tensor) const { return constants.size() + tensor; }
};

/// The steps of a loop as few passes: two operations on f32 of which only the second needs the first are one,
/// numbers stay numbers, and divisions by powers of two are products. None of it changes a bit. `is_scalar`:
/// by tensor.
[[nodiscard]] TilePlan tile_plan(const tensor::Loop& loop, const std::vector<bool>& is_scalar,
                                 Precision precision, const TileTable& table);

}  // namespace tutti::run

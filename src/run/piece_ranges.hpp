#pragma once

#include "emit/pieces.hpp"
#include "tensor/parts.hpp"
#include "tensor/program.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::run {

/// What a piece is of a rank's part of a value.
struct PieceRanges {
    std::optional<std::size_t> dim{};          ///< the dimension that is cut; none: the piece is all of it
    std::vector<tensor::Interval> cuts{};      ///< of that dimension
    std::vector<tensor::Interval> elements{};  ///< the same in row-major numbers
    std::int64_t count = 0;                    ///< elements
};

/// `cut`: none, if it is not cut.
[[nodiscard]] PieceRanges piece_ranges(const tensor::Program& program,
                                       const std::optional<emit::PiecePlan>& cut, tensor::ValueId id,
                                       std::int64_t rank, std::int64_t piece);

/// The given share, of so many, of elements in ranges.
[[nodiscard]] std::vector<tensor::Interval> share_of(std::span<const tensor::Interval> ranges,
                                                     std::int64_t share, std::int64_t shares);

}  // namespace tutti::run

#pragma once

#include "plan/execution_plan.hpp"

#include <cstdint>
#include <optional>

namespace tutti::plan {

/// Thread block groups of MSCCL++. Part k of g of a range of s chunks is s/g chunks long, which need not be
/// whole; so ranges are counted in parts of a chunk.

/// Finer parts than this are refused: no executor cuts a chunk so small.
inline constexpr std::int64_t kMostPartsPerChunk = 1 << 16;

/// The least number of parts to a chunk that makes every slice of every operand whole; nothing above
/// kMostPartsPerChunk.
[[nodiscard]] std::optional<std::int64_t> parts_per_chunk(const ExecutionPlan& plan);

/// A range of a buffer, in parts.
struct PartRange {
    std::int64_t first = 0, count = 0;
};
/// What the operation takes of an operand. Precondition: its slice, if any, has at least one part.
[[nodiscard]] PartRange slice_of(const Operation& op, const Operand& operand, std::int64_t parts_per_chunk);

}  // namespace tutti::plan

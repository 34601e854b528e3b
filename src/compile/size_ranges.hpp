#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::compile {

/// Message sizes that a plan is chosen for.
struct SizeRange {
    std::int64_t min_bytes = 0;
    std::int64_t max_bytes = 0;
    friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

/// Who serves which sizes, when plans were made for these (different, ascending): they share all sizes
/// without overlap or gap, each up to the geometric mean of its own and the next one's, so that no plan is
/// used for a size further from its own, as a factor, than a neighbour's is. The first begins at `first`, the
/// last ends at `last`. `inclusive`: whether a runtime still takes a plan at max_bytes itself.
[[nodiscard]] std::vector<SizeRange> size_ranges(std::span<const std::int64_t> sizes, std::int64_t first,
                                                 std::int64_t last, bool inclusive);

}  // namespace tutti::compile

#pragma once

#include "report/tally.hpp"

#include <optional>
#include <string>

namespace tutti::report {

/// Which sends of a schedule are shown.
struct Sample {
    bool all = true;
    std::vector<bool> chunks{};  ///< those whose sends are shown; empty if all are
    std::uint64_t sends = 0;     ///< no more than these, the first ones
    std::optional<std::string> note{};

    [[nodiscard]] bool shows(ChunkId chunk) const { return all || chunks[chunk.index()]; }
};

/// All sends if there are at most `most`; else all sends of some chunks, so that what is seen of a chunk is
/// complete. Every group has its turn, and within a group chunks that start early, late and between. If every
/// chunk is larger than `most`, the beginning of a small one. O(chunks * log chunks). Precondition: most > 0.
[[nodiscard]] Sample sample_of(const Instance& instance, const Tally& tally, std::uint64_t most);

/// "1 048 576".
[[nodiscard]] std::string grouped_digits(std::uint64_t number);

}  // namespace tutti::report

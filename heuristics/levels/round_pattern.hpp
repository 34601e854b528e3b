#pragma once

#include "heuristics/levels/level_plan.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// Messages that are sent together, once or many times with other chunks: when each link is used, relative to
/// the start. Each message passes its switches without waiting.
struct RoundPattern {
    struct Message {
        NodeId from, to;
        std::uint32_t kind;  ///< those of one kind carry the same chunk
    };
    /// A send, at its tick in the pattern.
    struct Entry {
        Ticks offset;
        LinkId link;
        std::uint32_t kind;
        bool is_last;  ///< it ends at an NPU
    };
    /// When a link is used.
    struct Use {
        LinkId link;
        Ticks first, end;
    };
    /// A chunk leaves a switch.
    struct Passage {
        NodeId at;
        std::uint32_t kind;
        Ticks offset;
    };
    std::vector<Entry> entries;       ///< by offset
    std::vector<std::size_t> groups;  ///< where each offset begins in entries, and their number
    std::vector<Use> uses;            ///< one for each link, by link
    std::vector<Passage> passages;    ///< sorted
    Ticks period;                     ///< between two starts of the pattern
    Ticks duration;                   ///< up to the last arrival

    /// When a chunk of each kind passes a switch in two patterns, whether that is ever at the same tick if
    /// the second starts `lag` after the first. Two copies of a chunk could be exchanged there.
    [[nodiscard]] bool meets(const RoundPattern& second, Ticks lag) const;
};

/// The pattern of these messages, with paths that share as few links as possible. None: some have no path.
/// `sample`: a chunk of their size.
[[nodiscard]] std::optional<RoundPattern> round_pattern(Cluster& cluster, ChunkId sample,
                                                        std::span<const RoundPattern::Message> messages);

}  // namespace tutti::heuristics

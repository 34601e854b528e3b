#pragma once

#include "bounds/link_window.hpp"
#include "bounds/traffic.hpp"
#include "core/bound.hpp"

namespace tutti::bounds {

enum class Sense { Forwards, Backwards, Both };

/// What a cut proves, and how (docs/bounds.md, CutCertificate).
struct Rating {
    Ticks value;
    bool backwards = false;
    std::uint64_t transfers = 0;
    Ticks earliest;
    Bytes bytes;
};

/// Chunks that must pass over the same few links, each at least once, and when they can.
class Crossing {
  public:
    Crossing(const Traffic& traffic, std::span<const LinkId> links) : traffic_(&traffic), links_(links) {}

    /// Chunks that may start on link e at head[e] at the soonest and at rest[e] before the end at the latest
    /// (kNever: not at all).
    void add(const ChunkClass& c, std::span<const Ticks> head, std::span<const Ticks> rest);

    /// The soonest arrival over one of the links.
    [[nodiscard]] Ticks soonest(const Passage& passage, std::span<const Ticks> head) const;

    /// The most that any collection of the chunks proves, over all sizes and earliest ticks, if it is more
    /// than `above`. O(chunk classes * links + classes log classes) for each size.
    [[nodiscard]] std::optional<Rating> best(Sense sense, Ticks above);

  private:
    struct Row {
        const ChunkClass* chunks;
        Bytes bytes;
        Ticks soonest;    ///< r(c)
        Ticks remaining;  ///< q(c)
        std::size_t at;   ///< where its links begin in head_ and rest_
    };
    void sweep(Bytes bytes, bool backwards, std::optional<Rating>& best, Ticks& above);

    const Traffic* traffic_;
    std::span<const LinkId> links_;
    std::vector<Row> rows_;
    std::vector<Ticks> head_, rest_;  ///< per row and link
    std::vector<LinkWindow> windows_;
};

}  // namespace tutti::bounds

#pragma once

#include "bounds/room.hpp"
#include "bounds/traffic.hpp"
#include "core/bound.hpp"

namespace tutti::bounds {

/// A set of nodes and the links into it.
struct Cut {
    Cut(const Topology& topology, std::vector<bool> inside);
    std::vector<bool> inside;
    std::vector<LinkId> entering;
};

enum class Sense { Forwards, Backwards, Both };

/// What a cut proves, and how (docs/bounds.md, CutCertificate).
struct Rating {
    Ticks value;
    bool backwards = false;
    std::uint64_t transfers = 0;
    Ticks earliest;
    Bytes bytes;

    /// Names the smaller side.
    [[nodiscard]] Bound bound(std::string kind, const Cut& cut) const;
};

/// Whether the chunks have to be sent into the set.
[[nodiscard]] bool must_enter(const Demand& demand, const std::vector<bool>& inside);

/// Rates cuts by the formula of docs/bounds.md.
class CutRater {
  public:
    explicit CutRater(Traffic& traffic) : traffic_(&traffic) {}

    /// The most that the cut proves, over all sizes and earliest ticks, if it is more than `above`.
    /// `entering` are the classes that must enter. Precondition: !traffic.huge(). O(classes * entering links
    /// * (receivers + ticks)).
    [[nodiscard]] std::optional<Rating> exact(const Cut& cut, std::span<const ChunkClass* const> entering,
                                              Sense sense, Ticks above);
    /// How much work that is.
    [[nodiscard]] std::size_t work(const Cut& cut, std::span<const ChunkClass* const> entering) const;

    /// Less, but fast on any instance: all chunks at once, from anywhere to anywhere. O(chunk classes + links
    /// log nodes).
    [[nodiscard]] std::optional<Rating> rough(const Cut& cut, Ticks above) const;

  private:
    struct Row {
        const ChunkClass* chunks;
        Bytes bytes;
        Ticks soonest;    ///< r(c)
        Ticks remaining;  ///< q(c)
        std::size_t at;   ///< where its links begin in head_ and rest_
    };
    void add_row(const Cut& cut, const ChunkClass& c);
    void heads(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& from,
               std::vector<Ticks>& head) const;
    void rests(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& to,
               std::vector<Ticks>& rest) const;
    void sweep(const Cut& cut, Bytes bytes, bool backwards, std::optional<Rating>& best, Ticks& above);

    Traffic* traffic_;
    std::vector<Row> rows_;
    std::vector<Ticks> head_, rest_;         ///< per row and entering link
    std::vector<Ticks> trial_, best_trial_;  ///< per entering link
    std::vector<Room> rooms_;
};

}  // namespace tutti::bounds

#pragma once

#include "bounds/crossing.hpp"
#include "core/bound.hpp"

namespace tutti::bounds {

/// A set of nodes and the links into it.
struct Cut {
    Cut(const Topology& topology, std::vector<bool> inside);
    std::vector<bool> inside;
    std::vector<LinkId> entering;
};

/// The bound with its certificate, which names the smaller side.
[[nodiscard]] Bound bound_of(const Rating& rating, std::string kind, const Cut& cut);

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
    void add(const Cut& cut, const ChunkClass& c, Crossing& crossing);
    void find_heads(const Cut& cut, const ChunkClass& c, Ticks release, const std::vector<Ticks>& from);
    void find_rests(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& to);

    Traffic* traffic_;
    std::vector<Ticks> trial_, head_, rest_;  ///< per entering link
};

}  // namespace tutti::bounds

#pragma once

#include "core/topology.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// Paths through a folded Clos network (a fat tree) for messages that are sent at once: as few as possible of
/// them share a link.
class ClosRoutes {
  public:
    /// The topology must outlive this.
    explicit ClosRoutes(const Topology& topology);

    /// Whether there is more than one plane to choose from anywhere.
    [[nodiscard]] bool has_choices() const { return has_choices_; }

    /// A message enters the network by one link and leaves it by another. `links`: those between the two, in
    /// order; `found`: whether there is such a path, up and down again. A message that enters and leaves by
    /// one switch needs no links.
    struct Message {
        LinkId out, in;
        std::vector<LinkId> links = {};
        bool found = false;
    };
    void route(std::span<Message> messages);

  private:
    using Plane = std::uint32_t;
    using Count = std::uint32_t;
    /// A message on its way up: the switch that it has reached, and the one that it must come down to.
    struct Climb {
        std::uint32_t message;
        NodeId from, to;
        Count colour = 0;
    };

    void find_tiers();
    void find_planes();
    [[nodiscard]] std::size_t index(NodeId at) const { return at.index() - topology_.npus(); }
    [[nodiscard]] Count tier(NodeId at) const { return tier_[index(at)]; }
    [[nodiscard]] Plane plane(Count tier, NodeId at) const { return planes_[tier][index(at)]; }
    /// The planes above a switch, which all its neighbours share.
    [[nodiscard]] const std::vector<Plane>& planes_above(NodeId at) const {
        return above_[plane(tier(at), at)];
    }
    void colour(std::span<Climb> climbs);
    void flip(NodeId at, Count wanted, Count instead, std::span<Climb> climbs);
    void climb(std::span<Message> messages, Count tier);
    [[nodiscard]] bool step(Message& message, Climb& climb);

    const Topology& topology_;
    std::vector<Count> tier_;                 ///< by switch: links to the nearest NPU, less one
    std::vector<std::vector<Plane>> planes_;  ///< by tier and switch of that tier or above
    std::vector<std::vector<Plane>> above_;  ///< by plane: those that it consists of, without its lowest tier
    bool has_choices_ = false;
    // Of route.
    std::vector<Climb> climbs_;
    std::vector<std::vector<LinkId>> down_;  ///< by message: from the top to its end, in reverse
    std::vector<Count> uses_;                ///< by link, in this call
    std::vector<LinkId> used_;
    static constexpr std::uint32_t kNone = UINT32_MAX;
    Count colours_ = 0;
    std::vector<std::uint32_t> leaving_, entering_;  ///< by switch and colour: which climb
};

}  // namespace tutti::heuristics

#pragma once

#include "core/topology.hpp"

#include <variant>

namespace tutti {

/// Which links an edit means: every link from src to dst, or one link by the number it had before the edits.
struct LinksBetween {
    NodeId src;
    NodeId dst;
};
using LinkName = std::variant<LinksBetween, LinkId>;

/// A degraded link: new values where given; `factor` multiplies beta (abstract) or divides the bandwidth
/// (physical).
struct Slowdown {
    LinkName link;
    std::optional<Ticks> alpha;
    std::optional<Ticks> beta;
    std::optional<Decimal> bandwidth;
    std::optional<Decimal> factor;
};

/// Marks removed and slowed links, then applies all edits at once, so that link numbers refer to the
/// generator's list. Both throw InputError when no link matches. The remaining links keep their order.
class TopologyEdits {
  public:
    explicit TopologyEdits(TopologyParts parts)
        : parts_(std::move(parts)), removed_(parts_.links.size(), false) {}
    void remove(const LinkName& name);
    void slow(const Slowdown& slowdown);
    [[nodiscard]] TopologyParts apply() &&;

  private:
    [[nodiscard]] std::vector<std::size_t> find(const LinkName& name) const;
    TopologyParts parts_;
    std::vector<bool> removed_;
};

}  // namespace tutti

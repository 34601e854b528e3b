#pragma once

#include "core/topology.hpp"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::timing {

/// The way that the messages of a connection take.
struct Way {
    std::vector<LinkId> links{};
    std::uint32_t relays = 0;  ///< NPUs in the middle, which store and forward
};

/// Finds ways for connections (docs/plan-costs.md, "Routes"): over a direct link, the one with the most
/// bandwidth; else through switches only, by the least sum of steps; else through other NPUs as well. Where
/// several are equally good, `turn` picks one, so that connections spread over them.
class Router {
  public:
    /// Times are those of a chunk of that size.
    Router(const Topology& topology, Bytes chunk) : topology_(topology), chunk_(chunk) {}

    /// None if there is no way. O(links of `from`) where there is a direct link, else O(links log nodes) for
    /// the first connection of a `from` and O(nodes of the way) for most of the next ones.
    /// Precondition: two different NPUs.
    [[nodiscard]] std::optional<Way> way(NodeId from, NodeId to, std::uint32_t turn);

  private:
    /// The sum of steps; and the betas, so that of two ways through cut-through switches the faster one wins
    /// and no circle is free.
    using Cost = std::pair<Ticks, Ticks>;
    enum class Through { Switches, Anything };
    struct Tree {
        NodeId from{};
        std::vector<Cost> cost{};  ///< per node
        std::unordered_map<NodeId, std::vector<LinkId>>
            last{};  ///< links that end a best way, where asked for
    };

    [[nodiscard]] std::optional<Way> direct(NodeId from, NodeId to, std::uint32_t turn) const;
    [[nodiscard]] std::optional<Way> walk(Through through, NodeId from, NodeId to, std::uint32_t turn);
    [[nodiscard]] Tree& tree(Through through, NodeId from);
    void grow(Tree& tree, Through through) const;
    [[nodiscard]] const std::vector<LinkId>& last_links(Tree& tree, Through through, NodeId node) const;
    [[nodiscard]] bool passes(Through through, const Tree& tree, NodeId node) const {
        return node == tree.from || through == Through::Anything || topology_.is_switch(node);
    }
    [[nodiscard]] Cost cost_of(LinkId link) const;

    const Topology& topology_;
    Bytes chunk_;
    std::unordered_map<NodeId, Tree> trees_[2];  ///< by Through and `from`; forgotten where they get too many
};

}  // namespace tutti::timing

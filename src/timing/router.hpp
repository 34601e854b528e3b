#pragma once

#include "core/topology.hpp"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::timing {

/// The links that the messages of a connection take.
struct Route {
    std::vector<LinkId> links{};
    std::uint32_t relays = 0;  ///< NPUs in the middle, which store and forward
};

/// Routes connections (docs/plan-costs.md, "Routes"): over the direct link with the most bandwidth; else on a
/// shortest path through switches only; else on one through other NPUs as well. Among equally good routes
/// `turn` picks one, so that connections spread over them.
class Router {
  public:
    /// Times are those of a chunk of that size.
    Router(const Topology& topology, Bytes chunk) : topology_(topology), chunk_(chunk) {}

    /// None if there is no route. O(links of `from`) where there is a direct link, else O(links log nodes)
    /// for the first connection of a `from` and O(nodes of the route) for most of the next ones.
    /// Precondition: two different NPUs.
    [[nodiscard]] std::optional<Route> route(NodeId from, NodeId to, std::uint32_t turn);

  private:
    /// The sum of transit times; and of betas, so that of two routes through cut-through switches the faster
    /// one wins and no cycle has cost 0.
    using Cost = std::pair<Ticks, Ticks>;
    enum class Through { Switches, AnyNode };
    struct Tree {
        NodeId from{};
        std::vector<Cost> cost{};  ///< per node
        std::unordered_map<NodeId, std::vector<LinkId>>
            last{};  ///< links that end a best route, where asked for
    };

    [[nodiscard]] std::optional<Route> direct(NodeId from, NodeId to, std::uint32_t turn) const;
    [[nodiscard]] std::optional<Route> trace_back(Through through, NodeId from, NodeId to,
                                                  std::uint32_t turn);
    [[nodiscard]] Tree& tree(Through through, NodeId from);
    void grow(Tree& tree, Through through) const;
    [[nodiscard]] const std::vector<LinkId>& last_links(Tree& tree, Through through, NodeId node) const;
    [[nodiscard]] bool passes(Through through, const Tree& tree, NodeId node) const {
        return node == tree.from || through == Through::AnyNode || topology_.is_switch(node);
    }
    [[nodiscard]] Cost cost_of(LinkId link) const;

    const Topology& topology_;
    Bytes chunk_;
    std::unordered_map<NodeId, Tree> trees_[2];  ///< by Through and `from`; forgotten where they get too many
};

}  // namespace tutti::timing

#pragma once

#include "core/expects.hpp"
#include "heuristics/switches/switch_clusters.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace tutti::heuristics {

/// Which nodes can send to which through the switches, and over which hops. **Holders** are the stops that
/// keep what they received and may forward it any number of times: NPUs, and switches that branch. The other
/// stops are **fabric**: a copy that enters one leaves it once. A **port** is a link into a holder; each port
/// has a list of sources, the holders with a path to it through fabric only.
class SwitchPaths {
  public:
    struct Source {
        NodeId node;
        HopId last;  ///< the hop into the port's holder
    };
    struct Port {
        NodeId holder;
        LinkId link;
        std::uint32_t list;
        HopId last;  ///< in place of that of the sources, if the list is shared
    };

    /// Both must outlive this. O(leaf switches * hops).
    SwitchPaths(const HopGraph& graph, const SwitchClusters& clusters);

    [[nodiscard]] bool is_holder(NodeId node) const { return fabric_[node.index()] == kHolder; }
    [[nodiscard]] const std::vector<Port>& ports() const { return ports_; }
    /// The number of sources of a port that first share a cluster with it at that level (levels(): at none).
    /// The port's own holder may be among them.
    [[nodiscard]] std::size_t sources(const Port& port, std::size_t level) const {
        return sources_count(lists_[port.list], level);
    }
    [[nodiscard]] Source source(const Port& port, std::size_t level, std::size_t i) const {
        const List& list = lists_[port.list];
        const Source& source = list.sources[list.begin[level] + i];
        return list.shared ? Source{source.node, port.last} : source;
    }

    /// The place of a holder among them.
    [[nodiscard]] std::optional<std::size_t> find_source(const Port& port, std::size_t level,
                                                         NodeId node) const {
        const List& list = lists_[port.list];
        const auto sources = std::span(list.sources).subspan(list.begin[level], sources_count(list, level));
        const auto found = std::ranges::lower_bound(sources, node, {}, &Source::node);
        if (found == sources.end() || found->node != node) return std::nullopt;
        return found - sources.begin();
    }

    /// Hops into fabric from a holder or from fabric.
    struct Onward {
        HopId hop;
        NodeId to;
        std::uint32_t fabric;  ///< the number of `to` among the fabric stops
    };
    [[nodiscard]] std::span<const Onward> onward(NodeId node) const {
        return std::span(onward_).subspan(onward_begin_[node.index()],
                                          onward_begin_[node.index() + 1] - onward_begin_[node.index()]);
    }
    /// For each fabric stop, the hops from it to `leaf`; kFar if there is no path. Precondition: a hop leads
    /// from the leaf to a holder.
    [[nodiscard]] std::span<const std::uint16_t> distances(NodeId leaf) const {
        expects(leaf_[leaf.index()] != UINT32_MAX);
        return std::span(distances_).subspan(leaf_[leaf.index()] * fabric_stops_, fabric_stops_);
    }
    static constexpr std::uint16_t kFar = UINT16_MAX;

    /// Whether the tables would be too large for the network.
    [[nodiscard]] static bool is_too_large(const HopGraph& graph);

  private:
    struct List {
        bool shared = false;
        std::vector<Source> sources;       ///< level by level, by number within one
        std::vector<std::uint32_t> begin;  ///< of each level
    };
    [[nodiscard]] static std::size_t sources_count(const List& list, std::size_t level) {
        return list.begin[level + 1] - list.begin[level];
    }
    void number_stops(const HopGraph& graph);
    void measure_distances(const HopGraph& graph);
    void add_ports(const HopGraph& graph, const SwitchClusters& clusters);
    [[nodiscard]] std::vector<NodeId> sources_of(NodeId leaf) const;
    void add_list(std::vector<Source> sources, NodeId at, bool shared, const SwitchClusters& clusters);

    static constexpr std::uint32_t kHolder = UINT32_MAX;
    std::size_t fabric_stops_ = 0;
    std::vector<std::uint32_t> fabric_;  ///< the number of each fabric stop, or kHolder
    std::vector<std::uint32_t> leaf_;    ///< the number of each leaf
    std::vector<NodeId> leaves_;
    std::vector<std::uint16_t> distances_;
    std::vector<Onward> onward_;
    std::vector<std::uint32_t> onward_begin_;
    std::vector<Port> ports_;
    std::vector<List> lists_;
};

}  // namespace tutti::heuristics

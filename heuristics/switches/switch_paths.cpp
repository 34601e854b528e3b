// Paths are not listed: a large fabric has too many. For each switch with a hop to a holder (a leaf), the
// distances of all fabric stops to it are stored, so that a path can be followed from the source over any hop
// that leads nearer. Ports behind the same leaf share one list of sources; where rigid hops lead from NPU to
// NPU, each port has its own.

#include "heuristics/switches/switch_paths.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMaxEntries = std::size_t{1} << 26;

}  // namespace

bool SwitchPaths::is_too_large(const HopGraph& graph) {
    const Topology& topology = graph.instance().topology();
    std::size_t leaves = 0;
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        leaves += std::ranges::any_of(graph.out(NodeId(n)),
                                      [&](const HopEnd& out) { return topology.is_npu(out.node); })
                      ? 1U
                      : 0U;
    }
    return leaves * topology.nodes() > kMaxEntries;
}

SwitchPaths::SwitchPaths(const HopGraph& graph, const SwitchClusters& clusters) {
    number_stops(graph);
    measure_distances(graph);
    add_ports(graph, clusters);
}

void SwitchPaths::number_stops(const HopGraph& graph) {
    const Topology& topology = graph.instance().topology();
    fabric_.assign(graph.nodes(), kHolder);
    for (std::size_t n = topology.npus(); n < graph.nodes(); ++n) {
        if (!graph.branches(NodeId(n))) fabric_[n] = static_cast<std::uint32_t>(fabric_stops_++);
    }
    leaf_.assign(graph.nodes(), UINT32_MAX);
    for (std::size_t n = 0; n < graph.nodes(); ++n) {
        onward_begin_.push_back(static_cast<std::uint32_t>(onward_.size()));
        for (const auto& [to, id] : graph.out(NodeId(n))) {
            if (!is_holder(to)) {
                onward_.push_back({id, to, fabric_[to.index()]});
            } else if (!is_holder(NodeId(n)) && leaf_[n] == UINT32_MAX) {
                leaf_[n] = static_cast<std::uint32_t>(leaves_.size());
                leaves_.emplace_back(n);
            }
        }
    }
    onward_begin_.push_back(static_cast<std::uint32_t>(onward_.size()));
}

void SwitchPaths::measure_distances(const HopGraph& graph) {
    distances_.assign(leaves_.size() * fabric_stops_, kFar);
    std::vector<NodeId> queue;
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
        const auto distance = std::span(distances_).subspan(i * fabric_stops_, fabric_stops_);
        queue.assign(1, leaves_[i]);
        distance[fabric_[leaves_[i].index()]] = 0;
        for (std::size_t next = 0; next < queue.size(); ++next) {
            const NodeId at = queue[next];
            for (const auto& [from, hop] : graph.in(at)) {
                if (is_holder(from) || distance[fabric_[from.index()]] != kFar) continue;
                distance[fabric_[from.index()]] =
                    static_cast<std::uint16_t>(distance[fabric_[at.index()]] + 1);
                queue.push_back(from);
            }
        }
    }
}

std::vector<NodeId> SwitchPaths::sources_of(NodeId leaf) const {
    const auto distance = distances(leaf);
    std::vector<NodeId> sources;
    for (std::size_t n = 0; n < fabric_.size(); ++n) {
        if (!is_holder(NodeId(n))) continue;
        if (std::ranges::any_of(onward(NodeId(n)),
                                [&](const Onward& o) { return distance[o.fabric] != kFar; })) {
            sources.emplace_back(n);
        }
    }
    return sources;
}

void SwitchPaths::add_list(std::vector<Source> sources, NodeId at, bool shared,
                           const SwitchClusters& clusters) {
    List list{shared, {}, std::vector<std::uint32_t>(clusters.levels() + 2, 0)};
    for (const Source& source : sources) ++list.begin[clusters.meeting(source.node, at) + 1];
    for (std::size_t i = 1; i < list.begin.size(); ++i) list.begin[i] += list.begin[i - 1];
    std::ranges::stable_sort(sources, [&](const Source& a, const Source& b) {
        return std::pair(clusters.meeting(a.node, at), a.node) <
               std::pair(clusters.meeting(b.node, at), b.node);
    });
    list.sources = std::move(sources);
    lists_.push_back(std::move(list));
}

void SwitchPaths::add_ports(const HopGraph& graph, const SwitchClusters& clusters) {
    // Hops into holders, by holder and last link.
    std::vector<HopId> last;
    for (std::size_t i = 0; i < graph.hops(); ++i) {
        if (is_holder(graph.to(HopId(i)))) last.emplace_back(i);
    }
    const auto key = [&](HopId id) {
        const Hop hop = graph.hop(id);
        return std::pair(hop.to, hop.legs.back());
    };
    std::ranges::stable_sort(last, {}, key);
    std::vector<std::uint32_t> list_of_leaf(leaves_.size(), UINT32_MAX);
    for (std::size_t i = 0; i < last.size();) {
        std::size_t end = i;
        while (end < last.size() && key(last[end]) == key(last[i])) ++end;
        const auto [holder, link] = key(last[i]);
        const NodeId from = graph.from(last[i]);
        if (end == i + 1 && !is_holder(from)) {
            std::uint32_t& list = list_of_leaf[leaf_[from.index()]];
            if (list == UINT32_MAX) {
                list = static_cast<std::uint32_t>(lists_.size());
                std::vector<Source> sources;
                for (const NodeId node : sources_of(from)) sources.push_back({node, HopId{}});
                add_list(std::move(sources), from, true, clusters);
            }
            ports_.push_back({holder, link, list, last[i]});
        } else {
            std::vector<Source> sources;
            for (std::size_t k = i; k < end; ++k) {
                const NodeId stop = graph.from(last[k]);
                if (is_holder(stop)) {
                    sources.push_back({stop, last[k]});
                } else {
                    for (const NodeId node : sources_of(stop)) sources.push_back({node, last[k]});
                }
            }
            ports_.push_back({holder, link, static_cast<std::uint32_t>(lists_.size()), last[i]});
            add_list(std::move(sources), holder, false, clusters);
        }
        i = end;
    }
}

}  // namespace tutti::heuristics

#include "heuristics/exchange/message_graph.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostPairs = std::size_t{1} << 20;

}  // namespace

bool MessageGraph::fits(const Instance& instance) {
    const Topology& topology = instance.topology();
    const std::size_t npus = topology.npus();
    return topology.switches() == 0 ? topology.links().size() <= kMostPairs : npus * npus <= kMostPairs;
}

MessageGraph::MessageGraph(const Instance& instance) : hops_(instance, HopGraph::Use::Message) {
    const DemandList& demands = instance.demands();
    times_.resize(demands.sizes().size());
    std::size_t largest = times_.size();  // not every size need have a chunk
    for (std::size_t c = 0; c < demands.size(); ++c) {
        const std::uint32_t size = demands.size_class(ChunkId(c));
        if (largest == times_.size() || demands.sizes()[size] > demands.sizes()[largest]) largest = size;
        auto& times = times_[size];
        if (!times.empty()) continue;
        times.reserve(hops_.hops());
        for (std::size_t h = 0; h < hops_.hops(); ++h) times.push_back(hops_.transit(HopId(h), ChunkId(c)));
    }
    const auto before = [&](const HopEnd& a, const HopEnd& b) {
        if (a.node != b.node || largest == times_.size()) return a.node < b.node;
        return times_[largest][a.hop.index()] < times_[largest][b.hop.index()];
    };
    std::vector<HopEnd> list;
    for (std::size_t n = 0; n < instance.topology().npus(); ++n) {
        begin_.push_back(static_cast<std::uint32_t>(to_.size()));
        const auto out = hops_.out(NodeId(n));
        list.assign(out.begin(), out.end());
        std::ranges::stable_sort(list, before);
        for (const HopEnd& end : list) {
            if (to_.size() == begin_.back() || to_.back() != end.node) {
                to_.push_back(end.node);
                first_hop_.push_back(static_cast<std::uint32_t>(sorted_.size()));
            }
            sorted_.push_back(end.hop);
        }
    }
    begin_.push_back(static_cast<std::uint32_t>(to_.size()));
    first_hop_.push_back(static_cast<std::uint32_t>(sorted_.size()));
}

std::span<const HopId> MessageGraph::between(NodeId from, NodeId to) const {
    const auto neighbours = next(from);
    const auto found = std::ranges::lower_bound(neighbours, to);
    if (found == neighbours.end() || *found != to) return {};
    const std::size_t at = begin_[from.index()] + static_cast<std::size_t>(found - neighbours.begin());
    return std::span(sorted_).subspan(first_hop_[at], first_hop_[at + 1] - first_hop_[at]);
}

Ticks MessageGraph::transit(HopId hop, ChunkId chunk) const {
    return times_[instance().demands().size_class(chunk)][hop.index()];
}

}  // namespace tutti::heuristics

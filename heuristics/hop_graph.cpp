// Rigid hops are found by breadth-first search from each stop through the switches that cannot hold a chunk.
// All simple paths would be too many in a large fabric, so each such switch is entered by at most
// kWaysThrough paths from one stop and each pair of stops is joined by at most kWaysBetween hops; the first
// path found is a shortest one, so whoever can be reached at all is reached. Links are tried from a different
// one at each stop, so that the few paths kept are not the same few for everybody.

#include "heuristics/hop_graph.hpp"

#include <algorithm>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kWaysThrough = 4;
constexpr std::size_t kWaysBetween = 8;

}  // namespace

bool HopGraph::is_stop(NodeId node) const {
    const Topology& topology = instance_->topology();
    if (topology.is_npu(node)) return true;
    const SwitchRule& rule = topology.rule(node);
    if (rule.cut_through || rule.buffer) return false;
    return use_ == Use::Spread || rule.reduce || !rule.copy;
}

HopGraph::HopGraph(const Instance& instance, Use use) : instance_(&instance), use_(use) {
    const Topology& topology = instance.topology();
    branches_.resize(topology.nodes());
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        const NodeId node(n);
        branches_[n] = topology.is_npu(node) || topology.rule(node).copy;
        if (is_stop(node)) add_rigid_hops(node);
    }
    direct_ = std::ranges::all_of(
                  ends_, [&](const Ends& e) { return topology.is_npu(e.from) && topology.is_npu(e.to); }) &&
              std::ranges::all_of(ends_, [](const Ends& e) { return e.legs == 1; });
    index_hops();
}

void HopGraph::add_rigid_hops(NodeId from) {
    const Topology& topology = instance_->topology();
    std::unordered_map<NodeId, std::size_t> ways;
    std::vector<std::vector<LinkId>> paths{{}};
    for (std::size_t next = 0; next < paths.size(); ++next) {
        const std::vector<LinkId> path = paths[next];
        const NodeId at = path.empty() ? from : topology.link(path.back()).dst;
        const auto links = topology.out_links(at);
        for (std::size_t i = 0; i < links.size(); ++i) {
            const LinkId link = links[(i + from.index()) % links.size()];
            const NodeId to = topology.link(link).dst;
            const bool stop = is_stop(to);
            if (to == from || (!path.empty() && ways[to] >= (stop ? kWaysBetween : kWaysThrough))) continue;
            if (std::ranges::any_of(path, [&](LinkId l) { return topology.link(l).dst == to; })) continue;
            ++ways[to];
            if (stop) {
                ends_.push_back({from, to, static_cast<std::uint32_t>(legs_.size()),
                                 static_cast<std::uint32_t>(path.size() + 1)});
                legs_.insert(legs_.end(), path.begin(), path.end());
                legs_.push_back(link);
            } else {
                paths.push_back(path);
                paths.back().push_back(link);
            }
        }
    }
}

void HopGraph::index_hops() {
    out_begin_.assign(instance_->topology().nodes() + 1, 0);
    for (const Ends& ends : ends_) ++out_begin_[ends.from.index() + 1];
    for (std::size_t i = 1; i < out_begin_.size(); ++i) out_begin_[i] += out_begin_[i - 1];
    out_.resize(ends_.size());
    auto next = out_begin_;
    for (std::size_t i = 0; i < ends_.size(); ++i) out_[next[ends_[i].from.index()]++] = HopId(i);
}

HopGraph HopGraph::reversed() const {
    HopGraph result = *this;
    result.backwards_ = !backwards_;
    for (Ends& ends : result.ends_) {
        std::swap(ends.from, ends.to);
        const auto first = result.legs_.begin() + ends.first_leg;
        std::reverse(first, first + ends.legs);
    }
    const Topology& topology = instance_->topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        result.branches_[n] = result.backwards_ ? rule.reduce : rule.copy;
    }
    result.index_hops();
    return result;
}

Ticks HopGraph::transit(HopId id, ChunkId chunk) const {
    const Ends& ends = ends_[id.index()];
    if (ends.legs == 1) {
        const LinkId link = legs_[ends.first_leg];
        return instance_->alpha(link) + instance_->beta(link, chunk);
    }
    std::vector<LegTime> times;
    leg_times(id, chunk, times);
    const LegTime& last = times.back();
    const Ticks busy =
        instance_->topology().busy() == Busy::Beta ? last.busy + instance_->alpha(last.link) : last.busy;
    return last.offset + busy;
}

void HopGraph::leg_times(HopId id, ChunkId chunk, std::vector<LegTime>& times) const {
    times.clear();
    const Topology& topology = instance_->topology();
    const auto legs = hop(id).legs;
    Ticks offset;
    for (std::size_t i = 0; i < legs.size();) {
        // Links joined by cut-through switches move at the pace of the slowest.
        std::size_t end = i;
        Ticks pace;
        do {
            pace = std::max(pace, instance_->beta(legs[end], chunk));
            const Link& link = topology.link(legs[end++]);
            if (end == legs.size() || !topology.is_cut_through(backwards_ ? link.src : link.dst)) break;
        } while (true);
        for (; i < end; ++i) {
            const Link& link = topology.link(legs[i]);
            times.push_back(
                {legs[i], backwards_ ? link.dst : link.src, offset, instance_->busy(legs[i], pace)});
            offset += instance_->alpha(legs[i]);
        }
        offset += pace;
    }
}

}  // namespace tutti::heuristics

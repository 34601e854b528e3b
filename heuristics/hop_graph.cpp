// Rigid hops are found by breadth-first search from each stop through the switches that cannot hold a chunk.
// All simple paths would be too many in a large fabric, so each such switch is entered by at most
// kPathsThrough paths from one stop and each pair of stops is joined by at most kPathsBetween hops, fewer
// where that would make more than about kMaxHops in total. The first path found is a shortest one, so every
// reachable node is reached. At each stop the search begins with a different link, so that different stops
// keep different paths.

#include "heuristics/hop_graph.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kPathsThrough = 4;
constexpr std::size_t kPathsBetween = 8;
constexpr std::size_t kMaxHops = std::size_t{1} << 22;

/// Calls `take` for every link of a path, given in the direction of travel.
template <class Take>
void each_leg(const Instance& instance, std::span<const LinkId> legs, bool backwards, ChunkId chunk,
              Take take) {
    const Topology& topology = instance.topology();
    // Contributions that are exchanged spoil a sum. (So a switch that adds never costs a tick that another
    // one does not.) Copies are all alike, but reversed they may be contributions.
    const bool sums = legs.size() > 1 && instance.demand(chunk).reduction;
    Ticks offset;
    for (std::size_t i = 0; i < legs.size();) {
        // Links joined by cut-through switches move at the pace of the slowest.
        std::size_t end = i;
        Ticks pace;
        do {
            pace = std::max(pace, instance.beta(legs[end], chunk));
            const Link& link = topology.link(legs[end++]);
            if (end == legs.size() || !topology.is_cut_through(backwards ? link.src : link.dst)) break;
        } while (true);
        for (; i < end; ++i) {
            const Link& link = topology.link(legs[i]);
            const NodeId from = backwards ? link.dst : link.src;
            const bool adds = topology.is_switch(from) && topology.rule(from).reduce;
            take(LegTime{legs[i], from, offset, instance.busy(legs[i], pace), sums || adds});
            offset += instance.alpha(legs[i]);
        }
        offset += pace;
    }
}

/// From the start of a path to its arrival, given its last leg.
Ticks end_of(const Instance& instance, const LegTime& last) {
    const bool pays_alpha = instance.topology().busy() == Busy::Beta;
    return last.offset + last.busy + (pays_alpha ? instance.alpha(last.link) : Ticks(0));
}

}  // namespace

/// Finds the hops from each stop, reusing its tables.
class HopGraph::RigidSearch {
  public:
    explicit RigidSearch(HopGraph& graph)
        : graph_(graph),
          topology_(graph.instance_->topology()),
          is_stop_(topology_.nodes()),
          seen_(topology_.nodes(), 0),
          paths_into_(topology_.nodes(), 0) {
        std::size_t stops = 0;
        for (std::size_t n = 0; n < is_stop_.size(); ++n) stops += is_stop_[n] = graph.is_stop(NodeId(n));
        const std::size_t passed = topology_.nodes() - stops;
        paths_between_ = std::clamp<std::size_t>(kMaxHops / (stops * stops), 1, kPathsBetween);
        paths_through_ = std::clamp<std::size_t>(kMaxHops / (stops * (passed + 1)), 1, kPathsThrough);
    }

    void add_all() {
        graph_.from_.reserve(topology_.links().size());
        graph_.to_.reserve(topology_.links().size());
        graph_.leg_begin_.reserve(topology_.links().size() + 1);
        graph_.legs_.reserve(topology_.links().size());
        for (std::size_t n = 0; n < is_stop_.size(); ++n) {
            if (is_stop_[n]) add_from(NodeId(n));
        }
    }

  private:
    /// A path from the stop to a switch that cannot hold a chunk: its last link, and the path before it.
    struct Path {
        std::size_t before;
        LinkId link;
        std::uint32_t legs;
    };

    void add_from(NodeId from) {
        paths_.assign(1, {0, LinkId{}, 0});
        for (std::size_t next = 0; next < paths_.size(); ++next) {
            const NodeId at = next == 0 ? from : topology_.link(paths_[next].link).dst;
            const auto links = topology_.out_links(at);
            std::size_t i = links.empty() ? 0 : from.index() % links.size();
            for (std::size_t count = 0; count < links.size(); ++count, ++i) {
                if (i == links.size()) i = 0;
                add_link(from, next, links[i]);
            }
        }
    }

    void add_link(NodeId from, std::size_t path, LinkId link) {
        const NodeId to = topology_.link(link).dst;
        const bool stop = is_stop_[to.index()];
        if (seen_[to.index()] != from.index() + 1) {
            seen_[to.index()] = static_cast<std::uint32_t>(from.index() + 1);
            paths_into_[to.index()] = 0;
        }
        if (to == from || (path != 0 && paths_into_[to.index()] >= (stop ? paths_between_ : paths_through_)))
            return;
        for (std::size_t p = path; p != 0; p = paths_[p].before) {
            if (topology_.link(paths_[p].link).dst == to) return;
        }
        ++paths_into_[to.index()];
        if (!stop) {
            paths_.push_back({path, link, paths_[path].legs + 1});
            return;
        }
        auto& legs = graph_.legs_;
        const std::uint32_t count = paths_[path].legs + 1;
        graph_.from_.push_back(from);
        graph_.to_.push_back(to);
        legs.resize(legs.size() + count);
        graph_.leg_begin_.push_back(static_cast<std::uint32_t>(legs.size()));
        auto leg = legs.rbegin();
        *leg++ = link;
        for (std::size_t p = path; p != 0; p = paths_[p].before) *leg++ = paths_[p].link;
    }

    HopGraph& graph_;
    const Topology& topology_;
    std::vector<bool> is_stop_;
    std::vector<std::uint32_t> seen_, paths_into_;  ///< paths into a node, counted anew for each stop
    std::size_t paths_between_, paths_through_;
    std::vector<Path> paths_;
};

bool HopGraph::is_stop(NodeId node) const {
    const Topology& topology = instance_->topology();
    if (topology.is_npu(node)) return true;
    if (use_ == Use::Message) return false;
    const SwitchRule& rule = topology.rule(node);
    if (rule.cut_through || rule.buffer) return false;
    return use_ == Use::Spread || rule.reduce || !rule.copy;
}

HopGraph::HopGraph(const Instance& instance, Use use) : instance_(&instance), use_(use) {
    const Topology& topology = instance.topology();
    branches_.resize(topology.nodes());
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        branches_[n] = topology.is_npu(NodeId(n)) || topology.rule(NodeId(n)).copy;
    }
    RigidSearch(*this).add_all();
    const auto is_npu = [&](NodeId node) { return topology.is_npu(node); };
    direct_ = is_simple() && std::ranges::all_of(from_, is_npu) && std::ranges::all_of(to_, is_npu);
    index_hops(from_, to_, out_begin_, out_);
    index_hops(to_, from_, in_begin_, in_);
}

/// Lists the hops of each node, given their own and their other ends.
void HopGraph::index_hops(std::span<const NodeId> own, std::span<const NodeId> other,
                          std::vector<std::uint32_t>& begin, std::vector<HopEnd>& list) const {
    begin.assign(instance_->topology().nodes() + 1, 0);
    for (const NodeId node : own) ++begin[node.index() + 1];
    for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    list.resize(own.size());
    auto next = begin;
    for (std::size_t i = 0; i < own.size(); ++i) list[next[own[i].index()]++] = {other[i], HopId(i)};
}

HopGraph HopGraph::reversed() const {
    HopGraph result = *this;
    result.backwards_ = !backwards_;
    std::swap(result.from_, result.to_);
    std::swap(result.out_, result.in_);
    std::swap(result.out_begin_, result.in_begin_);
    for (std::size_t h = 0; h < hops(); ++h) {
        std::reverse(result.legs_.begin() + leg_begin_[h], result.legs_.begin() + leg_begin_[h + 1]);
    }
    const Topology& topology = instance_->topology();
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
        const SwitchRule& rule = topology.rule(NodeId(n));
        result.branches_[n] = result.backwards_ ? rule.reduce : rule.copy;
    }
    return result;
}

Ticks HopGraph::transit(HopId id, ChunkId chunk) const {
    const std::uint32_t first = leg_begin_[id.index()];
    if (leg_begin_[id.index() + 1] - first == 1) {
        const LinkId link = legs_[first];
        return instance_->alpha(link) + instance_->beta(link, chunk);
    }
    Ticks end;
    each_leg(*instance_, legs(id), backwards_, chunk,
             [&](const LegTime& leg) { end = end_of(*instance_, leg); });
    return end;
}

void HopGraph::leg_times(HopId id, ChunkId chunk, std::vector<LegTime>& times) const {
    times.clear();
    each_leg(*instance_, legs(id), backwards_, chunk, [&](const LegTime& leg) { times.push_back(leg); });
}

Ticks path_times(const Instance& instance, std::span<const LinkId> links, ChunkId chunk,
                 std::vector<LegTime>& times) {
    times.clear();
    each_leg(instance, links, false, chunk, [&](const LegTime& leg) { times.push_back(leg); });
    return end_of(instance, times.back());
}

}  // namespace tutti::heuristics

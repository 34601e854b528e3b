// Growing a tree in the time-expanded network.
//
// A shortest-path search (Dijkstra) from the whole tree: a hop from a node reached at t starts in the first
// gap of its links at or after t. A label's cost is its arrival and a charge for each hop outside the tree:
// of two paths with about equal arrivals, the one with fewer links leaves more to other chunks. When the
// search settles a target, the path to it is booked, and its nodes join the tree: they are labelled again
// without the charge, and the search continues. A settled label may then still become cheaper, but never
// later, so labels derived from it stay valid.
//
// On networks without switches a chunk reaches each node once and so uses each link once: its own tree never
// invalidates a label. Otherwise a booked path can delay hops that the search has already labelled: always
// when it passes a switch that may not branch, because the next path needs a copy of its own over the same
// link. So the search then starts again from the grown tree. A path is checked against the calendar before it
// is booked.
//
// The charge, 0.3 of a hop's transit, was measured on an 8x8x8 torus: see tree_insertion.cpp.
//
// O((hops + nodes) log nodes) a tree, times the targets with switches, times the gaps looked at.

#include "heuristics/trees/timed_growth.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kTickCost = 10;
constexpr std::int64_t kHopCost = 3;
/// Above, costs are plain arrivals, so that no product can overflow where no sum does.
constexpr Ticks kLongTransit{std::int64_t{1} << 40};
constexpr unsigned kSettledPerPoll = 1024;

}  // namespace

TimedGrowth::TimedGrowth(const HopGraph& graph, LinkCalendar calendar, Rng& rng)
    : graph_(graph),
      calendar_(std::move(calendar)),
      rng_(rng),
      per_tick_(kTickCost),
      per_hop_(kHopCost),
      labels_(graph.nodes()),
      in_tree_(graph.nodes(), 0),
      wanted_(graph.nodes(), 0) {}

const std::vector<TimedGrowth::Arc>& TimedGrowth::arcs_for(ChunkId chunk) {
    std::vector<Arc>& arcs = arcs_[graph_.instance().demand(chunk).bytes];
    if (!arcs.empty()) return arcs;
    std::vector<LegTime> legs;
    for (std::size_t n = 0; n < graph_.nodes(); ++n) {
        for (const auto& [to, id] : graph_.out(NodeId(n))) {
            graph_.leg_times(id, chunk, legs);
            arcs.push_back(
                {to, id, legs.front().link, legs.size() > 1, legs.front().busy, graph_.transit(id, chunk)});
            if (arcs.back().transit > kLongTransit) {
                per_tick_ = 1;
                per_hop_ = 0;
            }
        }
    }
    return arcs;
}

void TimedGrowth::book(std::span<const Transfer> transfers) {
    for (const auto& [hop, chunk, start] : transfers) calendar_.book(graph_, hop, chunk, start);
}

void TimedGrowth::release(std::span<const Transfer> transfers) {
    const Instance& instance = graph_.instance();
    for (const auto& [hop, chunk, start] : transfers) {
        const LinkId link = graph_.hop(hop).legs.front();
        calendar_.release(link, start, start + instance.busy(link, instance.beta(link, chunk)));
    }
}

bool TimedGrowth::grow(const Spread& spread, std::span<const Transfer> kept, Ticks deadline, const Stop& stop,
                       std::vector<Transfer>& transfers) {
    ++tree_;
    joined_.clear();
    deadline_ = deadline;
    collective_ = graph_.instance().demand(spread.chunk).collective;
    for (const NodeId source : spread.sources) join(source, spread.ready);
    for (const auto& [hop, chunk, start] : kept) {
        const NodeId to = graph_.hop(hop).to;
        if (graph_.branches(to)) join(to, start + graph_.transit(hop, chunk));
    }
    std::size_t missing = 0;
    for (const NodeId target : spread.targets) {
        if (in_tree_[target.index()] == tree_ || wanted_[target.index()] == tree_) continue;
        wanted_[target.index()] = tree_;
        ++missing;
    }
    while (missing > 0) {
        const std::size_t reached = search(spread.chunk, missing, stop, transfers);
        if (reached == 0) return false;
        missing -= reached;
    }
    return true;
}

/// Searches from the tree and books paths to targets until the labels are invalid. Returns how many were
/// reached.
std::size_t TimedGrowth::search(ChunkId chunk, std::size_t missing, const Stop& stop,
                                std::vector<Transfer>& transfers) {
    ++search_;
    queue_.clear();
    const std::vector<Arc>& arcs = arcs_for(chunk);
    for (const auto& [node, arrival] : joined_) enter(node, arrival, arrival * per_tick_, HopId{});
    std::size_t reached = 0;
    for (unsigned settled = 0; !queue_.empty(); ++settled) {
        if (settled % kSettledPerPoll == 0 && stop.requested()) return 0;
        const auto [cost, lot, node] = queue_.front();
        std::pop_heap(queue_.begin(), queue_.end());
        queue_.pop_back();
        Label& label = labels_[node.index()];
        if (cost != label.cost) continue;
        label.settled = true;
        if (wanted_[node.index()] == tree_ && in_tree_[node.index()] != tree_) {
            const Ticks expected = label.arrival;
            const auto arrival = book_path(chunk, node, transfers);
            if (!arrival) return reached;
            if (++reached == missing || *arrival > expected || stale_) return reached;
            continue;  // it was entered again, as part of the tree
        }
        leave(node, arcs, chunk);
    }
    return reached;
}

void TimedGrowth::enter(NodeId node, Ticks arrival, Ticks cost, HopId by) {
    labels_[node.index()] = {search_, arrival, cost, by, false};
    queue_.push_back({cost, static_cast<std::uint32_t>(rng_.next() >> 32), node});
    std::push_heap(queue_.begin(), queue_.end());
}

void TimedGrowth::leave(NodeId node, const std::vector<Arc>& arcs, ChunkId chunk) {
    const Label from = labels_[node.index()];
    for (const Arc& arc : std::span(arcs).subspan(graph_.first_out(node), graph_.out(node).size())) {
        const std::size_t to = arc.to.index();
        if (in_tree_[to] == tree_ || !graph_.instance().may_carry(arc.to, collective_)) continue;
        const Label& old = labels_[to];
        const bool known = old.search == search_;
        const Ticks charge = arc.transit * per_hop_;
        if (known && old.cost <= from.cost + arc.transit * per_tick_ + charge) continue;
        const Ticks start = arc.rigid ? calendar_.earliest(graph_, arc.hop, chunk, from.arrival)
                                      : calendar_.earliest(arc.link, from.arrival, arc.busy);
        const Ticks arrival = start + arc.transit;
        if (arrival > deadline_ || (known && old.settled && arrival > old.arrival)) continue;
        const Ticks cost = from.cost + (arrival - from.arrival) * per_tick_ + charge;
        if (!known || cost < old.cost) enter(arc.to, arrival, cost, arc.hop);
    }
}

/// Books the path from the tree to the target. Returns its arrival, which is not after the label's unless
/// this tree's earlier paths delay it; none if it is after the deadline.
std::optional<Ticks> TimedGrowth::book_path(ChunkId chunk, NodeId target, std::vector<Transfer>& transfers) {
    path_.clear();
    NodeId root = target;
    for (; in_tree_[root.index()] != tree_; root = graph_.hop(path_.back()).from) {
        path_.push_back(labels_[root.index()].by);
    }
    std::ranges::reverse(path_);
    Ticks at = labels_[root.index()].arrival;
    planned_.clear();
    for (const HopId id : path_) {
        const Ticks start = calendar_.earliest(graph_, id, chunk, at);
        planned_.push_back({id, chunk, start});
        at = start + graph_.transit(id, chunk);
    }
    if (at > deadline_) return std::nullopt;
    stale_ = false;
    for (const Transfer& transfer : planned_) {
        calendar_.book(graph_, transfer.hop, chunk, transfer.start);
        transfers.push_back(transfer);
        const Hop hop = graph_.hop(transfer.hop);
        const Ticks arrival = transfer.start + graph_.transit(transfer.hop, chunk);
        if (graph_.branches(hop.to)) {
            join(hop.to, arrival);
            enter(hop.to, arrival, arrival * per_tick_, HopId{});
        } else {
            stale_ = true;  // the next path through this switch needs its own copy
        }
        if (hop.legs.size() > 1) stale_ = true;
    }
    makespan_ = std::max(makespan_, at);
    return at;
}

}  // namespace tutti::heuristics

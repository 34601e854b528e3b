#include "heuristics/ring/ring_plan.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::heuristics {

RingPlan::RingPlan(const Instance& instance)
    : instance_(instance),
      graph_(instance),
      paths_(graph_),
      // Two copies that meet in a switch that holds nothing might leave in each other's place.
      both_ways_(graph_.is_simple()),
      rank_(instance.topology().npus()),
      roots_(instance.chunks()),
      ends_(instance.chunks()) {
    rank_npus();
    choose_roots();
}

void RingPlan::rank_npus() {
    std::vector<bool> seen(graph_.nodes(), false);
    std::vector<NodeId> open;
    std::uint32_t next = 0;
    for (std::size_t first = 0; first < rank_.size(); ++first) {
        open.emplace_back(first);
        while (!open.empty()) {
            const NodeId at = open.back();
            open.pop_back();
            if (seen[at.index()]) continue;
            seen[at.index()] = true;
            if (at.index() < rank_.size()) rank_[at.index()] = next++;
            const auto out = graph_.out(at);
            for (std::size_t i = out.size(); i-- > 0;) {
                if (!seen[out[i].node.index()]) open.push_back(out[i].node);
            }
        }
    }
}

bool RingPlan::reduces(ChunkId chunk) const {
    const DemandList& demands = instance_.demands();
    return demands.is_reduction(chunk) && demands.set(demands.holder_set(chunk)).size() > 1;
}

void RingPlan::choose_roots() {
    std::vector<std::size_t> turns(instance_.collectives().size(), 0);
    for (std::size_t c = 0; c < roots_.size(); ++c) {
        const Demand demand = instance_.demand(ChunkId(c));
        // Receivers are roots in rotation, so that none sums up more than its share.
        roots_[c] = reduces(ChunkId(c))
                        ? demand.receivers[turns[demand.collective.index()]++ % demand.receivers.size()]
                        : demand.holders.front();
    }
}

std::uint32_t RingPlan::place_after(const Ring& ring, NodeId node) const {
    const auto rank = [&](NodeId npu) { return rank_[npu.index()]; };
    const auto after = std::ranges::upper_bound(ring.order, rank(node), {}, rank);
    return after == ring.order.end() ? 0 : static_cast<std::uint32_t>(after - ring.order.begin());
}

std::optional<std::uint32_t> RingPlan::place_of(const Ring& ring, NodeId node) const {
    const auto size = static_cast<std::uint32_t>(ring.order.size());
    const std::uint32_t before = (place_after(ring, node) + size - 1) % size;
    return ring.order[before] == node ? std::optional(before) : std::nullopt;
}

std::uint32_t RingPlan::ring_of(std::uint32_t set, CollectiveId collective) {
    const bool restricted = instance_.collective(collective).forwarding == Forwarding::Group;
    const auto number = static_cast<std::uint32_t>(rings_.size());
    const auto [entry, is_new] = numbers_.try_emplace({set, restricted ? collective.value() + 1 : 0}, number);
    if (!is_new) return entry->second;
    Ring& ring = rings_.emplace_back();
    const auto members = instance_.demands().set(set);
    ring.order.assign(members.begin(), members.end());
    std::ranges::sort(ring.order, {}, [&](NodeId npu) { return rank_[npu.index()]; });
    const std::size_t size = ring.order.size();
    for (std::size_t i = 0; i < size && size > 1; ++i) {
        ring.onward.push_back(paths_.request(collective, ring.order[i], ring.order[(i + 1) % size]));
        if (both_ways_)
            ring.back.push_back(paths_.request(collective, ring.order[i], ring.order[(i + size - 1) % size]));
    }
    return number;
}

void RingPlan::plan(ChunkId chunk) {
    const DemandList& demands = instance_.demands();
    const Demand demand = instance_.demand(chunk);
    const NodeId root = roots_[chunk.index()];
    Ends& ends = ends_[chunk.index()];
    if (reduces(chunk)) {
        ends.holders = ring_of(demands.holder_set(chunk), demand.collective);
        const Ring& ring = rings_[ends.holders];
        const std::size_t size = ring.order.size();
        const NodeId last = ring.order[(place_after(ring, root) + size - 1) % size];
        if (last != root) ends.to_root = paths_.request(demand.collective, last, root);
    }
    const auto has_it = [&](NodeId npu) {
        return npu == root || (!demand.reduction && std::ranges::binary_search(demand.holders, npu));
    };
    if (std::ranges::all_of(demand.receivers, has_it)) return;
    ends.receivers = ring_of(demands.receiver_set(chunk), demand.collective);
    const Ring& ring = rings_[ends.receivers];
    if (!place_of(ring, root))
        ends.to_receiver = paths_.request(demand.collective, root, ring.order[place_after(ring, root)]);
}

std::string RingPlan::find(const Stop& stop) {
    for (std::size_t c = 0; c < instance_.chunks(); ++c) {
        if ((c & 1023U) == 0 && stop.requested()) return "stopped";
        plan(ChunkId(c));
    }
    if (!paths_.find(stop))
        return stop.requested() ? "stopped" : "an NPU of a group has no path to the next one";
    look_for_npus_on_paths();
    return {};
}

void RingPlan::look_for_npus_on_paths() {
    const auto passes = [&](RingPaths::PathId id) {
        const auto hops = id == RingStep::kNone ? std::span<const HopId>() : paths_.path(id);
        return hops.size() > 1 && std::ranges::any_of(hops.first(hops.size() - 1), [&](HopId hop) {
                   return instance_.topology().is_npu(graph_.to(hop));
               });
    };
    std::vector<bool> looked(rings_.size(), false);
    for (const Ends& ends : ends_) {
        if (ends.holders == RingStep::kNone || passes_npus_) continue;
        passes_npus_ = passes(ends.to_root);
        if (looked[ends.holders]) continue;
        looked[ends.holders] = true;
        passes_npus_ = passes_npus_ || std::ranges::any_of(rings_[ends.holders].onward, passes);
    }
}

NodeId RingPlan::first_holder(ChunkId chunk) const {
    const Ring& ring = rings_[ends_[chunk.index()].holders];
    return ring.order[place_after(ring, roots_[chunk.index()])];
}

RingStep RingPlan::reduction(ChunkId chunk) const {
    expects(reduces(chunk));
    const Ends& ends = ends_[chunk.index()];
    const Ring& ring = rings_[ends.holders];
    RingStep step;
    step.ring = ends.holders;
    step.place = place_after(ring, roots_[chunk.index()]);
    step.left = static_cast<std::uint32_t>(ring.order.size() - 1);
    step.to_root = ends.to_root != RingStep::kNone;
    return step;
}

std::vector<RingStep> RingPlan::distribution(ChunkId chunk) const {
    const Ends& ends = ends_[chunk.index()];
    if (ends.receivers == RingStep::kNone) return {};
    const Ring& ring = rings_[ends.receivers];
    const auto others = static_cast<std::uint32_t>(ring.order.size() - 1);
    RingStep onward;
    onward.ring = ends.receivers;
    onward.left = others;
    const auto place = place_of(ring, roots_[chunk.index()]);
    if (!place) {
        onward.place = place_after(ring, roots_[chunk.index()]);
        onward.path = ends.to_receiver;
        return {onward};
    }
    onward.place = *place;
    if (!both_ways_ || others < 2) return {onward};
    RingStep back = onward;
    back.backwards = true;
    back.left = others / 2;
    onward.left = others - back.left;
    return {onward, back};
}

std::optional<RingStep> RingPlan::next(ChunkId chunk, const RingStep& step) const {
    RingStep result = step;
    if (step.left > 0) {
        const Ring& ring = rings_[step.ring];
        const auto size = static_cast<std::uint32_t>(ring.order.size());
        result.path = step.backwards ? ring.back[step.place] : ring.onward[step.place];
        result.place = (step.place + (step.backwards ? size - 1 : 1)) % size;
        --result.left;
        return result;
    }
    if (!step.to_root) return std::nullopt;
    result.to_root = false;
    result.path = ends_[chunk.index()].to_root;
    return result;
}

}  // namespace tutti::heuristics

// Into an NPU v leads a link from each neighbour u. A chunk is at u no sooner than the distance from its
// holder says, so the distances of all nodes to each u are all that the ingress of v needs; and after its
// arrival nothing is left to do. The egress is the same backwards.

#include "bounds/port_rating.hpp"

#include <algorithm>

namespace tutti::bounds {

bool must_pass(const Demand& demand, Port port, NodeId npu) {
    const bool only = demand.holders.size() == 1;
    if (port == Port::Ingress) {
        if (!std::ranges::binary_search(demand.receivers, npu)) return false;
        return (demand.reduction && !only) || !std::ranges::binary_search(demand.holders, npu);
    }
    if (!demand.reduction && !only) return false;
    const bool only_itself = demand.receivers.size() == 1 && demand.receivers[0] == npu;
    return !only_itself && std::ranges::binary_search(demand.holders, npu);
}

std::span<const LinkId> PortRater::links(NodeId npu) const {
    const Topology& topology = traffic_->topology();
    return port_ == Port::Ingress ? topology.in_links(npu) : topology.out_links(npu);
}

std::size_t PortRater::work(NodeId npu, std::size_t classes) const {
    // Neighbours' tables are shared with their other neighbours, where they are kept.
    const std::size_t degree = links(npu).size();
    return (traffic_->huge() ? degree : 2) * traffic_->topology().links().size() +
           (port_ == Port::Ingress ? classes : classes + traffic_->topology().npus()) * (degree + 1);
}

void PortRater::find_tables(const ChunkClass& c, std::span<const LinkId> links) {
    const Topology& topology = traffic_->topology();
    tables_.clear();
    scratch_.resize(links.size());
    for (std::size_t e = 0; e < links.size(); ++e) {
        const Link& link = topology.link(links[e]);
        const NodeId end = port_ == Port::Ingress ? link.src : link.dst;
        if (!traffic_->passage(c).admits(end)) {
            scratch_[e].assign(topology.nodes(), kNever);
        } else if (traffic_->huge()) {
            scratch_[e] = distances(traffic_->passage(c), std::span(&end, 1),
                                    port_ == Port::Ingress ? Direction::Backwards : Direction::Forwards);
        } else {
            tables_.push_back(port_ == Port::Ingress ? &traffic_->to(c, end) : &traffic_->from(c, end));
            continue;
        }
        tables_.push_back(&scratch_[e]);
    }
}

void PortRater::find_heads(const ChunkClass& c, NodeId npu, const Crossing& crossing) {
    const Demand demand = traffic_->demand(c);
    const auto release = [&](NodeId holder) { return traffic_->release(c, holder); };
    head_.assign(tables_.size(), kNever);
    if (!demand.reduction) {
        for (std::size_t e = 0; e < tables_.size(); ++e) {
            for (const NodeId holder : demand.holders) {
                head_[e] = std::min(head_[e], sum(release(holder), (*tables_[e])[holder.index()]));
            }
        }
        return;
    }
    // One contribution from elsewhere must come, and we may choose which: the last.
    Ticks latest(-1);
    for (const NodeId holder : demand.holders) {
        if (holder == npu) continue;
        trial_.clear();
        for (const auto* table : tables_) trial_.push_back(sum(release(holder), (*table)[holder.index()]));
        const Ticks soonest = crossing.soonest(traffic_->passage(c), trial_);
        if (soonest <= latest) continue;
        latest = soonest;
        head_.swap(trial_);
    }
}

void PortRater::find_rests(const ChunkClass& c, NodeId npu) {
    const Passage& passage = traffic_->passage(c);
    const auto out_links = links(npu);
    Ticks longest(-1);
    for (const NodeId receiver : traffic_->demand(c).receivers) {
        if (receiver == npu) continue;
        trial_.clear();
        for (std::size_t e = 0; e < tables_.size(); ++e) {
            const std::size_t l = out_links[e].index();
            const Ticks onward = sum(passage.step[l], (*tables_[e])[receiver.index()]);
            trial_.push_back(std::max(passage.transit[l], onward));
        }
        const Ticks remaining = trial_.empty() ? kNever : *std::ranges::min_element(trial_);
        if (remaining <= longest) continue;
        longest = remaining;
        rest_.swap(trial_);
    }
}

std::optional<Rating> PortRater::exact(NodeId npu, std::span<const ChunkClass* const> passing, Ticks above) {
    const auto port_links = links(npu);
    Crossing crossing(*traffic_, port_links);
    const ChunkClass* last = nullptr;
    for (const ChunkClass* c : passing) {
        const Demand demand = traffic_->demand(*c);
        const bool same_passage = last != nullptr && last->passage == c->passage;
        if (!same_passage) find_tables(*c, port_links);
        const auto release = [&](const ChunkClass& of) {
            return port_ == Port::Ingress ? traffic_->release(of) : traffic_->release(of, npu);
        };
        const bool same_release = same_passage && release(*last) == release(*c);
        const auto same = [&](std::span<const NodeId> Demand::*set) {
            return same_release && traffic_->demand(*last).reduction == demand.reduction &&
                   (traffic_->demand(*last).*set).data() == (demand.*set).data();
        };
        if (port_ == Port::Ingress) {
            if (!same(&Demand::holders)) find_heads(*c, npu, crossing);
            if (!same_passage) {
                rest_.clear();
                for (const LinkId id : port_links) {
                    const bool admits = traffic_->passage(*c).admits(traffic_->topology().link(id).src);
                    rest_.push_back(admits ? traffic_->passage(*c).transit[id.index()] : kNever);
                }
            }
        } else {
            if (!same(&Demand::receivers)) find_rests(*c, npu);
            if (!same_release) {
                head_.clear();
                for (const LinkId id : port_links) {
                    const bool admits = traffic_->passage(*c).admits(traffic_->topology().link(id).dst);
                    head_.push_back(admits ? release(*c) : kNever);
                }
            }
        }
        crossing.add(*c, head_, rest_);
        last = c;
    }
    return crossing.best(port_ == Port::Ingress ? Sense::Forwards : Sense::Backwards, above);
}

}  // namespace tutti::bounds

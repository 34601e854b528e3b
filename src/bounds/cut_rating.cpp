// A chunk without holder inside a set and with a receiver there must be sent into it at least once; of a
// reduction one contribution from outside must. It starts on the link e no sooner than it can be at the
// link's source, and no later than it still can get from there to its receiver. crossing.cpp says what that
// proves.

#include "bounds/cut_rating.hpp"

#include "core/expects.hpp"

#include <algorithm>

namespace tutti::bounds {

Cut::Cut(const Topology& topology, std::vector<bool> set) : inside(std::move(set)) {
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const Link& link = topology.link(LinkId(l));
        if (!inside[link.src.index()] && inside[link.dst.index()]) entering.emplace_back(l);
    }
}

Bound bound_of(const Rating& rating, std::string kind, const Cut& cut) {
    const auto count = static_cast<std::size_t>(std::ranges::count(cut.inside, true));
    CutCertificate certificate;
    certificate.complement = count * 2 > cut.inside.size();
    for (std::size_t n = 0; n < cut.inside.size(); ++n) {
        if (cut.inside[n] != certificate.complement) certificate.inside.emplace_back(n);
    }
    certificate.backwards = rating.backwards;
    certificate.transfers = rating.transfers;
    certificate.earliest = rating.earliest;
    certificate.bytes = rating.bytes;
    return {std::move(kind), rating.value, std::move(certificate), 0};
}

namespace {

/// Whether chunks with a receiver inside have to be sent into the set.
bool must_come(const Demand& demand, const std::vector<bool>& inside) {
    const auto in = [&](NodeId node) { return inside[node.index()]; };
    return demand.reduction ? !std::ranges::all_of(demand.holders, in)
                            : std::ranges::none_of(demand.holders, in);
}

}  // namespace

bool must_enter(const Demand& demand, const std::vector<bool>& inside) {
    const auto in = [&](NodeId node) { return inside[node.index()]; };
    return std::ranges::any_of(demand.receivers, in) && must_come(demand, inside);
}

void CutRater::find_heads(const Cut& cut, const ChunkClass& c, Ticks release,
                          const std::vector<Ticks>& from) {
    const Topology& topology = traffic_->topology();
    const Passage& passage = traffic_->passage(c);
    trial_.clear();
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        trial_.push_back(passage.admits(link.dst) ? sum(release, from[link.src.index()]) : kNever);
    }
}

void CutRater::find_rests(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& to) {
    const Topology& topology = traffic_->topology();
    const Passage& passage = traffic_->passage(c);
    trial_.clear();
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        const Ticks onward = sum(passage.step[id.index()], to[link.dst.index()]);
        trial_.push_back(passage.admits(link.src) ? std::max(passage.transit[id.index()], onward) : kNever);
    }
}

void CutRater::add(const Cut& cut, const ChunkClass& c, Crossing& crossing) {
    const Demand demand = traffic_->demand(c);
    Ticks soonest(-1), remaining(-1);
    const auto look_from = [&](Ticks release, const std::vector<Ticks>& from) {
        find_heads(cut, c, release, from);
        const Ticks trial = crossing.soonest(traffic_->passage(c), trial_);
        if (trial <= soonest) return;
        soonest = trial;
        head_.swap(trial_);
    };
    if (demand.reduction) {
        for (const NodeId holder : demand.holders) {
            if (!cut.inside[holder.index()])
                look_from(traffic_->release(c, holder), traffic_->from(c, holder));
        }
    } else if (traffic_->instance().is_staggered(c.chunk)) {
        head_.assign(cut.entering.size(), kNever);
        for (const NodeId holder : demand.holders) {
            find_heads(cut, c, traffic_->release(c, holder), traffic_->from(c, holder));
            for (std::size_t e = 0; e < head_.size(); ++e) head_[e] = std::min(head_[e], trial_[e]);
        }
    } else {
        look_from(traffic_->release(c), traffic_->from(c, demand.holders));
    }
    for (const NodeId receiver : demand.receivers) {
        if (!cut.inside[receiver.index()]) continue;
        find_rests(cut, c, traffic_->to(c, receiver));
        const Ticks trial = trial_.empty() ? kNever : *std::ranges::min_element(trial_);
        if (trial <= remaining) continue;
        remaining = trial;
        rest_.swap(trial_);
    }
    crossing.add(c, head_, rest_);
}

std::size_t CutRater::work(const Cut& cut, std::span<const ChunkClass* const> entering) const {
    std::size_t trials = 0;
    for (const ChunkClass* c : entering) {
        const Demand demand = traffic_->demand(*c);
        trials += 2 + demand.receivers.size() + (demand.reduction ? demand.holders.size() : 0);
    }
    return trials * (cut.entering.size() + 1);
}

std::optional<Rating> CutRater::exact(const Cut& cut, std::span<const ChunkClass* const> entering,
                                      Sense sense, Ticks above) {
    expects(!traffic_->huge());
    Crossing crossing(*traffic_, cut.entering);
    for (const ChunkClass* c : entering) add(cut, *c, crossing);
    return crossing.best(sense, above);
}

std::optional<Rating> CutRater::rough(const Cut& cut, Ticks above) const {
    const Topology& topology = traffic_->topology();
    std::vector<bool> from_here(topology.nodes(), false), to_here(topology.nodes(), false);
    std::uint64_t transfers = 0;
    Ticks release = kNever;
    Bytes bytes{INT64_MAX};
    const NodeId *last_from = nullptr, *last_to = nullptr, *looked_at = nullptr;
    bool wanted = false;  // by one of the receivers that were looked at last
    for (const ChunkClass& c : traffic_->classes()) {
        const Demand demand = traffic_->demand(c);
        if (demand.receivers.data() != looked_at) {
            looked_at = demand.receivers.data();
            wanted = std::ranges::any_of(demand.receivers, [&](NodeId n) { return cut.inside[n.index()]; });
        }
        if (!wanted || !must_come(demand, cut.inside)) continue;
        transfers += c.count;
        release = std::min(release, traffic_->release(c));
        bytes = std::min(bytes, demand.bytes);
        if (demand.holders.data() != last_from) {
            for (const NodeId node : demand.holders) from_here[node.index()] = !cut.inside[node.index()];
        }
        if (demand.receivers.data() != last_to) {
            for (const NodeId node : demand.receivers) to_here[node.index()] = cut.inside[node.index()];
        }
        last_from = demand.holders.data();
        last_to = demand.receivers.data();
    }
    if (transfers == 0) return std::nullopt;
    std::vector<NodeId> sources, targets;
    for (std::size_t n = 0; n < topology.nodes(); ++n) {
        if (from_here[n]) sources.emplace_back(n);
        if (to_here[n]) targets.emplace_back(n);
    }
    std::optional<Passage> made;
    if (bytes != traffic_->smallest().bytes) made.emplace(traffic_->instance(), bytes);
    const Passage& other = made ? *made : traffic_->smallest();
    const auto from = distances(other, sources, Direction::Forwards);
    const auto to = distances(other, targets, Direction::Backwards);
    std::vector<LinkWindow> windows;
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        const std::size_t l = id.index();
        windows.push_back({sum(release, from[link.src.index()]),
                           std::max(other.transit[l], sum(other.step[l], to[link.dst.index()])),
                           other.busy[l]});
    }
    if (enough(windows, Wide{transfers}, above)) return std::nullopt;
    const auto end = least_end(windows, Wide{transfers});
    if (!end) return std::nullopt;
    return Rating{*end, false, transfers, Ticks(0), bytes};
}

}  // namespace tutti::bounds

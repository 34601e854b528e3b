// A chunk without holder inside a set and with a receiver there must be sent into it at least once; of a
// reduction one contribution from outside must. It starts on the link e no sooner than it can be at the
// link's source, and no later than it still can get from there to its receiver. Of any collection C of such
// chunks, link e therefore starts at most room(first, last, busy) ones, first and last being the extremes
// over C. Larger C means more transfers, smaller C tighter times; so chunks are added in order of falling
// earliest arrival (or, backwards, of falling remaining time) and each prefix is rated. The same for each
// size as the least that counts.

#include "bounds/cut_rating.hpp"

#include <algorithm>

namespace tutti::bounds {

Cut::Cut(const Topology& topology, std::vector<bool> set) : inside(std::move(set)) {
    for (std::size_t l = 0; l < topology.links().size(); ++l) {
        const Link& link = topology.link(LinkId(l));
        if (!inside[link.src.index()] && inside[link.dst.index()]) entering.emplace_back(l);
    }
}

Bound Rating::bound(std::string kind, const Cut& cut) const {
    const auto count = static_cast<std::size_t>(std::ranges::count(cut.inside, true));
    CutCertificate certificate;
    certificate.complement = count * 2 > cut.inside.size() || kind == "egress";
    for (std::size_t n = 0; n < cut.inside.size(); ++n) {
        if (cut.inside[n] != certificate.complement) certificate.inside.emplace_back(n);
    }
    certificate.backwards = backwards;
    certificate.transfers = transfers;
    certificate.earliest = earliest;
    certificate.bytes = bytes;
    return {std::move(kind), value, std::move(certificate), 0};
}

bool must_enter(const Demand& demand, const std::vector<bool>& inside) {
    const auto in = [&](NodeId node) { return inside[node.index()]; };
    if (std::ranges::none_of(demand.receivers, in)) return false;
    return demand.reduction ? !std::ranges::all_of(demand.holders, in)
                            : std::ranges::none_of(demand.holders, in);
}

void CutRater::heads(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& from,
                     std::vector<Ticks>& head) const {
    const Topology& topology = traffic_->topology();
    const Passage& passage = traffic_->passage(c);
    const Ticks release = traffic_->release(c);
    head.clear();
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        head.push_back(passage.admits(link.dst) ? sum(release, from[link.src.index()]) : kNever);
    }
}

void CutRater::rests(const Cut& cut, const ChunkClass& c, const std::vector<Ticks>& to,
                     std::vector<Ticks>& rest) const {
    const Topology& topology = traffic_->topology();
    const Passage& passage = traffic_->passage(c);
    rest.clear();
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        const Ticks onward = sum(passage.step[id.index()], to[link.dst.index()]);
        rest.push_back(passage.admits(link.src) ? std::max(passage.transit[id.index()], onward) : kNever);
    }
}

void CutRater::add_row(const Cut& cut, const ChunkClass& c) {
    const Demand demand = traffic_->demand(c);
    const Passage& passage = traffic_->passage(c);
    Row row{&c, demand.bytes, Ticks(-1), Ticks(-1), head_.size()};
    const auto look_from = [&](const std::vector<Ticks>& from) {
        heads(cut, c, from, trial_);
        Ticks soonest = kNever;
        for (std::size_t e = 0; e < trial_.size(); ++e) {
            soonest = std::min(soonest, sum(trial_[e], passage.transit[cut.entering[e].index()]));
        }
        if (soonest <= row.soonest) return;
        row.soonest = soonest;
        best_trial_.swap(trial_);
    };
    if (demand.reduction) {
        for (const NodeId holder : demand.holders) {
            if (!cut.inside[holder.index()]) look_from(traffic_->from(c, holder));
        }
    } else {
        look_from(traffic_->from(c, demand.holders));
    }
    head_.insert(head_.end(), best_trial_.begin(), best_trial_.end());
    for (const NodeId receiver : demand.receivers) {
        if (!cut.inside[receiver.index()]) continue;
        rests(cut, c, traffic_->to(c, receiver), trial_);
        const Ticks remaining = trial_.empty() ? kNever : *std::ranges::min_element(trial_);
        if (remaining <= row.remaining) continue;
        row.remaining = remaining;
        best_trial_.swap(trial_);
    }
    rest_.insert(rest_.end(), best_trial_.begin(), best_trial_.end());
    rows_.push_back(row);
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
    rows_.clear();
    head_.clear();
    rest_.clear();
    std::vector<Bytes> sizes;
    for (const ChunkClass* c : entering) {
        add_row(cut, *c);
        if (sizes.empty() || sizes.back() != rows_.back().bytes) sizes.push_back(rows_.back().bytes);
    }
    std::ranges::sort(sizes);
    sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
    std::optional<Rating> best;
    for (const Bytes bytes : sizes) {
        if (sense != Sense::Backwards) sweep(cut, bytes, false, best, above);
        if (sense != Sense::Forwards) sweep(cut, bytes, true, best, above);
    }
    return best;
}

void CutRater::sweep(const Cut& cut, Bytes bytes, bool backwards, std::optional<Rating>& best, Ticks& above) {
    const auto key = [&](const Row& row) { return backwards ? row.remaining : row.soonest; };
    std::ranges::stable_sort(rows_, std::ranges::greater{}, key);
    rooms_.clear();
    for (const LinkId id : cut.entering) {
        const Ticks beta = traffic_->topology().beta(id, bytes);
        rooms_.push_back({kNever, kNever, traffic_->instance().busy(id, beta)});
    }
    std::uint64_t transfers = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const Row& row = rows_[i];
        if (row.bytes >= bytes) {
            transfers += row.chunks->count;
            for (std::size_t e = 0; e < rooms_.size(); ++e) {
                rooms_[e].first = std::min(rooms_[e].first, head_[row.at + e]);
                rooms_[e].last = std::min(rooms_[e].last, rest_[row.at + e]);
            }
        }
        if (i + 1 < rows_.size() && key(rows_[i + 1]) == key(row)) continue;
        if (transfers == 0 || enough(rooms_, Wide{transfers}, above)) continue;
        const auto end = least_end(rooms_, Wide{transfers});
        if (!end) continue;
        above = *end;
        best = Rating{*end, backwards, transfers, key(row), bytes};
    }
}

std::optional<Rating> CutRater::rough(const Cut& cut, Ticks above) const {
    const Topology& topology = traffic_->topology();
    std::vector<bool> from_here(topology.nodes(), false), to_here(topology.nodes(), false);
    std::uint64_t transfers = 0;
    Ticks release = kNever;
    Bytes bytes{INT64_MAX};
    const NodeId *last_from = nullptr, *last_to = nullptr;
    for (const ChunkClass& c : traffic_->classes()) {
        const Demand demand = traffic_->demand(c);
        if (!must_enter(demand, cut.inside)) continue;
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
    const Passage other(traffic_->instance(), bytes);
    const auto from = distances(other, sources, Direction::Forwards);
    const auto to = distances(other, targets, Direction::Backwards);
    std::vector<Room> rooms;
    for (const LinkId id : cut.entering) {
        const Link& link = topology.link(id);
        const std::size_t l = id.index();
        rooms.push_back({sum(release, from[link.src.index()]),
                         std::max(other.transit[l], sum(other.step[l], to[link.dst.index()])),
                         other.busy[l]});
    }
    if (enough(rooms, Wide{transfers}, above)) return std::nullopt;
    const auto end = least_end(rooms, Wide{transfers});
    if (!end) return std::nullopt;
    return Rating{*end, false, transfers, Ticks(0), bytes};
}

}  // namespace tutti::bounds

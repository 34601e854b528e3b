// Where to look for bad cuts.
//
// For one receiver v, the set S that contains v and maximises (chunks that v wants and whose holder is
// outside S) / (speed of the links into S) is found by Newton's method on maximum flows: give the links their
// speeds times the chunks of the best ratio so far, and from a source feed each holder with its chunks times
// that ratio's speed. If all of it flows to v, no set beats the ratio; else the minimum cut is a set that
// does. Starting from the best ratio over all receivers, most receivers cost one flow. For one source the
// same backwards. Chunks with several holders (or receivers) are left out, or counted for one of them: this
// only chooses sets, cut_rating says what they prove. For the same reason speeds may be rounded.
//
// A demand of all to all has no single receiver that tells; its bad cuts are mostly regular. So tried are
// also blocks of the numbering (generators number nodes by dimension, so that these are halves and planes of
// a torus, nodes and rails of a cluster) and balls around some nodes. Before them come the parts that the
// network itself suggests (parts.cpp): the way into a node or a leaf with its switches, and out of it.

#include "bounds/cut_search.hpp"

#include "bounds/cut_rating.hpp"
#include "bounds/max_flow.hpp"
#include "bounds/parts.hpp"

#include <algorithm>

namespace tutti::bounds {
namespace {

constexpr std::size_t kFlowWorkLimit = 100'000'000;
constexpr std::size_t kMostPairs =
    8'000'000;  ///< of a chunk class and its receiver (or holder), kept in memory
constexpr std::int64_t kTopSpeed = 1'000'000;
constexpr std::size_t kMostBallCentres = 12;
constexpr std::size_t kMostBlockSets = 200;

std::vector<bool> complement(std::vector<bool> set) {
    set.flip();
    return set;
}

/// Puts each switch on the side of most of its links, so that they are not cut without need.
std::vector<bool> with_switches(const Topology& topology, std::vector<bool> inside) {
    std::vector<std::int64_t> lean(topology.nodes(), 0);
    for (std::size_t n = 0; n < topology.npus(); ++n) lean[n] = inside[n] ? 1 : -1;
    const std::size_t rounds = topology.switches() > 0 ? 4 : 0;
    for (std::size_t round = 0; round < rounds; ++round) {
        for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) {
            std::int64_t votes = 0;
            for (const LinkId id : topology.in_links(NodeId(n))) votes += lean[topology.link(id).src.index()];
            lean[n] = votes > 0 ? 1 : votes < 0 ? -1 : 0;
        }
    }
    for (std::size_t n = topology.npus(); n < topology.nodes(); ++n) inside[n] = lean[n] > 0;
    return inside;
}

bool visit_both(const CutVisit& visit, const std::vector<bool>& set) {
    return visit(set) && visit(complement(set));
}

bool visit_parts(const Traffic& traffic, const Stop& stop, const CutVisit& visit) {
    Suspects parts = suspects(traffic, stop);
    for (auto& inside : parts.entered) {
        if (!visit(std::move(inside))) return false;
    }
    for (auto& outside : parts.left) {
        if (!visit(complement(std::move(outside)))) return false;
    }
    return true;
}

bool visit_balls(const Traffic& traffic, const CutVisit& visit) {
    const Topology& topology = traffic.topology();
    const std::size_t centres = std::min<std::size_t>(kMostBallCentres, topology.npus());
    for (std::size_t i = 0; i < centres; ++i) {
        const NodeId centre(i * topology.npus() / centres);
        const auto links = link_counts(traffic.smallest(), std::span(&centre, 1));
        std::uint32_t farthest = 0;
        for (const std::uint32_t count : links) {
            if (count != UINT32_MAX) farthest = std::max(farthest, count);
        }
        const std::uint32_t step = farthest / 16 + 1;
        for (std::uint32_t radius = step; radius < farthest; radius += step) {
            std::vector<bool> inside(topology.nodes());
            for (std::size_t n = 0; n < inside.size(); ++n) inside[n] = links[n] <= radius;
            if (!visit_both(visit, inside)) return false;
        }
    }
    return true;
}

/// The search by maximum flows, for receivers or (the network reversed) for sources.
class RatioSearch {
  public:
    RatioSearch(const Traffic& traffic, bool sources, const CutVisit& visit)
        : traffic_(traffic), sources_(sources), visit_(visit), flow_(traffic.topology().nodes() + 1) {
        const Topology& topology = traffic.topology();
        terminal_ = topology.nodes();
        const auto& busy = traffic.smallest().busy;
        const Ticks fastest = *std::ranges::min_element(busy);
        for (std::size_t l = 0; l < busy.size(); ++l) {
            const Link& link = topology.link(LinkId(l));
            const std::int64_t speed = static_cast<std::int64_t>(static_cast<double>(kTopSpeed) *
                                                                 static_cast<double>(fastest.count()) /
                                                                 static_cast<double>(busy[l].count()));
            speed_.push_back(std::max<std::int64_t>(speed, 1));
            (void)flow_.add_arc(end(link, sources_).index(), end(link, !sources_).index(), 0);
        }
        for (std::size_t n = 0; n < topology.npus(); ++n) (void)flow_.add_arc(terminal_, n, 0);
        wants_.resize(topology.npus());
        for (const ChunkClass& c : traffic.classes()) add(c);
    }

    void run(const Stop& stop) {
        std::vector<std::int64_t> speed_of(traffic_.topology().nodes(), 0);
        for (std::size_t l = 0; l < speed_.size(); ++l) {
            speed_of[end(traffic_.topology().link(LinkId(l)), !sources_).index()] += speed_[l];
        }
        for (std::size_t n = 0; n < wants_.size(); ++n) {
            const Ratio own{total(n), speed_of[n]};
            if (own.speed > 0 && own.beats(best_)) best_ = own;
        }
        // Products of chunks and speeds must fit into 64 bits.
        const double largest = static_cast<double>(kTopSpeed) * static_cast<double>(speed_.size());
        for (std::size_t n = 0; n < wants_.size(); ++n) {
            if (wants_[n].empty()) continue;
            if (largest * static_cast<double>(std::max(total(n), best_.chunks)) > 4e18) continue;
            if (flow_.work() > kFlowWorkLimit || stop.requested()) return;
            if (!improve(n)) return;
        }
    }

  private:
    struct Ratio {
        std::int64_t chunks = 0;
        std::int64_t speed = 1;
        [[nodiscard]] bool beats(const Ratio& other) const {
            return static_cast<double>(chunks) * static_cast<double>(other.speed) >
                   static_cast<double>(other.chunks) * static_cast<double>(speed) * (1 + 1e-9);
        }
    };

    static NodeId end(const Link& link, bool dst) { return dst ? link.dst : link.src; }

    void add(const ChunkClass& c) {
        const Demand demand = traffic_.demand(c);
        const auto here = sources_ ? demand.holders : demand.receivers;
        const auto there = sources_ ? demand.receivers : demand.holders;
        const bool only_holder = demand.reduction || demand.holders.size() == 1;
        if (!only_holder) return;
        for (const NodeId node : here) {
            if (there.size() == 1 || sources_ || demand.reduction) {
                const NodeId partner = there.front() != node ? there.front() : there.back();
                if (partner != node) wants_[node.index()].emplace_back(partner, c.count);
            }
        }
    }

    [[nodiscard]] std::int64_t total(std::size_t node) const {
        std::int64_t sum = 0;
        for (const auto& [partner, count] : wants_[node]) sum += static_cast<std::int64_t>(count);
        return sum;
    }

    /// Newton's method for one node; false when the visitor has had enough.
    bool improve(std::size_t node) {
        std::vector<std::int64_t> chunks(traffic_.topology().npus(), 0);
        for (const auto& [partner, count] : wants_[node]) {
            chunks[partner.index()] += static_cast<std::int64_t>(count);
        }
        const std::int64_t all = total(node);
        while (true) {
            for (std::size_t l = 0; l < speed_.size(); ++l)
                flow_.set_capacity(2 * l, speed_[l] * best_.chunks);
            for (std::size_t n = 0; n < chunks.size(); ++n) {
                flow_.set_capacity(2 * (speed_.size() + n), chunks[n] * best_.speed);
            }
            if (flow_.flow(terminal_, node) >= all * best_.speed) return true;
            std::vector<bool> cut_off(traffic_.topology().nodes());
            for (std::size_t n = 0; n < cut_off.size(); ++n) cut_off[n] = flow_.cut_off(n);
            Ratio found{all, 0};
            for (std::size_t n = 0; n < chunks.size(); ++n) found.chunks -= cut_off[n] ? chunks[n] : 0;
            for (std::size_t l = 0; l < speed_.size(); ++l) {
                const Link& link = traffic_.topology().link(LinkId(l));
                const bool enters =
                    !cut_off[end(link, sources_).index()] && cut_off[end(link, !sources_).index()];
                found.speed += enters ? speed_[l] : 0;
            }
            if (found.speed == 0 || !found.beats(best_)) return true;
            best_ = found;
            if (!visit_(sources_ ? complement(std::move(cut_off)) : std::move(cut_off))) return false;
        }
    }

    const Traffic& traffic_;
    bool sources_;
    const CutVisit& visit_;
    MaxFlow flow_;
    std::size_t terminal_ = 0;
    std::vector<std::int64_t> speed_;  ///< per link
    std::vector<std::vector<std::pair<NodeId, std::uint64_t>>>
        wants_;  ///< per NPU: from whom (to whom) how many
    Ratio best_;
};

}  // namespace

bool visit_blocks(const Topology& topology, const CutVisit& visit) {
    const std::size_t npus = topology.npus();
    std::size_t sets = 0;
    // Large blocks first: halves of the whole are the likeliest.
    for (std::size_t stride = npus - 1; stride > 0; --stride) {
        if (npus % stride != 0) continue;
        for (std::size_t period = 2; period * stride <= npus; ++period) {
            if (npus / stride % period != 0) continue;
            // Half of each period, and one of it.
            for (const std::size_t part : {period / 2, std::size_t{1}}) {
                if ((part == 1 && period / 2 == 1) || ++sets > kMostBlockSets) continue;
                std::vector<bool> inside(topology.nodes(), false);
                for (std::size_t n = 0; n < npus; ++n) inside[n] = n / stride % period < part;
                if (!visit(with_switches(topology, std::move(inside)))) return false;
            }
        }
    }
    return true;
}

void search_cuts(const Traffic& traffic, const Stop& stop, const CutVisit& visit) {
    const auto both = [&](const std::vector<bool>& set) { return visit_both(visit, set); };
    if (!visit_parts(traffic, stop, visit)) return;
    if (!visit_blocks(traffic.topology(), both) || !visit_balls(traffic, visit)) return;
    std::size_t pairs = 0;
    for (const ChunkClass& c : traffic.classes()) {
        pairs += std::max(traffic.demand(c).holders.size(), traffic.demand(c).receivers.size());
    }
    if (pairs > kMostPairs) return;
    RatioSearch(traffic, false, visit).run(stop);
    RatioSearch(traffic, true, visit).run(stop);
}

}  // namespace tutti::bounds

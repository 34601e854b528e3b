#include "tests/support/tiny_instance.hpp"

#include "tests/support/random_instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::test {
namespace {

/// How hard an instance is for the brute force, roughly: the transfers it needs, where those of a reduction
/// weigh more because it may travel in many ways, times the mean time of a link.
[[nodiscard]] std::int64_t effort(const Instance& instance) {
    std::int64_t transfers = 0, ticks = 0, pairs = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const std::size_t sum = demand.holders.size() + demand.receivers.size() - 1;
        transfers += static_cast<std::int64_t>(!demand.reduction             ? demand.receivers.size()
                                               : demand.receivers.size() > 1 ? 3 * sum
                                                                             : 2 * sum);
        for (std::size_t e = 0; e < instance.topology().links().size(); ++e, ++pairs) {
            ticks += (instance.alpha(LinkId(e)) + instance.beta(LinkId(e), ChunkId(c))).count();
        }
    }
    return pairs == 0 ? 0 : transfers * ticks / pairs;
}

/// More than this takes too long.
constexpr std::int64_t kMostEffort = 48;
constexpr std::size_t kMostChunks = 7;

/// Every receiver of a plain chunk holds it.
[[nodiscard]] bool is_met_at_once(const Instance& instance) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!std::ranges::includes(demand.holders, demand.receivers)) return false;
    }
    return true;
}

class TinyDraw {
  public:
    explicit TinyDraw(Rng& rng) : rng_(rng), physical_(one_in(5)) {}

    [[nodiscard]] InstanceParts instance() {
        parts_.name = "tiny";
        const std::uint64_t nodes = 2 + std::max(rng_.below(4), rng_.below(4));
        const std::uint64_t switches = std::min(nodes - 2, one_in(2) ? std::uint64_t{0} : 1 + rng_.below(2));
        parts_.topology.npus = static_cast<std::uint32_t>(nodes - switches);
        for (std::uint64_t i = 0; i < switches; ++i) parts_.topology.switches.push_back(switch_rule());
        if (one_in(3)) parts_.topology.busy = Busy::AlphaPlusBeta;
        if (physical_ || one_in(2)) {
            add_links(3, 2);
        } else {
            add_links(one_in(2) ? 1 : 2, one_in(2) ? 1 : 2);
        }
        for (std::size_t i = 1 + rng_.below(2); i > 0; --i) add_group();
        for (std::size_t i = one_in(3) ? 2 : 1; i > 0; --i) add_collective();
        return std::move(parts_);
    }

  private:
    [[nodiscard]] bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
    [[nodiscard]] Ticks ticks(std::uint64_t limit) {
        return Ticks(static_cast<std::int64_t>(rng_.below(limit)));
    }

    [[nodiscard]] SwitchRule switch_rule() {
        SwitchRule rule;
        rule.copy = one_in(2);
        rule.reduce = one_in(2);
        rule.cut_through = one_in(3);
        if (one_in(3)) rule.buffer = static_cast<std::uint32_t>(rng_.below(3));
        return rule;
    }

    [[nodiscard]] bool is_cut_through(std::size_t node) const {
        const auto& topology = parts_.topology;
        return node >= topology.npus && topology.switches[node - topology.npus].cut_through;
    }

    void add_link(std::size_t src, std::size_t dst, std::uint64_t alphas, std::uint64_t betas) {
        Wire wire;
        wire.alpha = ticks(alphas);
        if (physical_) {
            // 1 byte in one tick of 1 ps, or in two.
            wire.bandwidth = one_in(2) ? Decimal{1000, 0} : Decimal{500, 0};
        } else {
            wire.beta = Ticks(1) + ticks(betas);
        }
        if (is_cut_through(src) && is_cut_through(dst) && src > dst && wire.alpha == Ticks(0))
            wire.alpha = Ticks(1);
        parts_.topology.links.push_back({NodeId(src), NodeId(dst), wire});
    }

    void add_links(std::uint64_t alphas, std::uint64_t betas) {
        const std::size_t nodes = parts_.topology.nodes();
        std::vector<std::size_t> circle(nodes);
        std::iota(circle.begin(), circle.end(), std::size_t{0});
        rng_.shuffle(circle);
        // A circle reaches everybody; without one link of it some demands still can be met.
        const std::size_t kept = one_in(6) ? nodes - 1 : nodes;
        for (std::size_t i = 0; i < kept; ++i) add_link(circle[i], circle[(i + 1) % nodes], alphas, betas);
        for (std::size_t extra = rng_.below(nodes + 1); extra > 0; --extra) {
            const auto& links = parts_.topology.links;
            if (one_in(6)) {
                const Link twin = links[rng_.below(links.size())];
                add_link(twin.src.index(), twin.dst.index(), alphas, betas);
                continue;
            }
            const std::size_t src = rng_.below(nodes);
            add_link(src, (src + 1 + rng_.below(nodes - 1)) % nodes, alphas, betas);
        }
        rng_.shuffle(parts_.topology.links);
    }

    /// Some of them, at least `least`, in any order.
    [[nodiscard]] std::vector<NodeId> some(std::vector<NodeId> nodes, std::size_t least) {
        rng_.shuffle(nodes);
        nodes.resize(least + rng_.below(nodes.size() - least + 1));
        return nodes;
    }

    void add_group() {
        std::vector<NodeId> npus;
        for (std::size_t i = 0; i < parts_.topology.npus; ++i) npus.emplace_back(i);
        if (one_in(2)) npus = some(npus, std::min<std::size_t>(2, npus.size()));
        parts_.groups.push_back({fmt::format("g{}", parts_.groups.size()), std::move(npus)});
    }

    void add_collective() {
        Collective made;
        made.id = fmt::format("c{}", parts_.collectives.size());
        made.kind = static_cast<CollectiveKind>(rng_.below(collective_kind_names().size()));
        if (one_in(5)) made.kind = one_in(2) ? CollectiveKind::AllReduce : CollectiveKind::Custom;
        made.group = GroupId(rng_.below(parts_.groups.size()));
        const auto& members = parts_.groups[made.group.index()].members;
        made.chunks = one_in(4) ? 2 : 1;
        if (has_root(made.kind)) made.root = Rank(rng_.below(members.size()));
        if (physical_) made.chunk_bytes = Bytes{1 + ticks(2).count()};
        if (one_in(3)) made.release = ticks(3);
        if (one_in(3)) {
            for (std::size_t r = 0; r < members.size(); ++r)
                made.releases.push_back(one_in(2) ? made.release : ticks(5));
        }
        if (one_in(members.size() < parts_.topology.npus ? 2 : 8)) made.forwarding = Forwarding::Group;
        if (made.kind == CollectiveKind::AllToAllV) {
            made.counts.assign(members.size(), std::vector<std::uint64_t>(members.size()));
            for (auto& row : made.counts) {
                for (auto& count : row) count = one_in(3) ? 1 + rng_.below(2) : 0;
            }
        }
        if (made.kind == CollectiveKind::Permute) {
            for (std::size_t i = 1 + rng_.below(members.size()); i > 0; --i) {
                made.pairs.emplace_back(rng_.below(members.size()), rng_.below(members.size()));
            }
        }
        if (made.kind == CollectiveKind::Custom) {
            for (std::size_t i = 1 + rng_.below(2); i > 0; --i) {
                made.demands.push_back({some(members, 1), some(members, 1), !one_in(3), {}});
                if (physical_ && one_in(2)) made.demands.back().bytes = Bytes{1 + ticks(2).count()};
            }
        }
        parts_.collectives.push_back(std::move(made));
    }

    Rng& rng_;
    bool physical_;
    InstanceParts parts_;
};

}  // namespace

Instance tiny_instance(Rng& rng) {
    // Some things would be rare: reductions are often too hard, groups often out of reach by themselves.
    const std::uint64_t choice = rng.below(10);
    for (;;) {
        Instance instance(TinyDraw(rng).instance());
        if (instance.chunks() == 0 || instance.chunks() > kMostChunks || effort(instance) > kMostEffort)
            continue;
        if (!is_feasible(instance)) continue;
        const TinyFeatures features = features_of(instance);
        if ((choice < 2 && !features.shared_sum) || (choice < 4 && !features.reduction)) continue;
        if ((choice == 4 && !features.group_forwarding) || (choice == 5 && !features.sizes)) continue;
        // Those with nothing to do are kept only seldom.
        const bool idle = !features.reduction && is_met_at_once(instance);
        if (!idle || rng.below(20) == 0) return instance;
    }
}

TinyFeatures features_of(const Instance& instance) {
    TinyFeatures features;
    const Topology& topology = instance.topology();
    features.switches = topology.switches() > 0;
    for (const SwitchRule& rule : topology.parts().switches) {
        features.storing |= !rule.cut_through;
        features.cut_through |= rule.cut_through;
        features.copying |= rule.copy;
        features.reducing |= rule.reduce;
        features.buffer |= rule.buffer && !rule.cut_through;
    }
    features.one_in_flight = topology.busy() == Busy::AlphaPlusBeta;
    features.physical = topology.units() == Units::Physical;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        const bool sum = demand.reduction && demand.holders.size() > 1;
        features.reduction |= sum;
        features.shared_sum |= sum && demand.receivers.size() > 1;
        features.group_forwarding |= instance.collective_of(ChunkId(c)).forwarding == Forwarding::Group &&
                                     instance.group_of(ChunkId(c)).members.size() < topology.npus();
        features.release |= instance.release(ChunkId(c)) > Ticks(0);
        features.staggered |= instance.is_staggered(ChunkId(c));
        features.late_sum |= sum && instance.is_staggered(ChunkId(c));
        features.sizes |= demand.bytes != instance.demand(ChunkId(0)).bytes;
    }
    return features;
}

}  // namespace tutti::test

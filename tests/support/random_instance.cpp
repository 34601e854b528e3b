#include "tests/support/random_instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace tutti::test {
namespace {

/// Draws one instance, part by part.
class Draw {
  public:
    Draw(Rng& rng, const InstanceOptions& options)
        : rng_(rng), options_(options), physical_(options.physical.value_or(one_in(4))) {}

    [[nodiscard]] InstanceParts instance() {
        parts_.name = "random";
        parts_.topology.npus = 1 + std::max(number(options_.max_npus), number(options_.max_npus));
        for (std::uint32_t i = number(options_.max_switches + 1); i > 0; --i) {
            parts_.topology.switches.push_back(switch_rule());
        }
        if (one_in(3)) parts_.topology.busy = Busy::AlphaPlusBeta;
        add_links();
        for (std::size_t i = 1 + rng_.below(3); i > 0; --i) add_group();
        for (std::size_t i = 1 + rng_.below(options_.max_collectives); i > 0; --i) add_collective();
        return std::move(parts_);
    }

  private:
    [[nodiscard]] bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
    [[nodiscard]] std::uint32_t number(std::uint32_t limit) {
        return static_cast<std::uint32_t>(rng_.below(limit));
    }
    [[nodiscard]] Ticks ticks(std::int64_t limit) {
        return Ticks(static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(limit))));
    }
    [[nodiscard]] Bytes bytes() { return {1 + ticks(5).count()}; }

    [[nodiscard]] SwitchRule switch_rule() {
        SwitchRule rule;
        rule.copy = one_in(2);
        rule.reduce = one_in(2);
        rule.cut_through = one_in(3) || options_.crossbars_only;
        if (one_in(2)) rule.buffer = number(4);
        return rule;
    }

    [[nodiscard]] bool is_cut_through(std::size_t node) const {
        const auto& topology = parts_.topology;
        return node >= topology.npus && topology.switches[node - topology.npus].cut_through;
    }

    void add_link(std::size_t src, std::size_t dst) {
        Wire wire;
        if (physical_) {
            constexpr std::array<Decimal, 4> kBandwidths{{{1, 0}, {25, 1}, {3, 1}, {50, 0}}};
            wire.alpha = Ticks(500) * ticks(4).count();
            wire.bandwidth = kBandwidths[rng_.below(kBandwidths.size())];
        } else {
            wire.alpha = ticks(options_.max_ticks);
            wire.beta = Ticks(1) + ticks(options_.max_ticks);
        }
        if (is_cut_through(src) && is_cut_through(dst)) {
            if (options_.crossbars_only)
                wire.alpha = Ticks(0);
            else if (src > dst)
                wire.alpha += Ticks(1);
        }
        parts_.topology.links.push_back({NodeId(src), NodeId(dst), wire});
    }

    void add_links() {
        const std::size_t nodes = parts_.topology.nodes();
        if (nodes == 1) return;
        if (options_.strongly_connected) {
            std::vector<std::size_t> circle(nodes);
            std::iota(circle.begin(), circle.end(), std::size_t{0});
            rng_.shuffle(circle);
            for (std::size_t i = 0; i < nodes; ++i) add_link(circle[i], circle[(i + 1) % nodes]);
        }
        for (std::size_t extra = rng_.below(2 * nodes); extra > 0; --extra) {
            const auto& links = parts_.topology.links;
            if (!links.empty() && one_in(5)) {
                const Link twin = links[rng_.below(links.size())];
                add_link(twin.src.index(), twin.dst.index());
                continue;
            }
            const std::size_t src = rng_.below(nodes);
            const std::size_t dst = (src + 1 + rng_.below(nodes - 1)) % nodes;
            add_link(src, dst);
        }
        rng_.shuffle(parts_.topology.links);
    }

    /// Some of them, at least one, in any order.
    [[nodiscard]] std::vector<NodeId> some(std::vector<NodeId> nodes) {
        rng_.shuffle(nodes);
        nodes.resize(1 + rng_.below(nodes.size()));
        return nodes;
    }

    void add_group() {
        std::vector<NodeId> npus;
        for (std::size_t i = 0; i < parts_.topology.npus; ++i) npus.emplace_back(i);
        if (!one_in(3)) npus = some(npus);
        parts_.groups.push_back({fmt::format("g{}", parts_.groups.size()), std::move(npus)});
    }

    void add_collective() {
        Collective made;
        made.id = fmt::format("c{}", parts_.collectives.size());
        made.kind = static_cast<CollectiveKind>(rng_.below(collective_kind_names().size()));
        made.group = GroupId(rng_.below(parts_.groups.size()));
        const auto& members = parts_.groups[made.group.index()].members;
        made.chunks = 1 + rng_.below(options_.max_chunks);
        if (has_root(made.kind)) made.root = Rank(rng_.below(members.size()));
        if (physical_) made.chunk_bytes = bytes();
        if (options_.releases && one_in(3)) made.release = ticks(physical_ ? 5000 : 20);
        if (options_.releases && one_in(4)) {
            for (std::size_t r = 0; r < members.size(); ++r)
                made.releases.push_back(one_in(2) ? made.release : ticks(physical_ ? 5000 : 20));
        }
        if (options_.group_forwarding && one_in(4)) made.forwarding = Forwarding::Group;
        if (made.kind == CollectiveKind::AllToAllV) {
            made.counts.assign(members.size(), std::vector<std::uint64_t>(members.size()));
            for (auto& row : made.counts) {
                for (auto& count : row) count = rng_.below(3);
            }
        }
        if (made.kind == CollectiveKind::Permute) {
            for (std::size_t i = rng_.below(members.size() + 1); i > 0; --i) {
                made.pairs.emplace_back(rng_.below(members.size()), rng_.below(members.size()));
            }
        }
        if (made.kind == CollectiveKind::Custom) {
            for (std::size_t i = 1 + rng_.below(3); i > 0; --i) {
                made.demands.push_back({some(members), some(members), one_in(2), {}});
                if (physical_ && one_in(2)) made.demands.back().bytes = bytes();
            }
        }
        parts_.collectives.push_back(std::move(made));
    }

    Rng& rng_;
    InstanceOptions options_;
    bool physical_;
    InstanceParts parts_;
};

[[nodiscard]] std::vector<bool> reach(const Instance& instance, std::vector<NodeId> from,
                                      CollectiveId collective) {
    const Topology& topology = instance.topology();
    std::vector<bool> seen(topology.nodes(), false);
    for (const NodeId node : from) seen[node.index()] = true;
    while (!from.empty()) {
        const NodeId node = from.back();
        from.pop_back();
        for (const LinkId link : topology.out_links(node)) {
            const NodeId next = topology.link(link).dst;
            if (seen[next.index()] || !instance.may_carry(next, collective)) continue;
            seen[next.index()] = true;
            from.push_back(next);
        }
    }
    return seen;
}

}  // namespace

InstanceParts random_instance(Rng& rng, const InstanceOptions& options) {
    return Draw(rng, options).instance();
}

bool is_feasible(const Instance& instance) {
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        std::vector<std::vector<NodeId>> sources{{demand.holders.begin(), demand.holders.end()}};
        if (demand.reduction) {
            sources.clear();
            for (const NodeId holder : demand.holders) sources.push_back({holder});
        }
        for (const auto& source : sources) {
            const auto seen = reach(instance, source, demand.collective);
            for (const NodeId receiver : demand.receivers) {
                if (!seen[receiver.index()]) return false;
            }
        }
    }
    return true;
}

}  // namespace tutti::test

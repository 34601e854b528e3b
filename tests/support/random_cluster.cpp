#include "tests/support/random_cluster.hpp"

#include "core/generators/cluster.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/star.hpp"
#include "tests/support/builders.hpp"

#include <algorithm>
#include <array>

namespace tutti::test {
namespace {

class ClusterDraw {
  public:
    explicit ClusterDraw(Rng& rng) : rng_(rng) {}

    InstanceParts instance() {
        parts_.name = "cluster";
        parts_.topology = topology();
        if (one_in(4)) parts_.topology.busy = Busy::AlphaPlusBeta;
        if (one_in(3)) break_links();
        if (one_in(4)) {
            for (Link& link : parts_.topology.links) {
                if (one_in(4)) link.wire = trunk(9);
            }
        }
        add_groups();
        for (std::size_t i = 1 + rng_.below(2); i > 0; --i) add_collective();
        return std::move(parts_);
    }

  private:
    [[nodiscard]] bool one_in(std::uint64_t n) { return rng_.below(n) == 0; }
    [[nodiscard]] std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + rng_.below(most - least + 1);
    }
    [[nodiscard]] Wire wire(std::uint64_t beta) {
        return {Ticks(static_cast<std::int64_t>(rng_.below(4))),
                Ticks(static_cast<std::int64_t>(between(1, beta))),
                {}};
    }
    /// Between switches: what goes round in a circle of cut-through switches without latency is refused by
    /// every checker, but for reasons of its own.
    [[nodiscard]] Wire trunk(std::uint64_t beta) {
        Wire drawn = wire(beta);
        drawn.alpha += Ticks(1);
        return drawn;
    }
    [[nodiscard]] SwitchRule rule() {
        SwitchRule rule;
        rule.cut_through = !one_in(3);
        if (!rule.cut_through && one_in(2)) rule.buffer = static_cast<std::uint32_t>(rng_.below(3));
        rule.copy = one_in(5);
        rule.reduce = one_in(5);
        return rule;
    }
    [[nodiscard]] TopologyParts topology() {
        const SwitchRule rule = this->rule();
        switch (rng_.below(4)) {
            case 0:
                return generators::rail({between(2, 4), between(1, 4), wire(3), wire(9), rule});
            case 1: {
                generators::Cluster cluster;
                cluster.node = generators::star(4, wire(3), rule);
                cluster.nodes = 2;
                const std::array wires{wire(9), trunk(9), trunk(9)};
                cluster.network = generators::fat_tree(2, 3, wires, rule);
                cluster.planes = generators::Planes::Shared;
                return generators::cluster(cluster);
            }
            case 2: {
                const std::uint64_t levels = between(1, 3);
                const std::vector wires{wire(4), trunk(8), trunk(8)};
                return generators::fat_tree(levels == 3 ? 2 : between(2, 3), levels,
                                            std::span(wires).first(levels), rule);
            }
            default:
                return generators::star(between(2, 7), wire(4), rule);
        }
    }
    void break_links() {
        auto& links = parts_.topology.links;
        for (std::size_t i = between(1, 3); i > 0 && links.size() > 1; --i)
            links.erase(links.begin() + static_cast<std::ptrdiff_t>(rng_.below(links.size())));
    }
    void add_groups() {
        const std::size_t npus = parts_.topology.npus;
        std::vector<NodeId> all;
        for (std::size_t n = 0; n < npus; ++n) all.emplace_back(n);
        parts_.groups = {{"all", all}};
        for (const char* name : {"some", "others"}) {
            std::vector<NodeId> some = all;
            rng_.shuffle(some);
            some.resize(between(std::min<std::size_t>(2, npus), npus));
            parts_.groups.push_back({name, some});
        }
    }
    void add_collective() {
        constexpr std::array kKinds{CollectiveKind::AllGather, CollectiveKind::ReduceScatter,
                                    CollectiveKind::AllReduce, CollectiveKind::AllToAll,
                                    CollectiveKind::AllReduce, CollectiveKind::Broadcast,
                                    CollectiveKind::Reduce,    CollectiveKind::Gather};
        Collective added =
            collective(kKinds[rng_.below(kKinds.size())], "c" + std::to_string(parts_.collectives.size()));
        added.group = GroupId(rng_.below(parts_.groups.size()));
        added.chunks = between(1, 3);
        if (has_root(added.kind))
            added.root = Rank(rng_.below(parts_.groups[added.group.index()].members.size()));
        if (one_in(4)) added.release = Ticks(static_cast<std::int64_t>(rng_.below(20)));
        if (one_in(4)) {
            for (std::size_t r = parts_.groups[added.group.index()].members.size(); r > 0; --r)
                added.releases.emplace_back(one_in(3) ? static_cast<std::int64_t>(rng_.below(40)) : 0);
        }
        if (one_in(3)) added.forwarding = Forwarding::Group;
        parts_.collectives.push_back(std::move(added));
    }

    Rng& rng_;
    InstanceParts parts_;
};

}  // namespace

InstanceParts random_cluster(Rng& rng) { return ClusterDraw(rng).instance(); }

}  // namespace tutti::test

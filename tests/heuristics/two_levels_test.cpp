#include "heuristics/levels/two_levels.hpp"

#include "core/generators/cluster.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/star.hpp"
#include "heuristics/levels/levels.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <array>
#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

using Kind = CollectiveKind;
constexpr SwitchRule kCutThrough{.cut_through = true};

Instance on_members(TopologyParts topology, const std::vector<std::size_t>& members, Kind kind,
                    std::uint64_t chunks = 1) {
    InstanceParts parts;
    parts.name = "test";
    parts.topology = std::move(topology);
    parts.groups = {{"g", nodes(members)}};
    parts.collectives = {collective(kind)};
    parts.collectives[0].chunks = chunks;
    return Instance(std::move(parts));
}

Instance on_network(TopologyParts topology, Kind kind, std::uint64_t chunks = 1) {
    std::vector<std::size_t> members(topology.npus);
    for (std::size_t n = 0; n < members.size(); ++n) members[n] = n;
    return on_members(std::move(topology), members, kind, chunks);
}

// Of rails: the node switch has latency 2 and beta 1, the rails have latency 5 and beta 9.
constexpr std::int64_t kInAlpha = 2 * 2, kIn = 1, kOutAlpha = 2 * 5, kOut = 9;

TopologyParts rails(std::uint64_t nodes, std::uint64_t npus) {
    return generators::rail(
        {nodes, npus, {Ticks(2), Ticks(kIn), {}}, {Ticks(5), Ticks(kOut), {}}, kCutThrough});
}

/// The makespan of a valid schedule.
std::int64_t makespan(const Instance& instance, const std::optional<Schedule>& schedule) {
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
    return true_makespan(instance, *schedule);
}

std::int64_t two_levels_on(const Instance& instance) { return makespan(instance, two_levels(instance, {})); }
std::int64_t rounds_on(const Instance& instance) { return makespan(instance, crossbar_rounds(instance, {})); }

}  // namespace

TEST_CASE("constructions by levels are valid on random clusters") {
    std::uint64_t feasible = 0, made = 0;
    for_seeds(cases(250), [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_cluster(rng));
        if (!is_feasible(instance)) return;
        ++feasible;
        INFO(json_of(instance));
        for (const auto& schedule : {two_levels(instance, {}), crossbar_rounds(instance, {})}) {
            if (!schedule) continue;
            ++made;
            CHECK(broken(instance, *schedule).empty());
        }
    });
    CHECK(made > feasible);
}

TEST_CASE("constructions by levels are valid, or decline, on random networks") {
    std::uint64_t made = 0;
    for_seeds(cases(300), [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(rng));
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        for (const auto& schedule : {two_levels(instance, {}), crossbar_rounds(instance, {})}) {
            if (!schedule) continue;
            ++made;
            CHECK(broken(instance, *schedule).empty());
        }
    });
    CHECK(made > 0);
}

TEST_CASE("a root that holds nothing distributes the sum once its first contribution has come") {
    Net net(4);
    net.add_switch();
    net.link(2, 1).link(2, 3, 0, 20).link(1, 2).link(0, 2, 0, 160);
    const Instance instance = on_all(net, {custom({0, 2}, {1, 3}, true)});
    const auto schedule = two_levels(instance, {});
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
}

TEST_CASE("levels are found from times alone") {
    const auto parts_on = [](const TopologyParts& topology) {
        const Instance instance = on_network(topology, Kind::AllGather);
        const MessageRoutes routes(instance, ChunkId(0));
        std::vector<std::uint32_t> counts;
        for (const Partition& level : levels_of(instance.topology(), routes))
            counts.push_back(*std::ranges::max_element(level) + 1);
        return counts;
    };
    CHECK(parts_on(rails(4, 8)) == std::vector<std::uint32_t>{4});
    const std::vector<Wire> unit{{Ticks(1), Ticks(1), {}}};
    CHECK(parts_on(generators::fat_tree(3, 3, unit, kCutThrough)) == std::vector<std::uint32_t>{9, 3});
    CHECK(parts_on(generators::star(6, unit[0], kCutThrough)).empty());
}

TEST_CASE("two levels take on rails what the slow level and one round of the fast one need") {
    for (const std::uint64_t nodes : {3U, 5U}) {
        for (const std::uint64_t npus : {2U, 6U}) {
            for (const std::uint64_t chunks : {1U, 3U}) {
                CAPTURE(nodes);
                CAPTURE(npus);
                CAPTURE(chunks);
                const auto waves = static_cast<std::int64_t>((nodes - 1) * chunks);
                const auto rounds = static_cast<std::int64_t>(npus - 1);
                const std::int64_t gather = waves * kOut + kOutAlpha + rounds * kIn + kInAlpha;
                const auto on = [&](Kind kind) { return on_network(rails(nodes, npus), kind, chunks); };
                CHECK(two_levels_on(on(Kind::AllGather)) == gather);
                CHECK(two_levels_on(on(Kind::ReduceScatter)) == gather);
                // The last contribution and the first sum pass each other on the rail.
                CHECK(two_levels_on(on(Kind::AllReduce)) <= 2 * gather);
                CHECK(two_levels_on(on(Kind::AllToAll)) ==
                      static_cast<std::int64_t>(npus) * waves * kOut + kOutAlpha);
            }
        }
    }
}

TEST_CASE("the first sum and the last contribution of an all-reduce pass each other") {
    // On a star the rounds of both halves follow each other without a gap.
    const std::int64_t alpha = 1, beta = 5;
    const Instance instance =
        on_network(generators::star(6, {Ticks(alpha), Ticks(beta), {}}, kCutThrough), Kind::AllReduce);
    CHECK(rounds_on(instance) == 2 * 5 * beta + 2 * alpha);
}

TEST_CASE("rounds on a star take one beta each") {
    for (const Kind kind : {Kind::AllGather, Kind::AllToAll, Kind::ReduceScatter}) {
        for (const std::uint64_t npus : {2U, 5U, 8U}) {
            const auto star = generators::star(npus, {Ticks(3), Ticks(4), {}}, kCutThrough);
            CHECK(rounds_on(on_network(star, kind)) == static_cast<std::int64_t>(npus - 1) * 4 + 2 * 3);
        }
    }
}

TEST_CASE("rounds of scattered groups on a non-blocking tree take one beta each") {
    const std::int64_t alpha = 1, beta = 100;
    const std::vector<Wire> wires{{Ticks(alpha), Ticks(beta), {}}};
    for_seeds(cases(8), [&](Rng& rng, std::uint64_t) {
        const bool tall = rng.below(2) == 0;
        auto tree = tall ? generators::fat_tree(2, 4, wires, kCutThrough)
                         : generators::fat_tree(4, 2, wires, kCutThrough);
        std::vector<std::size_t> members(tree.npus);
        for (std::size_t n = 0; n < members.size(); ++n) members[n] = n;
        rng.shuffle(members);
        members.resize(5 + rng.below(8));
        const auto rounds = static_cast<std::int64_t>(members.size() - 1);
        for (const Kind kind : {Kind::AllGather, Kind::AllToAll, Kind::ReduceScatter}) {
            const Instance instance = on_members(tree, members, kind);
            // Near and far messages in one round cost some latencies.
            CHECK(rounds_on(instance) <= rounds * beta + beta / 2);
        }
    });
}

TEST_CASE("near rounds between far ones fill the gaps in which nothing would come") {
    // One NPU under each of 16 leaves: 12 rounds whose messages take 12 ticks, 3 of 8. One after the other
    // they take 26. With every fourth one near and one far round passed on it is the bound (deadlines).
    const auto tree = generators::fat_tree(4, 3, std::vector<Wire>{{Ticks(1), Ticks(1), {}}}, {});
    const std::vector<std::size_t> members{0, 5, 10, 15, 16, 21, 26, 31, 32, 37, 42, 47, 48, 53, 58, 63};
    for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter})
        CHECK(rounds_on(on_members(tree, members, kind)) == 25);
}

TEST_CASE("where a NIC has failed its chunks leave through the NICs of others") {
    TopologyParts broken_rails = rails(4, 4);
    // NPU 0 is on rail switch 0, the first after the node switches: node 0 has lost that NIC.
    const NodeId npu(0), rail(16 + 4);
    std::erase_if(broken_rails.links, [&](const Link& link) {
        return (link.src == npu && link.dst == rail) || (link.src == rail && link.dst == npu);
    });
    for (const Kind kind : {Kind::AllGather, Kind::ReduceScatter, Kind::AllReduce, Kind::AllToAll}) {
        const Instance instance = on_network(broken_rails, kind);
        // Three NICs of four carry what leaves or enters the node: three waves of four chunks each. Sums go
        // both ways; chunks for one target are four times as many.
        const std::int64_t waves = kind == Kind::AllReduce ? 8 : kind == Kind::AllToAll ? 16 : 4;
        CHECK(two_levels_on(instance) <= waves * kOut + 6 * (kInAlpha + kOutAlpha));
    }
}

TEST_CASE("NPUs outside of the group lend it their NICs") {
    std::vector<std::size_t> members;
    for (std::size_t node = 0; node < 6; ++node) {
        for (const std::size_t npu : {0U, 1U}) members.push_back(node * 4 + npu);
    }
    Instance alone = on_members(rails(6, 4), members, Kind::AllGather);
    const std::int64_t waves = two_levels_on(alone);
    CHECK(waves < 5 * kOut + kOutAlpha);  // what two NICs would need
}

TEST_CASE("collectives within nodes and along rails use their links at the same time") {
    InstanceParts parts;
    parts.name = "both";
    parts.topology = rails(4, 4);
    for (std::size_t i = 0; i < 4; ++i) {
        parts.groups.push_back({"tp" + std::to_string(i), nodes({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3})});
        parts.groups.push_back({"dp" + std::to_string(i), nodes({i, 4 + i, 8 + i, 12 + i})});
    }
    for (std::size_t g = 0; g < parts.groups.size(); ++g) {
        Collective one = collective(Kind::AllReduce, parts.groups[g].name);
        one.group = GroupId(g);
        parts.collectives.push_back(one);
    }
    // As long as the collectives along the rails alone.
    CHECK(two_levels_on(Instance(parts)) <= 2 * 3 * kOut + 2 * kOutAlpha);
}

TEST_CASE("constructions by levels end when they are stopped") {
    const Instance instance = on_network(rails(8, 8), Kind::AllToAll);
    const std::atomic<bool> now{true};
    CHECK_FALSE(two_levels(instance, Stop(std::nullopt, &now)));
    CHECK_FALSE(crossbar_rounds(instance, Stop(std::nullopt, &now)));
}

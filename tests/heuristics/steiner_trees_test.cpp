// Trees planned together under prices: how good they are, and that they are valid on whatever network.

#include "heuristics/trees/steiner_trees.hpp"

#include "core/generators/fat_tree.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/rail.hpp"
#include "heuristics/trees/tree_insertion.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "tests/support/spread_case.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using test::SpreadCase;

namespace {

constexpr Wire kUnit{Ticks(0), Ticks(1), {}};

TopologyParts torus(const std::vector<std::uint64_t>& dims, const std::vector<Wire>& wires = {kUnit}) {
    return generators::torus(dims, wires);
}

/// The part of the instance that one collective is.
InstanceParts alone(const InstanceParts& parts, std::size_t collective) {
    InstanceParts one = parts;
    one.collectives = {parts.collectives[collective]};
    return one;
}

Ticks planned(const SpreadCase& given, std::uint64_t seed = 1) {
    Rng rng(seed);
    const auto solution = plan_trees(given.problem, rng, Stop());
    REQUIRE(given.is_valid(solution));
    return solution->makespan;
}

/// Whether every transfer brings its chunk to a target, or to a relay that passes it on later.
bool is_without_dead_ends(const SpreadCase& given, const SpreadSolution& solution) {
    return std::ranges::all_of(solution.transfers, [&](const Transfer& transfer) {
        const NodeId to = given.graph.hop(transfer.hop).to;
        const Ticks arrival = transfer.start + given.graph.transit(transfer.hop, transfer.chunk);
        if (std::ranges::binary_search(given.instance.demand(transfer.chunk).receivers, to)) return true;
        return std::ranges::any_of(solution.transfers, [&](const Transfer& next) {
            return next.chunk == transfer.chunk && next.start >= arrival &&
                   given.graph.hop(next.hop).from == to;
        });
    });
}

double ratio(Ticks a, Ticks b) { return static_cast<double>(a.count()) / static_cast<double>(b.count()); }

}  // namespace

TEST_CASE("scattered groups planned together take less than a third of one after the other") {
    for (const std::uint64_t seed : {1U, 2U}) {
        CAPTURE(seed);
        Rng rng(seed);
        const auto parts = test::scattered_groups(torus({6, 6, 6}), 6, 36, {CollectiveKind::AllGather}, rng);
        Ticks one_by_one;
        for (std::size_t g = 0; g < 6; ++g) one_by_one += planned(SpreadCase(alone(parts, g)));
        const SpreadCase all(parts);
        const Ticks together = planned(all);
        CAPTURE(one_by_one.count());
        CAPTURE(together.count());
        CHECK(ratio(together, one_by_one) < 0.33);
        CHECK(ratio(together, all.problem.target) < 1.6);
    }
}

TEST_CASE("NPUs outside the group relay where the group's own links are too few") {
    // A corner of the 4x4 block has two links from members: 15 * 4 / 2 = 30 ticks without help.
    InstanceParts parts;
    parts.topology = torus({8, 8});
    parts.groups = {{"block", {}}};
    for (std::size_t i = 0; i < 16; ++i) parts.groups[0].members.emplace_back(i / 4 * 8 + i % 4);
    parts.collectives = {test::collective(CollectiveKind::AllGather)};
    parts.collectives[0].chunks = 4;
    const SpreadCase any(parts);
    CHECK(planned(any) < Ticks(22));

    parts.collectives[0].forwarding = Forwarding::Group;
    CHECK(planned(SpreadCase(parts)) >= Ticks(30));
}

TEST_CASE("NPUs that must not forward are not used as relays") {
    // 0 and 2 are members, 1 between them is not.
    for (const Forwarding forwarding : {Forwarding::Any, Forwarding::Group}) {
        Collective collective = test::collective(CollectiveKind::AllGather);
        collective.forwarding = forwarding;
        const Instance instance = test::on_group(test::line(3), {0, 2}, {collective});
        const HopGraph graph(instance);
        SpreadProblem problem{graph, {}, LinkCalendar(4), Ticks(0)};
        for (const std::size_t c : {0U, 1U}) {
            const Demand demand = instance.demand(ChunkId(c));
            problem.spreads.push_back({ChunkId(c), demand.holders, Ticks(0), demand.receivers});
        }
        Rng rng(1);
        CHECK(plan_trees(problem, rng, Stop()).has_value() == (forwarding == Forwarding::Any));
    }
}

TEST_CASE("all-gathers and all-to-alls, of groups on heterogeneous and switched networks, share links") {
    using enum CollectiveKind;
    const std::vector<Wire> wires{
        {Ticks(1), Ticks(1), {}}, {Ticks(1), Ticks(3), {}}, {Ticks(2), Ticks(5), {}}};
    const std::vector<Wire> unit{kUnit};
    std::vector<TopologyParts> networks{torus({4, 4, 4}, wires)};
    for (const SwitchRule& rule : {SwitchRule{}, SwitchRule{.copy = true}, SwitchRule{.cut_through = true}}) {
        networks.push_back(generators::fat_tree(4, 3, unit, rule));
        networks.push_back(generators::rail({8, 8, kUnit, {Ticks(1), Ticks(4), {}}, rule}));
    }
    for (std::size_t n = 0; n < networks.size(); ++n) {
        CAPTURE(n);
        Rng rng(n);
        const SpreadCase given(
            test::scattered_groups(networks[n], 4, 16, {AllGather, AllToAll, Broadcast}, rng));
        const auto inserted = insert_trees(given.problem, rng, Stop());
        REQUIRE(given.is_valid(inserted));
        CHECK(ratio(planned(given), inserted->makespan) < 1.3);
    }
}

TEST_CASE("eight scattered groups of 64 on an 8x8x8 torus are within twice the bound") {
    Rng rng(1);
    const SpreadCase given(test::scattered_groups(torus({8, 8, 8}), 8, 64, {CollectiveKind::AllGather}, rng));
    CHECK(planned(given) <= Ticks(25));
    CHECK(ratio(planned(given, 2), given.problem.target) < 2);
}

TEST_CASE("planned trees are valid on random instances") {
    std::size_t done = 0;
    test::for_seeds(test::cases(300), [&](Rng& rng, std::uint64_t) {
        const auto parts = test::without_reductions(
            test::random_instance(rng, {.max_npus = 9, .max_switches = 4, .max_collectives = 4}));
        if (parts.collectives.empty() || !test::is_feasible(Instance(parts))) return;
        const SpreadCase given(parts);
        const auto solution = plan_trees(given.problem, rng, Stop());
        INFO(test::json_of(given.instance));
        CHECK(given.is_valid(solution));
        ++done;
    });
    CHECK(done > 0);
}

TEST_CASE("no relay is sent a chunk that it does not pass on") {
    // A reduction is a spread played backwards: there such a relay would have to send what it does not have.
    test::for_seeds(test::cases(200), [&](Rng& rng, std::uint64_t) {
        auto parts = test::scattered_groups(torus({3, 4}, {{{Ticks(1), Ticks(6), {}}}}), 2, 4,
                                            {CollectiveKind::AllGather}, rng);
        for (Collective& collective : parts.collectives) collective.chunks = 2;
        const SpreadCase given(std::move(parts));
        const auto solution = plan_trees(given.problem, rng, Stop());
        REQUIRE(given.is_valid(solution));
        CHECK(is_without_dead_ends(given, *solution));
    });
}

TEST_CASE("the same seed plans the same trees") {
    Rng rng(3);
    const SpreadCase given(test::scattered_groups(torus({4, 4, 4}), 4, 16, {CollectiveKind::AllGather}, rng));
    const auto sends = [&](std::uint64_t seed) {
        Rng own(seed);
        return given.schedule(*plan_trees(given.problem, own, Stop())).sends;
    };
    CHECK(sends(1) == sends(1));
    CHECK(sends(1) != sends(2));
}

TEST_CASE("tree planning that is stopped returns no plan") {
    Rng rng(3);
    const SpreadCase given(test::scattered_groups(torus({4, 4}), 2, 8, {CollectiveKind::AllGather}, rng));
    const std::atomic<bool> raised = true;
    CHECK_FALSE(plan_trees(given.problem, rng, Stop(std::nullopt, &raised)));
    CHECK_FALSE(steiner_trees(given.problem, rng, Stop(std::nullopt, &raised)));
}

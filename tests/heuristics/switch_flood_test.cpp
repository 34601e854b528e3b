// The flood on networks with switches, alone: every schedule here is its own, compacted as greedy does, and
// judged by the verifier.

#include "heuristics/switches/switch_flood.hpp"

#include "bounds/bounds.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/dragonfly.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/rail.hpp"
#include "heuristics/compaction.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <string>

using namespace tutti;
using namespace tutti::heuristics;

namespace {

/// Whether all demands are plain, or all reductions with one receiver: what `flooded` takes.
bool is_simple(const Instance& instance) {
    std::size_t plain = 0, sums = 0;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        plain += demand.reduction ? 0U : 1U;
        sums += demand.reduction && demand.receivers.size() == 1 && demand.holders.size() > 1 ? 1U : 0U;
    }
    return instance.chunks() > 0 && std::max(plain, sums) == instance.chunks();
}

/// One collective: plain, or reductions with one receiver each.
std::optional<Schedule> flooded(const Instance& instance, std::uint64_t seed, const Stop& stop = {}) {
    const bool reduces = instance.demand(ChunkId(0)).reduction;
    const HopGraph graph(instance, reduces ? HopGraph::Use::Gather : HopGraph::Use::Spread);
    const HopGraph turned = graph.reversed();
    SpreadProblem problem{
        reduces ? turned : graph, {}, LinkCalendar(instance.topology().links().size()), Ticks(0)};
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (reduces) {
            problem.spreads.push_back({ChunkId(c), demand.receivers, Ticks(0), demand.holders});
        } else {
            problem.spreads.push_back(
                {ChunkId(c), demand.holders, instance.last_release(ChunkId(c)), demand.receivers});
        }
    }
    Rng rng(seed);
    const auto solution = flood_switched(problem, rng, stop);
    if (!solution) return std::nullopt;
    std::vector<Move> moves;
    for (Transfer transfer : solution->transfers) {
        if (reduces) {
            transfer.start = solution->makespan - transfer.start -
                             graph.transit(transfer.hop, transfer.chunk) + instance.release(transfer.chunk);
        }
        moves.push_back({&graph, transfer, reduces ? Op::Reduce : Op::Copy});
    }
    moves = reduces ? retimed(moves) : compacted(moves);
    Schedule schedule{instance.name(), makespan_of(moves), {}};
    const Topology& topology = instance.topology();
    std::vector<LegTime> legs;
    for (const auto& [hops, transfer, op] : moves) {
        hops->leg_times(transfer.hop, transfer.chunk, legs);
        for (const LegTime& leg : legs) {
            const NodeId to = topology.link(leg.link).dst;
            const bool passes = topology.is_switch(to) && (&leg != &legs.back() || !topology.rule(to).reduce);
            schedule.sends.push_back(
                {transfer.chunk, leg.link, transfer.start + leg.offset, passes ? Op::Copy : op});
        }
    }
    return schedule;
}

Instance whole(const TopologyParts& topology, CollectiveKind kind, std::uint64_t chunks = 1) {
    InstanceParts parts;
    parts.topology = topology;
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(kind)};
    parts.collectives[0].chunks = chunks;
    return Instance(std::move(parts));
}

std::string fault(const Verdict& verdict) {
    return verdict.violations.empty() ? "" : verdict.violations.front().message;
}

/// The best of a few seeds, each of them valid, over the best bound there is.
double ratio(const Instance& instance) {
    Ticks best = Ticks::max();
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        CAPTURE(seed);
        const auto schedule = flooded(instance, seed);
        REQUIRE(schedule);
        const Verdict verdict = verify::verify(instance, *schedule);
        INFO(fault(verdict));
        CHECK(verdict.valid());
        best = std::min(best, schedule->makespan);
    }
    const Ticks bound = bounds::all_bounds(instance).front().value;
    CHECK(best >= bound);
    return static_cast<double>(best.count()) / static_cast<double>(bound.count());
}

Wire wire(std::int64_t alpha, std::int64_t beta) { return {Ticks(alpha), Ticks(beta), {}}; }

constexpr auto kAllGather = CollectiveKind::AllGather;
constexpr auto kReduceScatter = CollectiveKind::ReduceScatter;

}  // namespace

TEST_CASE("flooding through a single switch is optimal") {
    for (const std::uint32_t npus : {2U, 5U, 8U, 33U}) {
        for (const SwitchRule& rule : {SwitchRule{}, SwitchRule{.cut_through = true}, SwitchRule{.buffer = 0},
                                       SwitchRule{.copy = true, .reduce = true}}) {
            CAPTURE(npus);
            CAPTURE(rule.cut_through);
            CAPTURE(rule.copy);
            const TopologyParts star = test::star(npus, rule, 1, 2).parts();
            CHECK(ratio(whole(star, kAllGather)) == 1.0);
            CHECK(ratio(whole(star, kReduceScatter)) == 1.0);
        }
    }
}

TEST_CASE("servers with NVSwitches are flooded at the bound, or one link's time above") {
    CHECK(ratio(whole(generators::a100(wire(1, 6)), kAllGather)) == 1.0);
    CHECK(ratio(whole(generators::h100(wire(1, 6)), kAllGather)) == 1.0);
    CHECK(ratio(whole(generators::h100(wire(1, 6), generators::Bonding::Bonded), kAllGather, 4)) == 1.0);
    CHECK(ratio(whole(generators::dgx2(wire(1, 6)), kAllGather)) <= 33.0 / 27.0);
}

TEST_CASE("rail clusters, fat trees and dragonflies are flooded close to the bounds") {
    const generators::Rail rail{8, 8, wire(0, 1), wire(0, 9), {}};
    CHECK(ratio(whole(generators::rail(rail), kAllGather, 4)) <= 1.05);
    CHECK(ratio(whole(generators::rail(rail), kReduceScatter, 4)) <= 1.05);
    const generators::Rail crossbars{8, 4, wire(2, 3), wire(9, 17), {.cut_through = true}};
    CHECK(ratio(whole(generators::rail(crossbars), kAllGather, 2)) <= 1.15);
    const std::vector<Wire> even{wire(1, 1)}, thin{wire(1, 2), wire(1, 7)};
    CHECK(ratio(whole(generators::fat_tree(4, 3, even, {}), kAllGather)) <= 1.12);
    CHECK(ratio(whole(generators::fat_tree(8, 2, thin, {}), kAllGather)) <= 1.25);
    CHECK(ratio(whole(generators::fat_tree(4, 3, even, {.copy = true}), kAllGather)) <= 1.05);
    const generators::Dragonfly dragonfly{9, 4, 2, 2, wire(1, 1), wire(1, 1), wire(1, 1), {}};
    CHECK(ratio(whole(generators::dragonfly(dragonfly), kAllGather)) <= 1.15);
}

TEST_CASE("slow links into a server bring each chunk once") {
    const generators::Rail rail{6, 4, wire(0, 1), wire(0, 9), {}};
    const Instance instance = whole(generators::rail(rail), kAllGather);
    const auto schedule = flooded(instance, 1);
    REQUIRE(schedule);
    const auto from_rail = [&](const Send& send) {
        const Link& link = instance.topology().link(send.link);
        return link.src.index() >= 24 + 6 && link.dst.index() < 24;
    };
    CHECK(std::ranges::count_if(schedule->sends, from_rail) == 6 * 20);
}

TEST_CASE("a switch that copies gets each chunk once, and none that no holder takes from it") {
    const Instance instance =
        whole(generators::fat_tree(3, 2, std::vector<Wire>{wire(1, 1)}, {.copy = true}), kAllGather);
    const auto schedule = flooded(instance, 1);
    REQUIRE(schedule);
    std::map<std::pair<NodeId, ChunkId>, int> into, out;
    for (const Send& send : schedule->sends) {
        const Link& link = instance.topology().link(send.link);
        ++into[{link.dst, send.chunk}];
        ++out[{link.src, send.chunk}];
    }
    for (const auto& [at, count] : into) {
        CHECK(count == 1);
        if (instance.topology().is_switch(at.first)) CHECK(out.contains(at));
    }
}

TEST_CASE("a flood through switches of any kind is valid") {
    std::size_t solved = 0;
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        Rng rng(seed);
        const Instance instance(
            test::random_instance(rng, {.max_switches = 4, .max_collectives = 1, .group_forwarding = false}));
        if (!is_simple(instance)) continue;
        const auto schedule = flooded(instance, seed);
        if (!schedule) continue;
        ++solved;
        const Verdict verdict = verify::verify(instance, *schedule);
        INFO("seed ", seed, ": ", fault(verdict), "\n", test::json_of(instance));
        REQUIRE(verdict.valid());
    }
    CHECK(solved > 300);
}

TEST_CASE("late releases and long latencies do not slow down the switch flood") {
    // A look at the network every few ticks would take days; the limit is there to fail instead.
    const Stop patience(Stop::Seconds(60));
    Collective now = test::collective(kAllGather), later = now;
    later.id = "later";
    later.release = Ticks(std::int64_t{1} << 40);
    for (const SwitchRule& rule : {SwitchRule{}, SwitchRule{.copy = true}, SwitchRule{.cut_through = true}}) {
        const Instance released = test::on_group(test::star(4, rule, 0, 1), {0, 1, 2, 3}, {now, later});
        const auto waited = flooded(released, 1, patience);
        REQUIRE(waited);
        CHECK(verify::verify(released, *waited).valid());
        CHECK(waited->makespan < later.release + Ticks(12));

        TopologyParts parts = test::star(4, rule, 0, 1).parts();
        parts.links.front().wire.alpha = later.release;
        const Instance far = whole(std::move(parts), kAllGather);
        const auto crossed = flooded(far, 1, patience);
        REQUIRE(crossed);
        CHECK(verify::verify(far, *crossed).valid());
        CHECK(crossed->makespan < later.release + Ticks(12));
    }
}

TEST_CASE("the switch flood is deterministic for a seed and obeys stop") {
    const generators::Rail rail{4, 4, wire(1, 1), wire(1, 3), {}};
    const Instance instance = whole(generators::rail(rail), kAllGather);
    CHECK(flooded(instance, 7)->sends == flooded(instance, 7)->sends);
    const std::atomic<bool> stopped = true;
    CHECK_FALSE(flooded(instance, 7, Stop({}, &stopped)));
}

TEST_CASE("the switch flood declines networks without switches") {
    CHECK_FALSE(flooded(whole(test::line(3).parts(), kAllGather), 1));
}

TEST_CASE("an all-reduce is summed up at a switch that reduces and copies") {
    for (const std::uint32_t npus : {3U, 8U}) {
        const Instance instance =
            whole(test::star(npus, {.copy = true, .reduce = true}, 1, 1).parts(), CollectiveKind::AllReduce);
        synth::Request request;
        request.method = "greedy";
        // Up and down at the same time: one chunk after the other, and the way of the last.
        CHECK(synth::synthesize(instance, request).schedule.makespan == Ticks(npus + 3));
    }
}

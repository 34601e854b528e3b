// The textbook all-reduces: valid on every network that they fit, and as fast as the books say.

#include "heuristics/exchange/exchanges.hpp"

#include "heuristics/exchange/grown_trees.hpp"
#include "heuristics/exchange/round_plans.hpp"
#include "heuristics/exchange/tree_exchanges.hpp"
#include "heuristics/heuristic.hpp"
#include "io/instance_json.hpp"
#include "source_dir.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <map>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

Instance textbook(const std::string& name) {
    return io::read_instance(std::string(TUTTI_SOURCE_DIR "/tests/data/textbook/") + name + ".json");
}

std::optional<Schedule> made_by(std::string_view name, const Instance& instance) {
    const auto* exchange = find_heuristic(name)->as<ExchangeHeuristic>();
    REQUIRE(exchange != nullptr);
    REQUIRE(exchange->why_not(instance).empty());
    return exchange->run(Exchanges(instance, {}), Ticks(0), {});
}

/// With less local search than the heuristic does itself.
std::optional<Schedule> quickly_made_by(const Heuristic& heuristic, const Exchanges& exchanges) {
    if (heuristic.name == "grown-trees") return grow_exchange(exchanges, Ticks(0), 1, 60, {});
    return heuristic.as<ExchangeHeuristic>()->run(exchanges, Ticks(0), {});
}

/// The makespan of its schedule, which both checkers find valid.
std::int64_t makespan_by(std::string_view name, const Instance& instance) {
    const auto schedule = made_by(name, instance);
    REQUIRE(schedule);
    CHECK(broken(instance, *schedule).empty());
    return schedule->makespan.count();
}

SwitchRule random_rule(Rng& rng) {
    SwitchRule rule{.copy = rng.below(2) == 0, .reduce = rng.below(2) == 0, .cut_through = rng.below(2) == 0};
    if (!rule.cut_through && rng.below(4) == 0) rule.buffer = static_cast<std::uint32_t>(rng.below(3));
    return rule;
}

/// Boxes of NPUs that are joined directly or through switches, and the boxes likewise, with a link missing
/// now and then; all-reduces and reduce-scatters of all NPUs or some.
Instance random_boxes(Rng& rng) {
    const std::size_t boxes = 1 + rng.below(4), size = 1 + rng.below(5), npus = boxes * size;
    Net net(static_cast<std::uint32_t>(npus));
    const auto join = [&](const std::vector<std::size_t>& nodes, std::int64_t alpha, std::int64_t beta) {
        const std::size_t ways = 1 + rng.below(2);
        if (rng.below(2) == 0) {
            for (const std::size_t a : nodes) {
                for (const std::size_t b : nodes) {
                    if (a != b && rng.below(40) > 0) net.link(a, b, alpha, beta);
                }
            }
            return;
        }
        for (std::size_t way = 0; way < ways; ++way) {
            const std::size_t hub = net.add_switch(random_rule(rng));
            for (const std::size_t node : nodes) net.both(node, hub, alpha, beta);
        }
    };
    const auto alpha = static_cast<std::int64_t>(rng.below(12)),
               beta = static_cast<std::int64_t>(1 + rng.below(4));
    const auto far = static_cast<std::int64_t>(1 + rng.below(3));
    for (std::size_t box = 0; box < boxes; ++box) {
        std::vector<std::size_t> inside;
        for (std::size_t i = 0; i < size; ++i) inside.push_back(box * size + i);
        join(inside, alpha, beta);
    }
    const bool rails = rng.below(2) == 0;
    for (std::size_t rail = 0; rail < (rails ? size : 1); ++rail) {
        std::vector<std::size_t> across;
        for (std::size_t n = rail; n < npus; n += rails ? size : 1) across.push_back(n);
        join(across, alpha * far, beta * far);
    }
    if (rng.below(4) == 0) net.one_in_flight();
    std::vector<std::size_t> members;
    for (std::size_t n = 0; n < npus; ++n) {
        if (rng.below(3) > 0) members.push_back(n);
    }
    if (members.size() < 2 || rng.below(2) == 0) {
        members.clear();
        for (std::size_t n = 0; n < npus; ++n) members.push_back(n);
    }
    const auto kind = rng.below(4) > 0 ? CollectiveKind::AllReduce : CollectiveKind::ReduceScatter;
    Collective sums = collective(kind);
    sums.chunks = 1 + rng.below(2);
    sums.release = Ticks(static_cast<std::int64_t>(rng.below(2) * 5));
    if (rng.below(3) == 0) sums.forwarding = Forwarding::Group;
    return on_group(net, members, {sums});
}

Instance all_reduce_on(const Net& net, std::uint64_t chunks = 1) {
    Collective sums = collective(CollectiveKind::AllReduce);
    sums.chunks = chunks;
    return on_all(net, {sums});
}

}  // namespace

TEST_CASE("textbook algorithms make valid schedules on every network that they fit") {
    std::map<std::string_view, std::size_t> made;
    const std::uint64_t count = cases(100);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance = random_boxes(rng);
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const Exchanges exchanges(instance, {});
        for (const Heuristic& heuristic : heuristics::heuristics()) {
            if (heuristic.as<ExchangeHeuristic>() == nullptr) continue;
            INFO(heuristic.name);
            const auto schedule = quickly_made_by(heuristic, exchanges);
            if (!schedule) continue;
            ++made[heuristic.name];
            CHECK(broken(instance, *schedule).empty());
        }
    });
    for (const Heuristic& heuristic : heuristics::heuristics()) {
        if (heuristic.as<ExchangeHeuristic>() == nullptr) continue;
        INFO(heuristic.name);
        CHECK(made[heuristic.name] >= count / 100);
    }
}

TEST_CASE("trees and waves serve every kind of demand") {
    std::map<std::string_view, std::size_t> made;
    const std::uint64_t count = cases(150);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance(random_instance(rng));
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        const Exchanges exchanges(instance, {});
        for (const std::string_view name : {"direct-exchange", "grown-trees", "switch-sums"}) {
            const auto schedule = quickly_made_by(*find_heuristic(name), exchanges);
            if (!schedule) continue;
            ++made[name];
            INFO(name);
            CHECK(broken(instance, *schedule).empty());
        }
    });
    CHECK(made["direct-exchange"] >= count / 15);
    CHECK(made["grown-trees"] >= count / 15);
    CHECK(made["switch-sums"] >= count / 15);
}

TEST_CASE("where switches add and copy, a chunk takes each port once each way") {
    CHECK(makespan_by("switch-sums", textbook("star4-sharp")) == 10);                   // by hand: the same
    CHECK(makespan_by("switch-sums", textbook("h100x1-ct-copyred-c4")) == 19'874'368);  // by hand: the same
    CHECK(makespan_by("switch-sums", textbook("star16-ctred-ar")) == 34);  // 16 chunks of 2 ticks
    // One that stores takes beta twice, and both halves of every port work all the time.
    CHECK(makespan_by("switch-sums", all_reduce_on(star(6, {.copy = true, .reduce = true}, 1, 2))) ==
          6 * 2 + 2 + 2);
}

TEST_CASE("a switch that can do more never makes a schedule longer") {
    std::size_t able = 0, shorter = 0;
    const std::uint64_t count = cases(60);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance = random_boxes(rng);
        if (!is_feasible(instance)) return;
        INFO(json_of(instance));
        InstanceParts parts{instance.name(), instance.topology().parts(), instance.groups(),
                            instance.collectives()};
        bool can_more = false;
        for (SwitchRule& rule : parts.topology.switches) {
            can_more = can_more || rule.copy || rule.reduce;
            rule.copy = rule.reduce = false;
        }
        if (!can_more) return;
        ++able;
        synth::Request request;
        request.method = "greedy";
        const Ticks plain = synth::synthesize(Instance(std::move(parts)), request).schedule.makespan;
        const Ticks makespan = synth::synthesize(instance, request).schedule.makespan;
        CHECK(makespan <= plain);
        shorter += makespan < plain ? 1U : 0U;
    });
    CHECK(able >= count / 3);
    CHECK(shorter >= count / 60);  // seldom: message-orders makes plain ones as short
}

TEST_CASE("a switch that only copies sends what the root has to all at once") {
    const Instance gather =
        on_all(star(6, {.copy = true, .cut_through = true}, 1, 2), {collective(CollectiveKind::AllGather)});
    CHECK(makespan_by("switch-sums", gather) == 6 * 2 + 2);
    const Instance scatter = on_all(star(6, {.reduce = true, .cut_through = true}, 1, 2),
                                    {collective(CollectiveKind::ReduceScatter)});
    CHECK(makespan_by("switch-sums", scatter) == 6 * 2 + 2);
}

TEST_CASE("several switches between all NPUs carry messages of different distances") {
    const Instance instance = io::read_instance(TUTTI_SOURCE_DIR "/instances/dgx/a100-ar-bonded.json");
    CHECK(makespan_by("direct-exchange", instance) ==
          106'457'600);  // 5 beta + 4 alpha; in two phases 127 429 120
}

TEST_CASE("justification makes a tree exchange shorter, never longer") {
    std::size_t gained = 0;
    const std::uint64_t count = cases(60);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const Instance instance = random_boxes(rng);
        if (!is_feasible(instance)) return;
        const Exchanges exchanges(instance, {});
        for (const TreeMaker& maker : textbook_trees(exchanges)) {
            const auto trees = trees_of(exchanges, maker);
            const auto once = schedule_sum_trees(exchanges.graph(), trees, {}, {});
            const auto again = schedule_sum_trees(exchanges.graph(), trees, {.justifications = 3}, {});
            REQUIRE(once.has_value() == again.has_value());
            if (!once) continue;
            CHECK(makespan_of(*again) <= makespan_of(*once));
            gained += makespan_of(*again) < makespan_of(*once) ? 1U : 0U;
            CHECK(broken(instance, schedule_of(instance, *again)).empty());
        }
    });
    CHECK(gained >= count / 60);
}

TEST_CASE("dimension exchange leads through NPUs outside the group") {
    const Instance instance =
        io::read_instance(TUTTI_SOURCE_DIR "/instances/hypercube/hypercube8-ar-group16.json");
    CHECK(makespan_by("recursive-doubling", instance) == 17);  // its lower bound
}

TEST_CASE("grown trees are short where no textbook fits") {
    const auto grown = [](const std::string& path) {
        const Instance instance =
            io::read_instance(std::string(TUTTI_SOURCE_DIR "/instances/") + path + ".json");
        const auto schedule = grow_exchange(Exchanges(instance, {}), Ticks(0), 1, 600, {});
        REQUIRE(schedule);
        CHECK(broken(instance, *schedule).empty());
        return schedule->makespan.count();
    };
    CHECK(grown("custom/custom-wan-sites") <= 228'662'880);          // in two phases 352 468 160
    CHECK(grown("fat_tree/fattree2x3-dead-spine") <= 33);            // 36
    CHECK(grown("rail/rail2x4-ar") <= 98'900'000);                   // 121 848 112
    CHECK(grown("cluster/cluster2xdgx1-shared-ar") <= 575'000'000);  // 640 645 600
}

TEST_CASE("recursive doubling on a 4-cube takes four latencies, the chunks in different dimensions") {
    CHECK(makespan_by("recursive-doubling", textbook("hc16")) == 407);  // its lower bound; by hand 419
}

TEST_CASE("a folded exchange on a 4-cube keeps every link busy from the first tick to the last") {
    // 16 chunks with 40 messages each over 64 links: ten ticks to start them, and a tick of latency.
    const Instance cube = io::read_instance(TUTTI_SOURCE_DIR "/instances/hypercube/hypercube4-ar.json");
    CHECK(makespan_by("folded-exchange", cube) == 11);  // its lower bound
    CHECK(makespan_by("recursive-doubling", cube) >= 17);
    CHECK(makespan_by("halving-doubling", cube) >= 15);
}

TEST_CASE("on a DGX-1 four meet, then two: two latencies instead of three") {
    CHECK(makespan_by("recursive-doubling", textbook("dgx1k")) <= 2'180'000);
    CHECK(makespan_by("recursive-multiplying", textbook("dgx1k")) == 1'425'600);  // its lower bound
}

TEST_CASE("all pairs takes one latency") {
    CHECK(makespan_by("all-pairs", textbook("oneshot")) == 108);  // its lower bound
}

TEST_CASE("all pairs is not possible where links are too slow to send all before the first arrival") {
    CHECK(made_by("all-pairs", all_reduce_on(star(8, {}, 60, 1))));
    CHECK_FALSE(made_by("all-pairs", all_reduce_on(star(8, {}, 1, 5))));
}

TEST_CASE("a ring both ways takes half as many steps as its diameter allows") {
    Net ring(9);
    for (std::size_t n = 0; n < 9; ++n) ring.both(n, (n + 1) % 9, 1, 1);
    // Eight messages of 2 ticks along the line that is left of the ring; and both links of an NPU are shared
    // by chunks. One way around and back would take 16 messages.
    const std::int64_t makespan = makespan_by("two-way-ring", all_reduce_on(ring));
    CHECK(makespan >= 16);
    CHECK(makespan < 32);
}

TEST_CASE("numbers of ranks that are no powers of two fold the others in") {
    for (const std::uint32_t npus : {3U, 5U, 6U, 7U, 11U, 12U, 13U}) {
        Net full(npus);
        for (std::size_t a = 0; a < npus; ++a) {
            for (std::size_t b = 0; b < npus; ++b) {
                if (a != b) full.link(a, b, 1000, 1);
            }
        }
        const Instance instance = all_reduce_on(full);
        INFO(npus);
        std::int64_t rounds = 2;  // fold and unfold
        for (std::uint32_t n = npus; n > 1; n /= 2) ++rounds;
        const std::int64_t doubling = makespan_by("recursive-doubling", instance);
        CHECK(doubling / 1000 == rounds);
        CHECK(makespan_by("halving-doubling", instance) >= doubling - 2000);
        CHECK(makespan_by("all-pairs", instance) / 1000 == 1);
        CHECK(makespan_by("direct-exchange", instance) / 1000 == 2);
    }
}

TEST_CASE("an exchange hears the stop while it prepares and while it schedules") {
    const std::atomic<bool> now = true;
    const Stop stop(std::nullopt, &now);
    const Instance instance = textbook("hc16");
    const Exchanges exchanges(instance, {});
    CHECK_FALSE(recursive_doubling(exchanges, Ticks(0), stop));
    CHECK_FALSE(direct_exchange(Exchanges(textbook("oneshot"), stop), Ticks(0), stop));
}

TEST_CASE("partners are near each other first") {
    // Two boxes of four; NPU i of one is joined to NPU i of the other, slowly.
    Net boxes(8);
    for (std::size_t box = 0; box < 8; box += 4) {
        for (std::size_t a = 0; a < 4; ++a) {
            for (std::size_t b = 0; b < 4; ++b) {
                if (a != b) boxes.link(box + a, box + b, 1, 1);
            }
        }
    }
    for (std::size_t a = 0; a < 4; ++a) boxes.both(a, a + 4, 50, 1);
    const Instance instance = all_reduce_on(boxes);
    const MessageGraph graph(instance);
    const std::vector<NodeId> mixed = nodes({0, 5, 2, 7, 4, 1, 6, 3});
    const auto order = doubling_order(graph, mixed, ChunkId(0));
    REQUIRE(order);
    for (std::size_t i = 0; i < 8; ++i) {
        CHECK(graph.time((*order)[i], (*order)[i ^ 1], ChunkId(0)) == Ticks(2));
        CHECK(graph.time((*order)[i], (*order)[i ^ 2], ChunkId(0)) == Ticks(2));
        CHECK(graph.time((*order)[i], (*order)[i ^ 4], ChunkId(0)) == Ticks(51));
    }
    const auto levels = partitions(graph, nodes({0, 1, 2, 3, 4, 5, 6, 7}), ChunkId(0));
    REQUIRE(levels.size() == 1);
    CHECK(levels[0] == Parts{nodes({0, 1, 2, 3}), nodes({4, 5, 6, 7})});
}

TEST_CASE("a textbook algorithm whose turn is over may finish its first try, and nothing else") {
    const Instance instance = io::read_instance(TUTTI_SOURCE_DIR "/instances/hypercube/hypercube4-ar.json");
    const Exchanges exchanges(instance, {});
    const Stop over(Stop::Seconds(0));
    for (const std::string_view name : {"recursive-doubling", "recursive-multiplying", "folded-exchange",
                                        "halving-doubling", "dimension-exchange"}) {
        CAPTURE(name);
        const auto* exchange = find_heuristic(name)->as<ExchangeHeuristic>();
        CHECK_FALSE(exchange->run(exchanges, Ticks(0), over));
        const auto first = exchange->run(exchanges, Ticks(0), {over, {}});
        REQUIRE(first);
        CHECK(broken(instance, *first).empty());
        CHECK(first->makespan >= exchange->run(exchanges, Ticks(0), {})->makespan);
    }
}

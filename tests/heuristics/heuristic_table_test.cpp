// Every row of the table: it can be run alone, its schedule passes the verifier, and where it does not apply
// it says why.

#include "core/generators/mesh_torus.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/ring.hpp"
#include "heuristics/greedy.hpp"
#include "heuristics/portfolio.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace tutti;

namespace {

Instance on(const TopologyParts& topology, CollectiveKind kind) {
    InstanceParts parts;
    parts.name = "net";
    parts.topology = topology;
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(kind)};
    return Instance(std::move(parts));
}

TopologyParts mesh() {
    const std::vector<std::uint64_t> dims{3, 4};
    return generators::mesh(dims, std::vector<Wire>{{Ticks(1), Ticks(2), {}}});
}

/// For each heuristic an instance that it is for, and one that it is not for, with words of the reason.
struct Sample {
    Instance fits;
    std::optional<Instance> does_not = {};
    std::string reason = {};
};

std::map<std::string_view, Sample> samples() {
    const Instance gather = on(mesh(), CollectiveKind::AllGather);
    const Instance all_reduce = on(mesh(), CollectiveKind::AllReduce);
    const Instance to_all = on(mesh(), CollectiveKind::AllToAll);
    const Instance starry =
        test::on_all(test::star(4, {.copy = true}), {test::collective(CollectiveKind::AllGather)});
    const Instance ring = on(generators::ring(6, {Ticks(1), Ticks(2), {}}), CollectiveKind::AllGather);
    const Instance plain_star =
        test::on_all(test::star(4, {}), {test::collective(CollectiveKind::AllGather)});
    const Instance star_to_all =
        test::on_all(test::star(4, {}), {test::collective(CollectiveKind::AllToAll)});
    const Instance from_one = test::on_all(test::star(5, {}), {test::collective(CollectiveKind::Broadcast)});
    const Instance rails =
        on(generators::rail({3, 2, {Ticks(1), Ticks(1), {}}, {Ticks(2), Ticks(3), {}}, {}}),
           CollectiveKind::AllReduce);
    Collective several = test::collective(CollectiveKind::Broadcast);
    several.chunks = 4;
    const Instance pieces = test::on_all(test::line(4), {several});
    Collective late = test::collective(CollectiveKind::AllReduce);
    late.releases = {Ticks(0), Ticks(0), Ticks(0), Ticks(9)};
    const Instance straggler = test::on_all(test::star(4, {}), {late});
    const Instance in_time = test::on_all(test::star(4, {}), {test::collective(CollectiveKind::AllReduce)});
    test::Net tree(3);
    tree.link(0, 1).link(0, 2);
    const Instance one_way = test::on_all(tree, {test::collective(CollectiveKind::Broadcast)});
    const Instance ring_sum = on(generators::ring(6, {Ticks(1), Ticks(2), {}}), CollectiveKind::AllReduce);
    return {{"symmetry", {ring, starry, "switches"}},
            {"symmetric-trees", {ring_sum, ring, "only all-reduces"}},
            {"priced-paths", {to_all, gather, "several"}},
            {"negotiated-paths", {to_all, gather, "several"}},
            {"port-matching", {starry, gather, "no switches"}},
            {"synchronous-steps", {gather, to_all, "every NPU"}},
            {"link-matching", {gather, starry, "switches"}},
            {"packed-trees", {pieces, gather, "holders"}},
            {"steiner-trees", {all_reduce}},
            {"tree-insertion", {starry}},
            {"ruin-and-recreate", {gather, plain_star, "switch"}},
            {"pipelined-all-reduce", {all_reduce, gather, "no sums"}},
            {"ring", {all_reduce, one_way, "no path"}},
            {"two-levels", {rails, plain_star, "one level"}},
            {"crossbar-rounds", {plain_star, gather, "no switches"}},
            {"level-rounds", {plain_star, all_reduce, "no switches"}},
            {"packed-rounds", {star_to_all, plain_star, "several"}},
            {"message-orders", {plain_star, rails, "several receivers"}},
            {"broadcast-rounds", {from_one, plain_star, "too many roots"}},
            {"last-rank", {straggler, in_time, "after the others"}},
            {"switch-sums", {starry, all_reduce, "no switch"}},
            {"recursive-doubling", {all_reduce, gather, "no sums"}},
            {"recursive-multiplying", {all_reduce, gather, "no sums"}},
            {"folded-exchange", {all_reduce, gather, "no sums"}},
            {"dimension-exchange", {ring_sum, gather, "no sums"}},
            {"all-pairs", {all_reduce, gather, "no sums"}},
            {"direct-exchange", {all_reduce}},
            {"halving-doubling", {all_reduce}},
            {"two-way-ring", {gather}},
            {"double-trees", {gather}},
            {"two-level-trees", {all_reduce}},
            {"grown-trees", {all_reduce}}};
}

}  // namespace

TEST_CASE("every heuristic has a name of its own, a sentence, and is found by its name") {
    std::set<std::string_view> names;
    for (const heuristics::Heuristic& heuristic : heuristics::heuristics()) {
        INFO(heuristic.name);
        CHECK(names.insert(heuristic.name).second);
        CHECK(heuristic.help.size() > 20);
        CHECK(heuristics::find_heuristic(heuristic.name) == &heuristic);
    }
    CHECK(heuristics::find_heuristic("magic") == nullptr);
}

TEST_CASE(
    "every heuristic alone makes a valid schedule where it applies, and gives a reason where it does not") {
    const auto all = samples();
    for (const heuristics::Heuristic& heuristic : heuristics::heuristics()) {
        INFO(heuristic.name);
        REQUIRE(all.contains(heuristic.name));
        const Sample& sample = all.at(heuristic.name);
        CHECK(heuristics::why_not(sample.fits, heuristic) == "");
        if (sample.does_not) {
            const std::string why = heuristics::why_not(*sample.does_not, heuristic);
            INFO(why);
            CHECK(why.find(sample.reason) != why.npos);
        }
        if (heuristic.as<heuristics::OrbitHeuristic>() != nullptr)
            continue;  // tests/heuristics/quotient_test
        if (heuristic.as<heuristics::DirectHeuristic>() != nullptr) continue;  // tests/heuristics/ring_test
        if (heuristic.as<heuristics::ExchangeHeuristic>() != nullptr)
            continue;  // tests/heuristics/exchange_test
        heuristics::GreedyRequest request;
        request.alone = &heuristic;
        const auto made = heuristics::greedy_search(sample.fits, request);
        REQUIRE(made.schedule);
        CHECK(verify::verify(sample.fits, *made.schedule).valid());
        CHECK(std::ranges::all_of(made.candidates, [&](const Candidate& candidate) {
            const bool starts_it =
                heuristic.name == "ruin-and-recreate" && candidate.heuristic == "tree-insertion";
            return candidate.heuristic == heuristic.name || starts_it;
        }));
        const auto own = std::ranges::find(made.candidates, heuristic.name, &Candidate::heuristic);
        CHECK(own != made.candidates.end());
    }
}

TEST_CASE("the winner is among the candidates, and its makespan is the schedule's") {
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::AllReduce,
                                      CollectiveKind::ReduceScatter, CollectiveKind::AllToAll}) {
        const Instance instance = on(mesh(), kind);
        const auto made = heuristics::greedy_search(instance, {});
        REQUIRE(made.schedule);
        INFO(made.heuristic);
        const auto winner = std::ranges::find_if(made.candidates, [&](const Candidate& candidate) {
            return candidate.heuristic == made.heuristic && candidate.part.empty();
        });
        REQUIRE(winner != made.candidates.end());
        CHECK(winner->makespan == made.schedule->makespan);
        CHECK(winner->sends == made.schedule->sends.size());
        for (const Candidate& candidate : made.candidates) {
            INFO(candidate.heuristic);
            CHECK(candidate.makespan.has_value() == candidate.why_none.empty());
            if (candidate.part.empty() && candidate.makespan)
                CHECK(*candidate.makespan >= made.schedule->makespan);
        }
    }
}

TEST_CASE("options of a request decide which heuristics have a turn") {
    const Instance instance = on(mesh(), CollectiveKind::AllReduce);
    const auto has = [&](const SearchOptions& options, std::string_view name) {
        heuristics::GreedyRequest request;
        request.options = options;
        const auto made = heuristics::greedy_search(instance, request);
        return std::ranges::find(made.candidates, name, &Candidate::heuristic) != made.candidates.end();
    };
    CHECK(has({}, "pipelined-all-reduce"));
    CHECK(has({}, "tree-insertion"));
    SearchOptions options;
    options.pipeline_sends = 0;
    options.slow_sends = 0;
    CHECK_FALSE(has(options, "pipelined-all-reduce"));
    CHECK_FALSE(has(options, "tree-insertion"));
}

TEST_CASE("several tries of a heuristic are one candidate, with the best of them") {
    std::vector<Candidate> candidates;
    heuristics::enter(candidates, {"a", {}, {}, "stopped", 1, 0});
    heuristics::enter(candidates, {"a", {}, Ticks(7), {}, 2, 10});
    heuristics::enter(candidates, {"a", {}, Ticks(9), {}, 4, 20});
    heuristics::enter(candidates, {"a", "reduction", Ticks(3), {}, 1, 5});
    REQUIRE(candidates.size() == 2);
    CHECK(candidates[0] == Candidate{"a", {}, Ticks(7), {}, 7, 10});
    CHECK(candidates[1].part == "reduction");
}

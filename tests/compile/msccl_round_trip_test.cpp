// Schedules of every kind on every sort of network become plans that the verifier accepts in every mode they
// claim, within the target's limits, and that read back as they were written.

#include "compile/msccl_lowering.hpp"
#include "core/generators/cluster.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/full.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "heuristics/greedy.hpp"
#include "io/msccl_xml.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/plan/plan_verifier.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using namespace tutti::compile;

plan::PlanVerdict verdict_of(const MscclResult& result, const plan::MscclPlan& plan, plan::Target target) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    reading.target = target;
    reading.strict_dependencies = true;
    return verify::verify(plan, reading);
}

plan::MscclPlan read_back(const plan::MscclPlan& plan) {
    io::Source source = io::Source::of_text(io::msccl_xml_text(plan), "plan.xml");
    return io::read_msccl_xml(source);
}

/// What the lowerings came to.
struct Tally {
    std::size_t plans = 0, in_place = 0, plain = 0, relayed = 0;
};

bool is_nameless(CollectiveKind kind) {
    return kind == CollectiveKind::AllToAllV || kind == CollectiveKind::AllToNext ||
           kind == CollectiveKind::Permute || kind == CollectiveKind::Custom;
}

/// The target, or one that knows the kind.
std::optional<plan::Target> knowing(std::optional<plan::Target> target, CollectiveKind kind) {
    if (!target || is_nameless(kind)) return std::nullopt;
    const bool small = kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
    return small && target == plan::Target::Msccl ? plan::Target::MscclExecutor : target;
}

/// Ranks behind the group's only pass on: they have scratch, and the condition asks nothing of them.
void check_relays(const MscclResult& result) {
    CHECK(result.plan.collective == "custom");
    CHECK(result.target == plan::Target::Msccl);
    REQUIRE(result.condition);
    for (std::size_t r = result.members; r < result.npus.size(); ++r) {
        const plan::Gpu& relay = result.plan.gpus[r];
        CHECK(relay.input_chunks == 0);
        CHECK(relay.output_chunks == 0);
        CHECK_FALSE(relay.blocks.empty());
        CHECK(result.condition->inputs.at(Rank(r)).empty());
        CHECK_FALSE(result.condition->outputs.contains(Rank(r)));
    }
}

void check_plan(const Instance& instance, const Schedule& schedule, CollectiveId collective,
                MscclOptions options, Tally& tally) {
    const CollectiveKind kind = instance.collective(collective).kind;
    options.target = knowing(options.target, kind);
    const auto judged = [](const MscclResult& candidate, const plan::MscclPlan& plan) {
        return verdict_of(candidate, plan, candidate.target);
    };
    plan::PlanVerdict last;
    const auto result =
        first_valid_msccl(instance, schedule, collective, options, [&](const MscclResult& candidate) {
            last = judged(candidate, candidate.plan);
            return last.verdict;
        });
    INFO(name_of(last.verdict), " ", last.violations.empty() ? "" : last.violations.front().message);
    REQUIRE(result);
    if (options.target) CHECK(result->target == *options.target);
    const plan::MscclPlan again = read_back(result->plan);
    CHECK(again == result->plan);
    const plan::PlanVerdict verdict = judged(*result, again);
    CHECK(verdict.verdict == plan::PlanClass::Valid);
    INFO("warning: ", verdict.warnings.empty() ? "" : verdict.warnings.front().message);
    CHECK(verdict.warning_count == 0);
    // Only an all-to-all's or a nameless kind's results can overwrite another chunk.
    const bool relayed = result->npus.size() > result->members;
    if (kind != CollectiveKind::AllToAll && !is_nameless(kind) && !relayed) CHECK(*result->plan.in_place);
    if (kind == CollectiveKind::AllReduce) CHECK(*result->plan.in_place);
    if (relayed) check_relays(*result);
    ++tally.plans;
    if (relayed) ++tally.relayed;
    if (*result->plan.in_place) ++tally.in_place;
    if (result->effort == MscclEffort::Plain) ++tally.plain;
}

Schedule synthesized(const Instance& instance, std::uint64_t seed = 1) {
    auto schedule = heuristics::greedy(instance, {.seed = seed});
    REQUIRE(schedule);
    REQUIRE(verify::verify(instance, *schedule).valid());
    return std::move(*schedule);
}

struct Network {
    const char* name;
    TopologyParts parts;
};

std::vector<Network> networks() {
    const Wire wire{Ticks(3), Ticks(2), {}};
    const Wire fast{Ticks(0), Ticks(1), {}};
    const std::vector<Wire> wires{wire};
    const std::vector<std::uint64_t> mesh{2, 3}, torus{3, 3};
    generators::Cluster cluster;
    cluster.node = generators::fully_connected(3, fast);
    cluster.nodes = 2;
    cluster.network = generators::star(2, wire);
    return {{"ring", generators::ring(5, wire)},
            {"mesh", generators::mesh(mesh, wires)},
            {"torus", generators::torus(torus, wires)},
            {"full", generators::fully_connected(4, fast)},
            {"dgx1", generators::dgx1(fast)},
            {"star", generators::star(4, wire)},
            {"cut-through star", generators::star(4, wire, {.cut_through = true})},
            {"cluster", generators::cluster(cluster)}};
}

Collective filled(CollectiveKind kind, std::uint64_t chunks, std::size_t ranks, Rng& rng) {
    Collective c = test::collective(kind);
    c.forwarding = Forwarding::Group;
    if (kind != CollectiveKind::AllToAllV && kind != CollectiveKind::Custom) c.chunks = chunks;
    if (has_root(kind)) c.root = Rank(rng.below(ranks));
    if (kind == CollectiveKind::AllToAllV) {
        c.counts.assign(ranks, std::vector<std::uint64_t>(ranks));
        for (auto& row : c.counts) {
            for (auto& count : row) count = rng.below(chunks + 1);
        }
    }
    if (kind == CollectiveKind::Permute) {
        for (std::size_t r = 0; r < ranks; ++r) c.pairs.emplace_back(Rank(r), Rank((r + 2) % ranks));
    }
    return c;
}

}  // namespace

TEST_CASE("every kind on every network becomes a plan that the verifier accepts") {
    Rng rng(1);
    Tally tally;
    for (const Network& network : networks()) {
        for (const auto name : collective_kind_names()) {
            const CollectiveKind kind = kind_named(name).value();
            if (kind == CollectiveKind::Custom) continue;
            for (std::uint64_t chunks = 1; chunks <= 3; ++chunks) {
                INFO(network.name, " ", name, " ", chunks);
                Group all{"all", {}};
                for (std::size_t n = 0; n < network.parts.npus; ++n) all.members.emplace_back(n);
                const Instance instance(
                    {"case", network.parts, {all}, {filled(kind, chunks, network.parts.npus, rng)}});
                const Schedule schedule = synthesized(instance);
                for (const auto target :
                     {plan::Target::Msccl, plan::Target::MscclExecutor, plan::Target::Rccl}) {
                    check_plan(instance, schedule, CollectiveId(0), {.target = target}, tally);
                }
            }
        }
    }
    CHECK(tally.plans == 8 * 11 * 3 * 3);
}

TEST_CASE("a group's plan has its ranks, wherever they are in the network") {
    Tally tally;
    const std::vector<std::uint64_t> dims{3, 3};
    const std::vector<Wire> wires{Wire{Ticks(1), Ticks(1), {}}};
    const Group corner{"corner", test::nodes({4, 3, 0, 1})};
    const Group row{"row", test::nodes({8, 6, 7})};
    auto first = test::collective(CollectiveKind::AllReduce, "first");
    auto second = test::collective(CollectiveKind::ReduceScatter, "second");
    second.group = GroupId(1);
    second.chunks = 2;
    first.forwarding = second.forwarding = Forwarding::Group;
    const Instance instance({"groups", generators::mesh(dims, wires), {corner, row}, {first, second}});
    const Schedule schedule = synthesized(instance);
    check_plan(instance, schedule, CollectiveId(0), {}, tally);
    check_plan(instance, schedule, CollectiveId(1), {}, tally);
    CHECK(lower_to_msccl(instance, schedule, CollectiveId(0), {}).plan.ranks == 4);
    CHECK(lower_to_msccl(instance, schedule, CollectiveId(1), {}).plan.ranks == 3);
    CHECK(lower_to_msccl(instance, schedule, CollectiveId(1), {}).plan.chunks_per_loop == 6);
}

TEST_CASE("wires that carry many messages at once still give plans for FIFOs of two") {
    Tally tally;
    const Wire far{Ticks(40), Ticks(1), {}};
    for (const auto kind :
         {CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
          CollectiveKind::AllToAll, CollectiveKind::Reduce, CollectiveKind::Broadcast}) {
        for (const std::uint64_t chunks : {1u, 5u, 12u}) {
            INFO(name_of(kind), " ", chunks);
            auto collective = test::collective(kind);
            collective.chunks = chunks;
            if (has_root(kind)) collective.root = Rank(1);
            Group all{"all", test::nodes({0, 1, 2, 3, 4})};
            const Instance instance({"far", generators::ring(5, far), {all}, {collective}});
            const Schedule schedule = synthesized(instance);
            for (const auto protocol : {plan::Protocol::Simple, plan::Protocol::LL}) {
                check_plan(instance, schedule, CollectiveId(0), {.protocol = protocol}, tally);
            }
        }
    }
    CHECK(tally.plans == 36);
}

TEST_CASE("random instances become valid plans or are refused with a reason") {
    Tally tally;
    std::size_t refused = 0;
    const std::uint64_t count = test::cases(250);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(test::random_instance(rng));
        if (!test::is_feasible(instance)) return;
        INFO(test::json_of(instance));
        const Schedule schedule = synthesized(instance, seed);
        for (std::size_t c = 0; c < instance.collectives().size(); ++c) {
            MscclOptions options;
            if (rng.below(2) == 0) options.target = static_cast<plan::Target>(rng.below(3));
            options.protocol = static_cast<plan::Protocol>(rng.below(3));
            try {
                check_plan(instance, schedule, CollectiveId(c), options, tally);
            } catch (const InputError& error) {
                const std::string text = error.what();
                INFO(text);
                const bool known =
                    text.find("are relays") != text.npos || text.find("a switch copies") != text.npos ||
                    text.find("a switch reduces") != text.npos || text.find("of one size") != text.npos;
                CHECK(known);
                ++refused;
            }
        }
    });
    MESSAGE(tally.plans, " plans, ", tally.plain, " of them plain, ", tally.relayed, " with relays, ",
            refused, " refused");
    CHECK(tally.plans > refused);
    CHECK(tally.relayed > count / 25);
}

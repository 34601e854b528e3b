// Our own schedules, lowered to plans of others' formats, take on their topology about what they took before:
// the two clocks agree. Lowering may lose some (a thread block serves its messages in order), never gain
// below the bound.

#include "bounds/bounds.hpp"
#include "compile/execution_lowering.hpp"
#include "compile/msccl_lowering.hpp"
#include "compile/step_lowering.hpp"
#include "core/generators/full.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "timing/plan_timing.hpp"

#include <doctest/doctest.h>

namespace tutti {
namespace {

const Wire kWire{Ticks(3), Ticks(2), {}};

std::vector<TopologyParts> networks() {
    const std::vector<Wire> wires{kWire};
    const std::vector<std::uint64_t> mesh{2, 3}, torus{3, 3};
    return {
        generators::ring(5, kWire),    generators::line(4, kWire),      generators::fully_connected(5, kWire),
        generators::mesh(mesh, wires), generators::torus(torus, wires), generators::star(5, kWire)};
}

std::vector<Instance> instances(std::initializer_list<CollectiveKind> kinds) {
    std::vector<Instance> all;
    for (const TopologyParts& network : networks()) {
        Group everybody{"all", {}};
        for (std::uint32_t npu = 0; npu < network.npus; ++npu) everybody.members.emplace_back(npu);
        for (const CollectiveKind kind : kinds) {
            for (const std::uint64_t chunks : {1U, 3U}) {
                Collective collective;
                collective.id = "c";
                collective.kind = kind;
                collective.chunks = chunks;
                if (has_root(kind)) collective.root = Rank(1);
                all.emplace_back(InstanceParts{"case", network, {everybody}, {collective}});
            }
        }
    }
    return all;
}

struct Comparison {
    std::size_t cases = 0, as_fast = 0;
    double worst = 1;

    void add(const Instance& instance, Ticks scheduled, Ticks timed) {
        INFO(name_of(instance.collectives()[0].kind), " on ", instance.topology().npus(), " NPUs");
        CHECK(timed >= bounds::simple_bounds(instance).front().value);
        ++cases;
        if (timed <= scheduled) ++as_fast;
        worst = std::max(worst, static_cast<double>(timed.count()) / static_cast<double>(scheduled.count()));
    }
};

template <class Lower>
Comparison compared(std::initializer_list<CollectiveKind> kinds, const timing::TimingOptions& options,
                    const Lower& lower) {
    Comparison comparison;
    for (const Instance& instance : instances(kinds)) {
        const auto schedule = heuristics::greedy(instance, {.seed = 1});
        REQUIRE(schedule);
        const auto plan = lower(instance, *schedule);
        comparison.add(instance, schedule->makespan,
                       timing::time_plan(plan, instance.topology(), options).makespan);
    }
    return comparison;
}

}  // namespace

using enum CollectiveKind;

TEST_SUITE("timing: lowered plans") {
    TEST_CASE("a schedule lowered to MSCCL takes about as long as the schedule") {
        timing::TimingOptions deep;
        deep.fifo_capacity = 64;
        const Comparison result =
            compared({AllGather, AllReduce, ReduceScatter, AllToAll, Broadcast, Reduce, Gather, Scatter},
                     deep, [](const Instance& instance, const Schedule& schedule) {
                         return compile::lower_to_msccl(instance, schedule, CollectiveId(0), {}).plan;
                     });
        CHECK(result.as_fast * 4 >= result.cases * 3);
        CHECK(result.worst < 1.5);
    }

    TEST_CASE("a schedule lowered to steps takes about as long as the schedule") {
        const Comparison result =
            compared({AllGather, AllReduce, ReduceScatter, AllToAll, Broadcast, Reduce, Gather, Scatter}, {},
                     [](const Instance& instance, const Schedule& schedule) {
                         return compile::lower_to_steps(instance, schedule);
                     });
        CHECK(result.as_fast * 10 >= result.cases * 9);
        CHECK(result.worst < 1.5);
    }

    TEST_CASE("a schedule lowered to MSCCL++ takes about as long as the schedule") {
        const Comparison result =
            compared({AllGather, AllReduce, ReduceScatter, AllToAll}, {},
                     [](const Instance& instance, const Schedule& schedule) {
                         return compile::lower_to_execution_plan(instance, schedule, CollectiveId(0)).plan;
                     });
        CHECK(result.as_fast * 3 >= result.cases * 2);
        CHECK(result.worst < 1.5);
    }

    TEST_CASE("plans in which relays take part end about when the schedule does") {
        std::size_t msccl = 0, mscclpp = 0;
        const std::uint64_t count = test::cases(300);
        test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
            const Instance instance(test::random_instance(rng, {.max_collectives = 1, .physical = false}));
            if (!test::is_feasible(instance)) return;
            INFO(test::json_of(instance));
            const auto schedule = heuristics::greedy(instance, {.seed = seed});
            REQUIRE(schedule);
            const auto check = [&](const auto& lowered, std::size_t& checked) {
                if (lowered.npus.size() == lowered.members) return;
                timing::TimingOptions options{.group = lowered.npus};
                options.fifo_capacity = 64;
                const Ticks timed = timing::time_plan(lowered.plan, instance.topology(), options).makespan;
                CHECK(timed > Ticks(0));
                CHECK(timed.count() <= 4 * schedule->makespan.count());
                ++checked;
            };
            try {
                check(compile::lower_to_msccl(instance, *schedule, CollectiveId(0), {}), msccl);
                check(compile::lower_to_execution_plan(instance, *schedule, CollectiveId(0)), mscclpp);
            } catch (const InputError&) {
                // Not every schedule can be a plan; tests/compile knows why.
            }
        });
        CHECK(msccl > count / 20);
        CHECK(mscclpp > count / 75);
    }
}

}  // namespace tutti

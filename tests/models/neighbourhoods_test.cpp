// Large neighbourhood search: from a poor schedule to the optimum, a few chunks at a time.

#include "models/neighbourhoods.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/time_indexed.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

namespace tutti::test {
namespace {

using namespace models;

/// Any schedule within that horizon.
Schedule some_schedule(const Instance& instance, Units64 horizon, const Backend& backend) {
    const Routing routing(instance);
    const Question question = time_indexed(routing, no_quotient(routing), {horizon});
    const models::Answer answer = backend.solve(question.program, {});
    REQUIRE(answer.has_solution());
    return schedule_of(routing, horizon, question.read(answer.values));
}

HorizonResult improved(const Instance& instance, Schedule incumbent, std::int64_t bound) {
    const auto judge = [&](const Schedule& schedule, const std::string&) {
        REQUIRE(verify::verify(instance, schedule).valid());
    };
    const HorizonRequest request{instance,
                                 {"trivial", Ticks(bound), {}, 0},
                                 std::move(incumbent),
                                 {},
                                 1,
                                 1,
                                 {},
                                 Stop(Stop::Seconds(60)),
                                 {},
                                 judge};
    return search_neighbourhoods(request);
}

Net ring(std::size_t npus) {
    Net net(static_cast<std::uint32_t>(npus));
    for (std::size_t npu = 0; npu < npus; ++npu) net.both(npu, (npu + 1) % npus);
    return net;
}

void check_reaches(const Instance& instance, std::int64_t optimum) {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const Schedule poor = some_schedule(instance, optimum + 4, *solver.backend);
    CHECK(poor.makespan > Ticks(optimum));
    const HorizonResult result = improved(instance, poor, optimum);
    CHECK(result.obstacle == "");
    CHECK(result.schedule.makespan == Ticks(optimum));
    CHECK(result.found_by == "cpsat neighbourhoods");
    CHECK(result.bound.kind == "trivial");
}

TEST_CASE("chunks are routed anew around the others: spreads, reductions, sums, flows") {
    check_reaches(on_all(ring(6), {collective(CollectiveKind::AllGather)}), 3);
    check_reaches(on_all(ring(6), {collective(CollectiveKind::ReduceScatter)}), 3);
    check_reaches(on_all(ring(4), {collective(CollectiveKind::AllReduce)}), 4);
    check_reaches(on_all(star(4, {}, 0, 1), {collective(CollectiveKind::AllToAll)}), 4);
}

TEST_CASE("a schedule that the models cannot say is left as it is, with the reason") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    const Instance limited = on_all(star(3, {.buffer = 1}, 0, 1), {collective(CollectiveKind::AllGather)});
    const HorizonResult result = improved(limited, some_schedule(limited, 9, *solver.backend), 1);
    CHECK(result.obstacle == "switches have limited buffers");
    CHECK(result.found_by == "");
    // 10^9 units
    const Instance fine = on_all(line(2, 1'000'000'007, 2), {collective(CollectiveKind::AllGather)});
    Schedule only;
    only.makespan = Ticks(1'000'000'009);
    CHECK(improved(fine, only, 1).obstacle == "its times are too many units (--option model-units)");
}

TEST_CASE("what stays is not changed, and where it is in the way there is no answer") {
    const OpenedBackend solver = find_backend("cpsat")->open();
    if (!solver) return;
    // Two chunks from 0 over 1 to 2: with the first at 0, the second ends at 3.
    Collective second = custom({0}, {1, 2});
    second.id = "second";
    const Instance instance = on_all(line(3), {custom({0}, {1, 2}), second});
    const Routing routing(instance);
    REQUIRE(routing.commodities().size() == 2);
    const Network& network = routing.network_of(routing.commodities()[0]);
    const auto hop = [&](std::size_t from, std::size_t to) {
        for (std::uint32_t h = 0; h < network.hops.size(); ++h) {
            if (network.hops[h].from == NodeId(from) && network.hops[h].ends.front().node == NodeId(to))
                return h;
        }
        return UINT32_MAX;
    };
    const std::vector<Transfer> first{{0, hop(0, 1), 0, Op::Copy}, {0, hop(1, 2), 1, Op::Copy}};
    for (const Units64 horizon : {2, 3}) {
        Asked asked{.horizon = horizon};
        asked.stays = {true, false};
        asked.standing = first;
        const Question question = time_indexed(routing, no_quotient(routing), asked);
        CHECK_FALSE(question.refutes);
        const models::Answer answer = solver.backend->solve(question.program, {});
        REQUIRE(answer.has_solution() == (horizon == 3));
        if (horizon == 2) continue;
        const auto transfers = question.read(answer.values);
        REQUIRE(transfers.size() == 2);
        for (const Transfer& t : transfers) {
            CHECK(t.commodity == 1);
            CHECK(t.start == (t.hop == hop(0, 1) ? 1 : 2));
        }
    }
}

}  // namespace
}  // namespace tutti::test

#include "timing/simulator.hpp"

#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

namespace tutti::timing {
namespace {

using test::Net;

TimedProgram program() {
    TimedProgram made;
    made.add_size(Bytes{1});
    return made;
}

RouteId route(TimedProgram& made, std::initializer_list<std::size_t> links) {
    std::vector<LinkId> ids;
    for (const std::size_t link : links) ids.emplace_back(link);
    return made.add_route(ids);
}

std::vector<std::int64_t> starts(const Timeline& line) {
    std::vector<std::int64_t> ticks;
    for (const LinkUse& use : line.uses) ticks.push_back(use.start.count());
    return ticks;
}

}  // namespace

TEST_SUITE("timing: simulator") {
    TEST_CASE("a transfer arrives alpha + beta after its start, and a free link takes it at once") {
        const Topology topology(Net(2).link(0, 1, 3, 5).parts());
        TimedProgram made = program();
        made.add_task(TimedTask::transfer(route(made, {0}), 0));
        const Timeline line = simulate(topology, made, true);
        CHECK(line.makespan == Ticks(8));
        CHECK(starts(line) == std::vector<std::int64_t>{0});
        REQUIRE(line.links.size() == 1);
        CHECK(line.links[0] == LinkLoad{LinkId(0), Ticks(5), 1, 1});
        CHECK_FALSE(line.stuck);
    }

    TEST_CASE("a link is busy for beta, or for alpha + beta where one message is in flight") {
        for (const bool one : {false, true}) {
            Net net(2);
            net.link(0, 1, 3, 5);
            if (one) net.one_in_flight();
            TimedProgram made = program();
            const RouteId over = route(made, {0});
            for (int i = 0; i < 3; ++i) made.add_task(TimedTask::transfer(over, 0));
            const Timeline line = simulate(Topology(net.parts()), made, true);
            CHECK(starts(line) ==
                  (one ? std::vector<std::int64_t>{0, 8, 16} : std::vector<std::int64_t>{0, 5, 10}));
            CHECK(line.links[0].busy == Ticks(one ? 24 : 15));
        }
    }

    TEST_CASE("a link serves the first request first, and at one tick the lower task number") {
        Net net(2);
        net.link(0, 1, 0, 10).link(1, 0, 0, 3);
        TimedProgram made = program();
        const RouteId there = route(made, {0}), back = route(made, {1});
        const TaskId late =
            made.add_task(TimedTask::transfer(there, 0));  // the lowest number, but it asks at tick 3
        const TaskId second = made.add_task(TimedTask::transfer(there, 0));
        const TaskId third = made.add_task(TimedTask::transfer(there, 0));
        const TaskId gate = made.add_task(TimedTask::transfer(back, 0));
        made.edges.push_back({gate, late, Moment::Arrive});
        const Timeline line = simulate(Topology(net.parts()), made, true);
        std::vector<std::pair<TaskId, std::int64_t>> order;
        for (const LinkUse& use : line.uses) order.emplace_back(use.task, use.start.count());
        CHECK(order ==
              std::vector<std::pair<TaskId, std::int64_t>>{{second, 0}, {third, 10}, {gate, 0}, {late, 20}});
    }

    TEST_CASE("tasks that become ready at a tick request links before that tick's requests are served") {
        Net net(3);
        net.link(0, 1, 0, 4).link(2, 1, 0, 4).link(1, 0, 0, 9);
        TimedProgram made = program();
        const RouteId out = route(made, {2});
        const TaskId low = made.add_task(TimedTask::transfer(out, 0));
        const TaskId high = made.add_task(TimedTask::transfer(out, 0));
        const TaskId a = made.add_task(TimedTask::transfer(route(made, {0}), 0));
        const TaskId b = made.add_task(TimedTask::transfer(route(made, {1}), 0));
        // `high` is free when a arrives, `low` when b does: both at tick 4, and b's arrival comes second.
        made.edges.push_back({a, high, Moment::Arrive});
        made.edges.push_back({b, low, Moment::Arrive});
        const Timeline line = simulate(Topology(net.parts()), made, true);
        CHECK(line.uses[2] == LinkUse{low, LinkId(2), Ticks(4)});
        CHECK(line.uses[3] == LinkUse{high, LinkId(2), Ticks(13)});
    }

    TEST_CASE("tasks wait for the moment that their edges name") {
        Net net(2);
        net.link(0, 1, 2, 5).link(1, 0, 0, 1);
        for (const auto& [moment, start] :
             {std::pair{Moment::Ready, 0}, {Moment::Start, 5}, {Moment::Arrive, 12}}) {
            TimedProgram made = program();
            const RouteId there = route(made, {0});
            made.add_task(TimedTask::transfer(there, 0));
            const TaskId second =
                made.add_task(TimedTask::transfer(there, 0));  // asks at 0, starts at 5, arrives at 12
            const TaskId waits = made.add_task(TimedTask::transfer(route(made, {1}), 0));
            made.edges.push_back({second, waits, moment});
            const Timeline line = simulate(Topology(net.parts()), made, true);
            for (const LinkUse& use : line.uses) {
                if (use.task == waits) CHECK(use.start == Ticks(start));
            }
        }
    }

    TEST_CASE("a switch stores and forwards; a cut-through switch starts the onward link alpha later") {
        for (const bool through : {false, true}) {
            Net net(2);
            const std::size_t hub = net.add_switch({.cut_through = through});
            net.link(0, hub, 3, 10).link(hub, 1, 2, 7);
            TimedProgram made = program();
            const RouteId way = route(made, {0, 1});
            made.add_task(TimedTask::transfer(way, 0));
            made.add_task(TimedTask::transfer(way, 0));
            const Timeline line = simulate(Topology(net.parts()), made, true);
            // Cut through: both links are busy for 10, the slower one's beta.
            CHECK(line.makespan == Ticks(through ? 10 + 3 + 2 + 10 : 10 + 13 + 9));
            CHECK(line.links[1].busy == Ticks(through ? 20 : 14));
        }
    }

    TEST_CASE("behind a transfer that waits for its second link, another one uses the first") {
        Net net(4);
        const std::size_t hub = net.add_switch({.cut_through = true});
        net.link(0, hub, 0, 4).link(1, hub, 0, 4).link(hub, 2, 0, 4).link(hub, 3, 0, 4);
        TimedProgram made = program();
        const TaskId first = made.add_task(TimedTask::transfer(route(made, {1, 2}), 0));
        const TaskId blocked = made.add_task(TimedTask::transfer(route(made, {0, 2}), 0));
        const TaskId other = made.add_task(TimedTask::transfer(route(made, {0, 3}), 0));
        const Timeline line = simulate(Topology(net.parts()), made, true);
        CHECK(line.makespan == Ticks(8));
        for (const LinkUse& use : line.uses) {
            CHECK(use.start == Ticks(use.task == blocked ? 4 : 0));
            if (use.task == first || use.task == other) CHECK(use.start == Ticks(0));
        }
    }

    TEST_CASE("a signal takes the latencies and no room") {
        Net net(3);
        net.link(0, 1, 3, 10).link(1, 2, 4, 10);
        TimedProgram made = program();
        const RouteId way = route(made, {0, 1});
        made.add_task(TimedTask::signal(way));
        made.add_task(TimedTask::transfer(route(made, {0}), 0));
        const Timeline line = simulate(Topology(net.parts()), made, true);
        CHECK(starts(line) == std::vector<std::int64_t>{0});
        CHECK(line.makespan == Ticks(13));
        made.tasks.pop_back();
        CHECK(simulate(Topology(net.parts()), made).makespan == Ticks(7));
    }

    TEST_CASE("a cycle of waiting tasks is reported") {
        const Topology topology(Net(2).link(0, 1).parts());
        TimedProgram made = program();
        made.add_task({});
        const TaskId a = made.add_task({}), b = made.add_task({});
        made.edges = {{a, b, Moment::Start}, {b, a, Moment::Start}};
        CHECK(simulate(topology, made).stuck == a);
    }

    TEST_CASE("a stop ends the simulation") {
        const Topology topology(Net(2).link(0, 1).parts());
        TimedProgram made = program();
        made.add_task(TimedTask::transfer(route(made, {0}), 0));
        const std::atomic<bool> raised{true};
        CHECK_THROWS_AS((void)simulate(topology, made, false, Stop(std::nullopt, &raised)), LimitError);
    }
}

}  // namespace tutti::timing

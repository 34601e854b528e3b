#include "timing/router.hpp"

#include "core/generators/dgx.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <set>

namespace tutti::timing {
namespace {

using test::Net;

std::vector<std::uint32_t> links(const std::optional<Route>& route) {
    REQUIRE(route);
    std::vector<std::uint32_t> numbers;
    for (const LinkId link : route->links) numbers.push_back(link.value());
    return numbers;
}

using Links = std::vector<std::uint32_t>;

}  // namespace

TEST_SUITE("timing: router") {
    TEST_CASE("a direct link is taken even where a detour is faster, and the one with the most bandwidth") {
        const Topology topology(Net(3).link(0, 1, 0, 9).link(0, 1, 5, 8).link(0, 2).link(2, 1).parts());
        Router router(topology, {});
        CHECK(links(router.route(NodeId(0), NodeId(1), 0)) == Links{1});
        CHECK(links(router.route(NodeId(0), NodeId(1), 1)) == Links{1});
    }

    TEST_CASE("connections take turns on parallel links") {
        const Topology topology(Net(2).link(0, 1).link(0, 1).link(0, 1).parts());
        Router router(topology, {});
        for (std::uint32_t turn = 0; turn < 6; ++turn) {
            CHECK(links(router.route(NodeId(0), NodeId(1), turn)) == Links{turn % 3});
        }
    }

    TEST_CASE("a route through switches is preferred to a faster one through NPUs") {
        Net net(3);
        const std::size_t hub = net.add_switch();
        net.link(0, 2).link(2, 1).link(0, hub, 50, 50).link(hub, 1, 50, 50);
        const Topology topology(net.parts());
        Router router(topology, {});
        const auto route = router.route(NodeId(0), NodeId(1), 0);
        CHECK(links(route) == Links{2, 3});
        CHECK(route->relays == 0);
    }

    TEST_CASE("without switches NPUs relay, on the fastest route") {
        const Topology topology(test::line(4).parts());
        Router router(topology, {});
        const auto route = router.route(NodeId(0), NodeId(3), 7);
        CHECK(links(route) == Links{0, 2, 4});
        CHECK(route->relays == 2);
    }

    TEST_CASE("through a cut-through switch beta is paid once, so two of them beat one that stores") {
        Net net(2);
        const std::size_t store = net.add_switch();
        const std::size_t a = net.add_switch({.cut_through = true}),
                          b = net.add_switch({.cut_through = true});
        net.link(0, store, 1, 10).link(store, 1, 1, 10);
        net.link(0, a, 1, 10).link(a, b, 1, 10).link(b, 1, 1, 10);
        const Topology topology(net.parts());
        Router router(topology, {});
        CHECK(links(router.route(NodeId(0), NodeId(1), 0)) == Links{2, 3, 4});
    }

    TEST_CASE("there is no route where no link leads") {
        const Topology topology(Net(3).link(0, 1).link(2, 0).parts());
        Router router(topology, {});
        CHECK_FALSE(router.route(NodeId(0), NodeId(2), 0));
        CHECK(router.route(NodeId(2), NodeId(1), 0));
    }

    TEST_CASE("on an A100 node the connections of two GPUs spread over all switches and NVLinks") {
        const Topology topology(generators::a100(generators::kNvlink));
        Router router(topology, {1 << 20});
        std::set<std::uint32_t> first, last;
        for (std::uint32_t turn = 0; turn < 24; ++turn) {
            const auto route = links(router.route(NodeId(0), NodeId(5), turn));
            REQUIRE(route.size() == 2);
            first.insert(route.front());
            last.insert(route.back());
        }
        CHECK(first.size() == 12);
        CHECK(last.size() == 12);
    }
}

}  // namespace tutti::timing

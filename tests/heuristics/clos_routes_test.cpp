#include "heuristics/levels/clos_routes.hpp"

#include "core/generators/fat_tree.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>

using namespace tutti;
using namespace tutti::heuristics;

namespace {

const std::vector<Wire> kUnit{{Ticks(1), Ticks(1), {}}};

LinkId only(std::span<const LinkId> links) {
    REQUIRE(links.size() == 1);
    return links.front();
}

/// From each NPU to the one of that number, where that is another one.
std::vector<ClosRoutes::Message> messages_of(const Topology& topology, const std::vector<std::size_t>& to) {
    std::vector<ClosRoutes::Message> messages;
    for (std::size_t from = 0; from < to.size(); ++from) {
        if (to[from] != from)
            messages.push_back(
                {only(topology.out_links(NodeId(from))), only(topology.in_links(NodeId(to[from])))});
    }
    return messages;
}

/// The most messages on one link, after a check that links join.
std::size_t fullest(const Topology& topology, const std::vector<ClosRoutes::Message>& messages) {
    std::map<LinkId, std::size_t> uses;
    std::size_t most = 0;
    for (const auto& message : messages) {
        REQUIRE(message.found);
        NodeId at = topology.link(message.out).dst;
        for (const LinkId link : message.links) {
            CHECK(topology.link(link).src == at);
            at = topology.link(link).dst;
            most = std::max(most, ++uses[link]);
        }
        CHECK(at == topology.link(message.in).src);
    }
    return most;
}

std::vector<std::size_t> permutation(Rng& rng, std::size_t size) {
    std::vector<std::size_t> to(size);
    std::iota(to.begin(), to.end(), 0U);
    rng.shuffle(to);
    return to;
}

}  // namespace

TEST_CASE("every permutation crosses a fat tree without sharing a link") {
    for (const auto& [k, n] : {std::pair{2U, 2U}, {3U, 2U}, {5U, 2U}, {2U, 4U}, {3U, 3U}, {4U, 3U}}) {
        const Topology topology(generators::fat_tree(k, n, kUnit));
        ClosRoutes routes(topology);
        CHECK(routes.has_choices());
        test::for_seeds(test::cases(20), [&](Rng& rng, std::uint64_t) {
            auto messages = messages_of(topology, permutation(rng, topology.npus()));
            routes.route(messages);
            CHECK(fullest(topology, messages) <= 1);
        });
    }
}

TEST_CASE("where a link of a fat tree has failed its messages share another") {
    test::for_seeds(test::cases(20), [](Rng& rng, std::uint64_t) {
        TopologyParts parts = generators::fat_tree(4, 2, kUnit);
        // NPUs keep their links: those between switches come after them.
        const std::size_t between = 2 * parts.npus;
        const std::size_t failed = between + rng.below(parts.links.size() - between);
        parts.links.erase(parts.links.begin() + static_cast<std::ptrdiff_t>(failed));
        const Topology topology(parts);
        ClosRoutes routes(topology);
        auto messages = messages_of(topology, permutation(rng, topology.npus()));
        routes.route(messages);
        CHECK(fullest(topology, messages) <= 2);
    });
}

TEST_CASE("switches that are joined without a tier above them have no such paths") {
    test::Net net(2);
    const auto left = net.add_switch(), right = net.add_switch();
    net.both(0, left).both(left, right).both(right, 1);
    const Topology topology(net.parts());
    ClosRoutes routes(topology);
    CHECK_FALSE(routes.has_choices());
    auto messages = messages_of(topology, {1, 0});
    routes.route(messages);
    CHECK_FALSE(messages.front().found);
}

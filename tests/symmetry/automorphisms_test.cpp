#include "symmetry/automorphisms.hpp"

#include "core/generators/cluster.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/full.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"
#include "models/backends/registry.hpp"
#include "models/encode/time_indexed.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>

namespace tutti::test {
namespace {

using namespace models;
using namespace symmetry;

const Wire kFast{Ticks(1), Ticks(2), {}}, kSlow{Ticks(3), Ticks(5), {}};
const std::vector<Wire> kAllFast{kFast};

TopologyParts torus(const std::vector<std::uint64_t>& dims) { return generators::torus(dims, kAllFast); }

Instance instance_on(const TopologyParts& parts, std::vector<std::size_t> members, Collective collective) {
    return Instance({"symmetric", parts, {{"g", nodes(members)}}, {std::move(collective)}});
}

Instance on_every_npu(const TopologyParts& parts, CollectiveKind kind, std::uint64_t chunks = 1) {
    std::vector<std::size_t> members(parts.npus);
    std::iota(members.begin(), members.end(), std::size_t{0});
    Collective wanted = collective(kind);
    wanted.chunks = chunks;
    if (kind == CollectiveKind::Broadcast) wanted.root = Rank(0);
    return instance_on(parts, members, wanted);
}

std::size_t order_of(const Instance& instance) {
    const Routing routing(instance);
    const auto quotient = quotient_of(routing, {});
    return quotient ? quotient->order : 1;
}

std::size_t all_gather_order(const TopologyParts& parts) {
    return order_of(on_every_npu(parts, CollectiveKind::AllGather));
}

struct Known {
    std::string name;
    TopologyParts parts;
    std::size_t order;
};

/// Networks and the order of a group that moves every NPU and every link: the largest that the number of NPUs
/// allows, but for meshes, lines, DGX-1 and DGX-2, where it is what the search finds.
std::vector<Known> known() {
    std::vector<Known> all;
    for (const std::uint64_t n : {5U, 6U, 8U, 12U, 16U}) {
        all.push_back({"full", generators::fully_connected(n, kFast), n});
        all.push_back({"ring", generators::ring(n, kFast), n});
        all.push_back({"one-way ring", generators::ring(n, kFast, generators::Direction::OneWay), n});
        all.push_back({"star", generators::star(n, kFast), n});
    }
    all.push_back({"cube", generators::hypercube(3, kAllFast), 8});
    all.push_back({"hypercube", generators::hypercube(4, kAllFast), 16});
    all.push_back({"cube of three speeds",
                   generators::hypercube(3, std::vector{kFast, kSlow, Wire{{}, Ticks(9), {}}}), 8});
    all.push_back({"torus 3x3", torus({3, 3}), 9});
    all.push_back({"torus 4x4", torus({4, 4}), 16});
    all.push_back({"torus 5x5", torus({5, 5}), 25});
    all.push_back({"torus 3x4", torus({3, 4}), 12});
    all.push_back({"torus 4x4x4", torus({4, 4, 4}), 64});
    all.push_back({"mesh 3x3", generators::mesh(std::vector<std::uint64_t>{3, 3}, kAllFast), 1});
    all.push_back({"mesh 4x4", generators::mesh(std::vector<std::uint64_t>{4, 4}, kAllFast), 4});
    all.push_back({"line of 5", generators::line(5, kFast), 1});
    all.push_back({"line of 6", generators::line(6, kFast), 2});
    all.push_back({"dgx1", generators::dgx1(kFast), 4});
    all.push_back({"dgx2", generators::dgx2(kFast), 4});
    all.push_back({"a100", generators::a100(kFast), 8});
    all.push_back({"h100", generators::h100(kFast), 8});
    all.push_back({"rail 2x4", generators::rail({2, 4, kFast, kSlow, {}}), 8});
    all.push_back({"rail 4x4", generators::rail({4, 4, kFast, kSlow, {}}), 16});
    all.push_back({"fat tree 2, 3", generators::fat_tree(2, 3, kAllFast), 8});
    all.push_back({"fat tree 4, 2", generators::fat_tree(4, 2, kAllFast), 16});
    all.push_back(
        {"cluster 2x4",
         generators::cluster({generators::fully_connected(4, kFast), 2, {}, generators::ring(2, kSlow)}), 8});
    return all;
}

/// The same network with other numbers for nodes and links.
TopologyParts renumbered(TopologyParts parts, Rng& rng) {
    std::vector<std::size_t> to(parts.nodes());
    std::iota(to.begin(), to.end(), std::size_t{0});
    auto npus = std::span(to).first(parts.npus), switches = std::span(to).subspan(parts.npus);
    rng.shuffle(npus);
    rng.shuffle(switches);
    const std::vector<SwitchRule> rules = parts.switches;
    for (std::size_t s = 0; s < rules.size(); ++s) parts.switches[to[parts.npus + s] - parts.npus] = rules[s];
    for (Link& link : parts.links) {
        link.src = NodeId(to[link.src.index()]);
        link.dst = NodeId(to[link.dst.index()]);
    }
    rng.shuffle(parts.links);
    return parts;
}

/// An all-gather among the NPUs of a network without parallel links, asked of the module itself.
SymmetryQuestion all_gather_question(const TopologyParts& parts) {
    SymmetryQuestion question;
    for (std::size_t n = 0; n < parts.nodes(); ++n) question.graph.colours.push_back(n < parts.npus ? 0 : 1);
    std::vector<Wire> wires;
    for (const Link& link : parts.links) wires.push_back(link.wire);
    const auto labels = ranked(wires);
    for (std::size_t l = 0; l < labels.size(); ++l) {
        question.graph.arcs.push_back({parts.links[l].src.value(), parts.links[l].dst.value(), labels[l]});
    }
    question.on_demands = [npus = parts.npus](const Permutation& nodes) {
        return Permutation(nodes.begin(), nodes.begin() + npus);
    };
    question.copies.assign(parts.npus, 1);
    for (std::size_t n = 0; n < parts.nodes(); ++n) question.takes_part.push_back(n < parts.npus);
    question.must_move = question.takes_part;
    return question;
}

/// What is wrong with a group of symmetries of the network that is to move every NPU; empty if nothing.
std::string fault(const TopologyParts& parts, const std::vector<Symmetry>& group) {
    std::multiset<Link> links(parts.links.begin(), parts.links.end());
    std::set<Permutation> elements;
    for (const Symmetry& g : group) elements.insert(g.nodes);
    if (elements.size() != group.size()) return "an element twice";
    for (const Symmetry& g : group) {
        std::multiset<Link> images;
        for (const Link& link : parts.links) {
            images.insert({NodeId(g.nodes[link.src.index()]), NodeId(g.nodes[link.dst.index()]), link.wire});
        }
        if (images != links) return "not an automorphism";
        for (std::uint32_t n = 0; n < parts.npus; ++n) {
            if (g.nodes[n] >= parts.npus) return "an NPU becomes a switch";
            if (g.nodes[n] == n && &g != &group.front()) return "an NPU that stays";
        }
        for (const Symmetry& h : group) {
            Permutation product;
            for (const std::uint32_t n : g.nodes) product.push_back(h.nodes[n]);
            if (!elements.contains(product)) return "not closed";
        }
    }
    return {};
}

/// A schedule of the shortest of these horizons for which there is one; what the verifier says of it.
std::string verdict_on_schedule(const Routing& routing, const Quotient& quotient, Units64 first,
                                Units64 last) {
    const auto opened = find_backend("cpsat")->open();
    if (!opened) return {};
    SolveLimits limits;
    limits.threads = 1;
    for (Units64 horizon = first; horizon <= last; ++horizon) {
        const Question question = time_indexed(routing, quotient, {horizon});
        const models::Answer answer = opened.backend->solve(question.program, limits);
        if (!answer.has_solution()) continue;
        const Schedule schedule = schedule_of(routing, horizon, question.read(answer.values));
        const Verdict verdict = verify::verify(routing.instance(), schedule);
        return verdict.valid() ? "" : verdict.violations.front().message;
    }
    return "no schedule";
}

std::string verdict_on_symmetric(const Instance& instance, Units64 first, Units64 last, std::size_t order) {
    const Routing routing(instance);
    const auto quotient = quotient_of(routing, {});
    if (!quotient || quotient->order != order) return "another group";
    return verdict_on_schedule(routing, *quotient, first, last);
}

}  // namespace

TEST_CASE("known networks have groups of known orders, whatever the numbers of their nodes") {
    for (const Known& network : known()) {
        CAPTURE(network.name);
        CAPTURE(network.parts.npus);
        CHECK(all_gather_order(network.parts) == network.order);
        for_seeds(2, [&](Rng& rng, std::uint64_t) {
            CHECK(all_gather_order(renumbered(network.parts, rng)) == network.order);
        });
    }
}

TEST_CASE("every element of a group is an automorphism that moves every NPU") {
    for (const Known& network : known()) {
        std::set<std::pair<NodeId, NodeId>> ends;
        for (const Link& link : network.parts.links) ends.emplace(link.src, link.dst);
        if (ends.size() != network.parts.links.size()) continue;  // parallel links are the routing's business
        CAPTURE(network.name);
        CAPTURE(network.parts.npus);
        const auto group = free_group(all_gather_question(network.parts), {});
        CHECK(fault(network.parts, group) == "");
        CHECK(group.size() == network.order);
    }
}

TEST_CASE("the search stops on request, with the identity only") {
    const std::atomic<bool> flag = true;
    const auto group = free_group(all_gather_question(torus({4, 4})), Stop(std::nullopt, &flag));
    REQUIRE(group.size() == 1);
    CHECK(fault(torus({4, 4}), group) == "");
}

TEST_CASE("links or switches with different properties break the symmetry") {
    SUBCASE("a slower pair in a ring leaves the reflection that swaps its ends") {
        Net net(6);
        for (std::size_t i = 0; i < 6; ++i) net.both(i, (i + 1) % 6, 0, i == 0 ? 2 : 1);
        CHECK(all_gather_order(net.parts()) == 2);
    }
    SUBCASE("a slower link in one direction leaves no symmetry") {
        Net net(6);
        for (std::size_t i = 0; i < 6; ++i) net.link(i, (i + 1) % 6, 0, i == 0 ? 2 : 1).link((i + 1) % 6, i);
        CHECK(all_gather_order(net.parts()) == 1);
    }
    SUBCASE("parallel links on every other pair leave every other rotation, and reflections") {
        Net net(6);
        for (std::size_t i = 0; i < 6; ++i) {
            net.both(i, (i + 1) % 6);
            if (i % 2 == 0) net.both(i, (i + 1) % 6);
        }
        CHECK(all_gather_order(net.parts()) == 6);
    }
    SUBCASE("parallel links in one direction of every other pair leave every other rotation") {
        Net net(6);
        for (std::size_t i = 0; i < 6; ++i) {
            net.both(i, (i + 1) % 6);
            if (i % 2 == 0) net.link(i, (i + 1) % 6);
        }
        CHECK(all_gather_order(net.parts()) == 3);
    }
    SUBCASE("switches of other rules are not exchanged") {
        for (const bool alike : {true, false}) {
            CAPTURE(alike);
            Net net(4);
            const auto first = net.add_switch({.copy = true}),
                       second = net.add_switch({.copy = alike, .reduce = !alike});
            net.both(0, first).both(1, first).both(2, second).both(3, second).both(first, 1).both(first,
                                                                                                  second);
            CHECK(all_gather_order(net.parts()) == 1);
            net.both(second, 3);
            CHECK(all_gather_order(net.parts()) == (alike ? 2 : 1));
        }
    }
}

TEST_CASE("a link that all chunks must cross is not kept in its place") {
    // Exchanging the NPUs of each switch would have two chunks on the trunk at the same time.
    Net net(4);
    const auto first = net.add_switch(), second = net.add_switch();
    net.both(0, first).both(1, first).both(2, second).both(3, second).both(first, second);
    CHECK(all_gather_order(net.parts()) == 2);
    net.link(first, second);
    CHECK(all_gather_order(net.parts()) == 1);
}

TEST_CASE("only members of a process group must move") {
    const TopologyParts ring = generators::ring(8, kFast), star = generators::star(7, kFast);
    CHECK(order_of(instance_on(ring, {0, 2, 4, 6}, collective(CollectiveKind::AllGather))) == 4);
    CHECK(order_of(instance_on(ring, {1, 7}, collective(CollectiveKind::AllGather))) == 2);  // 0 and 4 stay
    CHECK(order_of(instance_on(ring, {0, 1, 3}, collective(CollectiveKind::AllGather))) == 1);
    CHECK(order_of(instance_on(star, {0, 3, 4}, collective(CollectiveKind::AllGather))) == 3);
    // 3, 4 and 5 follow, or else one link between those who stay is given up.
    for (const std::uint64_t n : {6U, 8U}) {
        const TopologyParts full = generators::fully_connected(n, kFast);
        CHECK(order_of(instance_on(full, {0, 1, 2}, collective(CollectiveKind::AllGather))) == 3);
    }
}

TEST_CASE("chunks that are alike may take each other's place") {
    const TopologyParts ring = generators::ring(6, kFast);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::AllReduce)) == 6);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::Broadcast, 1)) == 1);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::Broadcast, 4)) == 2);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::Broadcast, 3)) == 1);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::AllGather, 2)) == 12);
    CHECK(order_of(on_every_npu(ring, CollectiveKind::AllGather, 3)) == 6);
}

TEST_CASE("an orbit has one representative and as many commodities as the group has elements") {
    for (const CollectiveKind kind :
         {CollectiveKind::AllGather, CollectiveKind::AllReduce, CollectiveKind::AllToAll}) {
        for (const std::uint64_t chunks : {1U, 2U}) {
            const Instance instance = on_every_npu(torus({3, 3}), kind, chunks);
            const Routing routing(instance);
            const auto quotient = quotient_of(routing, {});
            REQUIRE(quotient);
            std::map<std::size_t, std::size_t> stands_for;
            for (const std::size_t r : quotient->representative) ++stands_for[r];
            for (const auto& [r, count] : stands_for) {
                CHECK(quotient->representative[r] == r);
                CHECK(count == quotient->order);
            }
        }
    }
}

TEST_CASE("a schedule of the quotient unfolds to a valid one") {
    CHECK(verdict_on_symmetric(on_every_npu(torus({4, 4}), CollectiveKind::AllGather), 8, 30, 16) == "");
    CHECK(verdict_on_symmetric(on_every_npu(generators::fully_connected(8, kFast), CollectiveKind::AllGather),
                               3, 3, 8) == "");
    CHECK(verdict_on_symmetric(on_every_npu(generators::ring(5, kFast), CollectiveKind::AllGather, 2), 8, 30,
                               10) == "");
    CHECK(verdict_on_symmetric(on_every_npu(generators::ring(4, kFast), CollectiveKind::AllReduce), 8, 30,
                               4) == "");
    CHECK(verdict_on_symmetric(on_every_npu(generators::fully_connected(4, kFast), CollectiveKind::AllToAll),
                               3, 9, 4) == "");
    CHECK(verdict_on_symmetric(on_every_npu(torus({3, 3}), CollectiveKind::Broadcast, 4), 3, 30, 4) == "");
    CHECK(verdict_on_symmetric(
              on_every_npu(generators::star(4, kFast, {.copy = true}), CollectiveKind::AllGather), 3, 30,
              4) == "");
}

TEST_CASE("neither a chunk's hops through a cut-through switch cross, nor their images") {
    // Fast and slow ways through the switch, with numbers of links that the symmetries do not keep in order.
    for_seeds(cases(4), [&](Rng& rng, std::uint64_t) {
        Net net(3);
        const auto middle = net.add_switch({.cut_through = true});
        for (std::size_t i = 0; i < 3; ++i) net.both(i, middle, 0, 1).both(i, middle, 0, 2);
        const Instance instance = on_every_npu(renumbered(net.parts(), rng), CollectiveKind::AllReduce);
        const Routing routing(instance);
        CHECK(verdict_on_schedule(routing, no_quotient(routing), 4, 4) == "");
        CHECK(verdict_on_symmetric(instance, 4, 4, 3) == "");
    });
}

}  // namespace tutti::test

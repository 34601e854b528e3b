#include "core/generators/build.hpp"
#include "core/generators/cluster.hpp"
#include "core/generators/dgx.hpp"
#include "core/generators/dragonfly.hpp"
#include "core/generators/fat_tree.hpp"
#include "core/generators/full.hpp"
#include "core/generators/hypercube.hpp"
#include "core/generators/mesh_torus.hpp"
#include "core/generators/product.hpp"
#include "core/generators/rail.hpp"
#include "core/generators/ring.hpp"
#include "core/generators/star.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace gen = tutti::generators;
using tutti::Decimal;
using tutti::InputError;
using tutti::Link;
using tutti::LinkId;
using tutti::NodeId;
using tutti::SwitchRule;
using tutti::Ticks;
using tutti::Topology;
using tutti::TopologyParts;
using tutti::Wire;

namespace {

constexpr Wire kWire{Ticks(1), Ticks(2), Decimal{}};
constexpr Wire kFast{Ticks(3), Ticks(4), Decimal{}};
constexpr Wire kSlow{Ticks(5), Ticks(60), Decimal{}};
constexpr SwitchRule kCopies{.copy = true, .reduce = false, .cut_through = false, .buffer = {}};
constexpr SwitchRule kReduces{.copy = false, .reduce = true, .cut_through = false, .buffer = {}};
constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();

using Ends = std::pair<std::size_t, std::size_t>;

std::vector<Ends> ends(const TopologyParts& parts) {
    std::vector<Ends> result;
    for (const Link& link : parts.links) result.emplace_back(link.src.index(), link.dst.index());
    return result;
}

std::map<Ends, int> multiplicities(const TopologyParts& parts) {
    std::map<Ends, int> result;
    for (const Ends& pair : ends(parts)) ++result[pair];
    return result;
}

/// Hops from one node to all others; -1 where there is no way.
std::vector<int> distances(const Topology& topology, std::size_t from) {
    std::vector<int> distance(topology.nodes(), -1);
    std::vector<std::size_t> queue{from};
    distance[from] = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
        for (const LinkId link : topology.out_links(NodeId(queue[i]))) {
            const std::size_t next = topology.link(link).dst.index();
            if (distance[next] >= 0) continue;
            distance[next] = distance[queue[i]] + 1;
            queue.push_back(next);
        }
    }
    return distance;
}

/// The longest of the shortest ways between NPUs, in hops; -1 when some NPU cannot be reached.
int diameter(const Topology& topology) {
    int longest = 0;
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
        const auto distance = distances(topology, npu);
        for (std::size_t other = 0; other < topology.npus(); ++other) {
            if (distance[other] < 0) return -1;
            longest = std::max(longest, distance[other]);
        }
    }
    return longest;
}

/// How many nodes of [first, last) have each out-degree; fails where the in-degree differs.
std::map<std::size_t, int> degrees(const Topology& topology, std::size_t first, std::size_t last) {
    std::map<std::size_t, int> result;
    for (std::size_t node = first; node < last; ++node) {
        const std::size_t out = topology.out_links(NodeId(node)).size();
        CHECK(topology.in_links(NodeId(node)).size() == out);
        ++result[out];
    }
    return result;
}

std::map<std::size_t, int> npu_degrees(const Topology& topology) {
    return degrees(topology, 0, topology.npus());
}

using Degrees = std::map<std::size_t, int>;

void check_same(const TopologyParts& a, const TopologyParts& b) {
    CHECK(a.npus == b.npus);
    CHECK(a.switches == b.switches);
    CHECK(a.links == b.links);
}

void check_paired(const TopologyParts& parts) {
    REQUIRE(parts.links.size() % 2 == 0);
    for (std::size_t i = 0; i < parts.links.size(); i += 2) {
        CHECK(parts.links[i].src == parts.links[i + 1].dst);
        CHECK(parts.links[i].dst == parts.links[i + 1].src);
        CHECK(parts.links[i].wire == parts.links[i + 1].wire);
    }
}

template <class Generate>
std::string place_of_error(const Generate& generate) {
    try {
        (void)generate();
    } catch (const InputError& error) {
        return error.place();
    }
    return "no error";
}

TopologyParts torus_of(std::vector<std::uint64_t> dims, const std::vector<Wire>& wires = {kWire}) {
    return gen::torus(dims, wires);
}
TopologyParts mesh_of(std::vector<std::uint64_t> dims, const std::vector<Wire>& wires = {kWire}) {
    return gen::mesh(dims, wires);
}

}  // namespace

TEST_CASE("a ring joins each NPU to the next and the last to the first, both ways") {
    const TopologyParts parts = gen::ring(4, kWire);
    CHECK(ends(parts) == std::vector<Ends>{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}, {3, 0}, {0, 3}});
    CHECK(parts.switches.empty());
    for (const Link& link : parts.links) CHECK(link.wire == kWire);
    for (const std::uint64_t n : {3U, 4U, 7U, 16U}) {
        const Topology topology(gen::ring(n, kWire));
        CHECK(topology.links().size() == 2 * n);
        CHECK(npu_degrees(topology) == Degrees{{2, static_cast<int>(n)}});
        CHECK(diameter(topology) == static_cast<int>(n / 2));
    }
}

TEST_CASE("a ring of two has one link each way and a ring of one has none") {
    CHECK(ends(gen::ring(2, kWire)) == std::vector<Ends>{{0, 1}, {1, 0}});
    CHECK(gen::ring(1, kWire).links.empty());
    CHECK(gen::ring(1, kWire).npus == 1);
}

TEST_CASE("a one-way ring has one link from each NPU to the next") {
    CHECK(ends(gen::ring(3, kWire, gen::Direction::OneWay)) == std::vector<Ends>{{0, 1}, {1, 2}, {2, 0}});
    CHECK(ends(gen::ring(2, kWire, gen::Direction::OneWay)) == std::vector<Ends>{{0, 1}, {1, 0}});
    CHECK(gen::ring(1, kWire, gen::Direction::OneWay).links.empty());
    CHECK(diameter(Topology(gen::ring(9, kWire, gen::Direction::OneWay))) == 8);
}

TEST_CASE("a line has no link between its ends") {
    CHECK(ends(gen::line(3, kWire)) == std::vector<Ends>{{0, 1}, {1, 0}, {1, 2}, {2, 1}});
    CHECK(gen::line(1, kWire).links.empty());
    const Topology topology(gen::line(8, kWire));
    CHECK(npu_degrees(topology) == Degrees{{1, 2}, {2, 6}});
    CHECK(diameter(topology) == 7);
}

TEST_CASE("a mesh is numbered row by row and lists links NPU by NPU, dimension by dimension") {
    const TopologyParts parts = mesh_of({2, 3}, {kSlow, kFast});
    CHECK(ends(parts) == std::vector<Ends>{{0, 3},
                                           {3, 0},
                                           {0, 1},
                                           {1, 0},
                                           {1, 4},
                                           {4, 1},
                                           {1, 2},
                                           {2, 1},
                                           {2, 5},
                                           {5, 2},
                                           {3, 4},
                                           {4, 3},
                                           {4, 5},
                                           {5, 4}});
    for (const Link& link : parts.links) {
        const bool along_last =
            std::max(link.src, link.dst).value() - std::min(link.src, link.dst).value() == 1;
        CHECK(link.wire == (along_last ? kFast : kSlow));
    }
}

TEST_CASE("a mesh has corners, edges and an inside") {
    const Topology square(mesh_of({4, 4}));
    CHECK(square.links().size() == 2 * 24);
    CHECK(npu_degrees(square) == Degrees{{2, 4}, {3, 8}, {4, 4}});
    CHECK(diameter(square) == 6);
    const Topology cube(mesh_of({3, 3, 3}));
    CHECK(npu_degrees(cube) == Degrees{{3, 8}, {4, 12}, {5, 6}, {6, 1}});
    CHECK(diameter(cube) == 6);
}

TEST_CASE("a torus is regular in any number of dimensions") {
    const Topology square(torus_of({4, 4}));
    CHECK(square.links().size() == 64);
    CHECK(npu_degrees(square) == Degrees{{4, 16}});
    CHECK(diameter(square) == 4);
    const Topology cube(torus_of({3, 4, 5}));
    CHECK(npu_degrees(cube) == Degrees{{6, 60}});
    CHECK(diameter(cube) == 1 + 2 + 2);
    const Topology hyper(torus_of({3, 3, 3, 3, 3}));
    CHECK(npu_degrees(hyper) == Degrees{{10, 243}});
    CHECK(diameter(hyper) == 5);
}

TEST_CASE("a torus dimension of two has one link each way, of one none") {
    CHECK(npu_degrees(Topology(torus_of({4, 2}))) == Degrees{{3, 8}});
    for (const auto& [pair, count] : multiplicities(torus_of({2, 2, 4}))) CHECK(count == 1);
    check_same(torus_of({2, 2, 2}), mesh_of({2, 2, 2}));
    check_same(torus_of({1, 5, 1}), gen::ring(5, kWire));
    check_same(torus_of({4}), gen::ring(4, kWire));
    check_same(mesh_of({4}), gen::line(4, kWire));
}

TEST_CASE("each dimension of a torus may have its own wire") {
    const Topology topology(torus_of({3, 4}, {kSlow, kFast}));
    for (const Link& link : topology.links()) {
        const bool same_row = link.src.index() / 4 == link.dst.index() / 4;
        CHECK(link.wire == (same_row ? kFast : kSlow));
    }
}

TEST_CASE("a product joins NPUs that differ in one coordinate which its factor joins") {
    using gen::Shape;
    const std::array factors{gen::Factor{Shape::OneWayRing, 3, kSlow},
                             gen::Factor{Shape::FullyConnected, 4, kFast},
                             gen::Factor{Shape::Line, 2, kWire}};
    const TopologyParts parts = gen::product(factors);
    CHECK(parts.npus == 24);
    std::map<Ends, int> expected;
    for (std::size_t a = 0; a < 24; ++a) {
        for (std::size_t b = 0; b < 24; ++b) {
            const std::array x{a / 8, a / 2 % 4, a % 2}, y{b / 8, b / 2 % 4, b % 2};
            const bool next = x[1] == y[1] && x[2] == y[2] && y[0] == (x[0] + 1) % 3;
            const bool row = x[0] == y[0] && x[2] == y[2] && x[1] != y[1];
            const bool line = x[0] == y[0] && x[1] == y[1] && x[2] != y[2];
            if (next || row || line) expected[{a, b}] = 1;
        }
    }
    CHECK(multiplicities(parts) == expected);
    for (const Link& link : parts.links) {
        const std::size_t apart = std::max(link.src, link.dst).index() - std::min(link.src, link.dst).index();
        CHECK(link.wire == (apart >= 8 ? kSlow : apart >= 2 ? kFast : kWire));
    }
}

TEST_CASE("the neighbours of an NPU of a hypercube differ from it in one bit") {
    for (const std::uint64_t dimensions : {1U, 3U, 6U}) {
        const std::array wires{kWire};
        const Topology topology(gen::hypercube(dimensions, wires));
        CHECK(topology.npus() == 1U << dimensions);
        CHECK(npu_degrees(topology) == Degrees{{dimensions, 1 << dimensions}});
        CHECK(diameter(topology) == static_cast<int>(dimensions));
        for (const Link& link : topology.links()) {
            CHECK(__builtin_popcount(link.src.value() ^ link.dst.value()) == 1);
        }
    }
}

TEST_CASE("dimension 0 of a hypercube is the highest bit") {
    const std::array wires{kSlow, kFast, kWire};
    for (const Link& link : gen::hypercube(3, wires).links) {
        const std::uint32_t bit = link.src.value() ^ link.dst.value();
        CHECK(link.wire == (bit == 4 ? kSlow : bit == 2 ? kFast : kWire));
    }
}

TEST_CASE("a fully connected network has a link for each ordered pair") {
    CHECK(ends(gen::fully_connected(3, kWire)) ==
          std::vector<Ends>{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}});
    const Topology topology(gen::fully_connected(9, kWire));
    CHECK(topology.links().size() == 72);
    CHECK(diameter(topology) == 1);
}

TEST_CASE("a star joins all NPUs to one switch") {
    const SwitchRule rule{.copy = true, .reduce = true, .cut_through = false, .buffer = 3};
    const TopologyParts parts = gen::star(4, kWire, rule);
    CHECK(ends(parts) == std::vector<Ends>{{0, 4}, {4, 0}, {1, 4}, {4, 1}, {2, 4}, {4, 2}, {3, 4}, {4, 3}});
    CHECK(parts.switches == std::vector{rule});
    CHECK(diameter(Topology(parts)) == 2);
}

TEST_CASE(
    "a k-ary n-tree has k^n NPUs, n levels of k^(n-1) switches and the same number of cables at each level") {
    for (const auto& [k, n] : {std::pair{2, 1}, {2, 2}, {2, 4}, {3, 3}, {4, 2}}) {
        CAPTURE(k);
        CAPTURE(n);
        const std::array wires{kWire};
        const Topology topology(
            gen::fat_tree(static_cast<std::uint64_t>(k), static_cast<std::uint64_t>(n), wires));
        int width = 1;
        for (int i = 1; i < n; ++i) width *= k;
        CHECK(static_cast<int>(topology.npus()) == width * k);
        CHECK(static_cast<int>(topology.switches()) == n * width);
        CHECK(static_cast<int>(topology.links().size()) == 2 * n * width * k);
        CHECK(npu_degrees(topology) == Degrees{{1, width * k}});
        const std::size_t top = topology.nodes() - static_cast<std::size_t>(width);
        CHECK(degrees(topology, top, topology.nodes()) == Degrees{{static_cast<std::size_t>(k), width}});
        if (n > 1) {
            CHECK(degrees(topology, topology.npus(), top) ==
                  Degrees{{static_cast<std::size_t>(2 * k), (n - 1) * width}});
        }
        for (const auto& [pair, count] : multiplicities(topology.parts())) CHECK(count == 1);
    }
}

TEST_CASE("two NPUs of a fat tree meet at the level of the highest digit in which they differ") {
    const std::array wires{kWire};
    const Topology topology(gen::fat_tree(3, 3, wires));
    for (std::size_t a = 0; a < 27; ++a) {
        const auto distance = distances(topology, a);
        for (std::size_t b = 0; b < 27; ++b) {
            const int expected = a == b ? 0 : a / 3 == b / 3 ? 2 : a / 9 == b / 9 ? 4 : 6;
            CHECK(distance[b] == expected);
        }
    }
}

TEST_CASE("each level of a fat tree may have its own wire") {
    const std::array wires{kFast, kWire, kSlow};
    const TopologyParts parts = gen::fat_tree(2, 3, wires);
    for (std::size_t i = 0; i < parts.links.size(); ++i) CHECK(parts.links[i].wire == wires[i / 16]);
}

TEST_CASE("a full dragonfly has one cable between every two groups and uses every port") {
    const gen::Dragonfly shape{.groups = 9,
                               .routers_per_group = 4,
                               .npus_per_router = 2,
                               .global_links_per_router = 2,
                               .npu_wire = kWire,
                               .local_wire = kFast,
                               .global_wire = kSlow,
                               .rule = {}};
    const Topology topology(gen::dragonfly(shape));
    CHECK(topology.npus() == 72);
    CHECK(topology.switches() == 36);
    CHECK(degrees(topology, 72, 108) == Degrees{{2 + 3 + 2, 36}});
    CHECK(diameter(topology) == 5);
    std::map<Ends, int> between;
    for (const Link& link : topology.links()) {
        if (link.wire != kSlow) continue;
        const std::size_t a = (link.src.index() - 72) / 4, b = (link.dst.index() - 72) / 4;
        CHECK(a != b);
        ++between[{a, b}];
    }
    CHECK(between.size() == 72);
    for (const auto& [groups, count] : between) CHECK(count == 1);
}

TEST_CASE("a dragonfly of fewer groups joins all pairs alike and leaves odd ports unused") {
    gen::Dragonfly shape{.groups = 4,
                         .routers_per_group = 4,
                         .npus_per_router = 1,
                         .global_links_per_router = 2,
                         .npu_wire = kWire,
                         .local_wire = kWire,
                         .global_wire = kSlow,
                         .rule = {}};
    const Topology topology(gen::dragonfly(shape));
    std::map<Ends, int> between;
    std::map<std::size_t, int> ports;
    for (const Link& link : topology.links()) {
        if (link.wire != kSlow) continue;
        ++between[{(link.src.index() - 16) / 4, (link.dst.index() - 16) / 4}];
        ++ports[link.src.index()];
    }
    CHECK(between.size() == 12);
    for (const auto& [groups, count] : between) CHECK(count == 2);
    for (const auto& [router, count] : ports) CHECK(count <= 2);
    CHECK(diameter(topology) > 0);

    shape.groups = 1;
    CHECK(diameter(Topology(gen::dragonfly(shape))) == 3);
    shape.groups = 10;
    CHECK(place_of_error([&] { return gen::dragonfly(shape); }) == "/groups");
}

TEST_CASE("a rail cluster has a switch in each node and a switch for each rail") {
    const gen::Rail shape{
        .nodes = 3, .npus_per_node = 4, .node_wire = kFast, .rail_wire = kSlow, .rule = kCopies};
    const TopologyParts parts = gen::rail(shape);
    const Topology topology(parts);
    CHECK(topology.npus() == 12);
    CHECK(topology.switches() == 3 + 4);
    CHECK(parts.switches == std::vector(7, kCopies));
    CHECK(npu_degrees(topology) == Degrees{{2, 12}});
    for (std::size_t npu = 0; npu < 12; ++npu) {
        std::set<std::size_t> switches;
        for (const LinkId link : topology.out_links(NodeId(npu))) {
            switches.insert(topology.link(link).dst.index());
        }
        CHECK(switches == std::set{12 + npu / 4, 15 + npu % 4});
    }
    for (const Link& link : parts.links) {
        CHECK(link.wire == (std::max(link.src, link.dst).value() < 15 ? kFast : kSlow));
    }
    CHECK(ends(parts)[0] == Ends{0, 12});
    CHECK(ends(parts)[24] == Ends{0, 15});
    CHECK(ends(parts)[26] == Ends{4, 15});
    CHECK(diameter(topology) == 4);
}

TEST_CASE("the DGX-1 has the NVLinks of the real machine") {
    const TopologyParts parts = gen::dgx1(gen::kNvlink);
    const Topology topology(parts);
    CHECK(parts.links.size() == 48);
    CHECK(npu_degrees(topology) == Degrees{{6, 8}});
    std::map<Ends, int> expected;
    const std::vector<std::array<std::size_t, 3>> cables{
        {0, 1, 1}, {0, 2, 1}, {0, 3, 2}, {0, 4, 2}, {1, 2, 2}, {1, 3, 1}, {1, 5, 2}, {2, 3, 2},
        {2, 6, 1}, {3, 7, 1}, {4, 5, 1}, {4, 6, 1}, {4, 7, 2}, {5, 6, 2}, {5, 7, 1}, {6, 7, 2}};
    for (const auto& [a, b, count] : cables) expected[{a, b}] = expected[{b, a}] = static_cast<int>(count);
    CHECK(multiplicities(parts) == expected);
    CHECK(diameter(topology) == 2);
    CHECK(ends(parts)[4] == Ends{0, 3});
    CHECK(ends(parts)[6] == Ends{0, 3});
    CHECK(topology.beta(LinkId(0), {25'000'000'000}) == Ticks(1'000'000'000'000));
}

TEST_CASE("bonded NVLinks are one link with the speed of all") {
    const TopologyParts physical = gen::dgx1(gen::kNvlink, gen::Bonding::Bonded);
    CHECK(physical.links.size() == 32);
    std::int64_t total = 0;
    for (const Link& link : physical.links) total += link.wire.bandwidth.mantissa;
    CHECK(total == 48 * 25);

    const TopologyParts abstract = gen::dgx1({Ticks(7), Ticks(5), {}}, gen::Bonding::Bonded);
    for (const Link& link : abstract.links) CHECK(link.wire.alpha == Ticks(7));
    CHECK(abstract.links[0].wire.beta == Ticks(5));
    CHECK(abstract.links[4].wire.beta == Ticks(3));

    const TopologyParts decimals = gen::dgx1({Ticks(0), Ticks(0), Decimal{125, 1}}, gen::Bonding::Bonded);
    CHECK(decimals.links[4].wire.bandwidth == Decimal{25, 0});
    const TopologyParts long_ones =
        gen::dgx1({Ticks(0), Ticks(0), Decimal{987654321098765, 13}}, gen::Bonding::Bonded);
    CHECK(long_ones.links[4].wire.bandwidth == Decimal{197530864219753, 12});
}

TEST_CASE("the GPUs of a DGX-2 have one NVLink to each switch of their board") {
    const Topology topology(gen::dgx2(gen::kNvlink));
    CHECK(topology.npus() == 16);
    CHECK(topology.switches() == 12);
    CHECK(topology.links().size() == 2 * (16 * 6 + 6 * 8));
    CHECK(npu_degrees(topology) == Degrees{{6, 16}});
    CHECK(degrees(topology, 16, 28) == Degrees{{16, 12}});
    const auto distance = distances(topology, 3);
    CHECK(distance[7] == 2);
    CHECK(distance[8] == 3);
    CHECK(gen::dgx2(gen::kNvlink, gen::Bonding::Bonded).links.size() == 2 * (16 * 6 + 6));
}

TEST_CASE("A100 and H100 nodes spread 12 and 18 NVLinks of each GPU over 6 and 4 switches") {
    const TopologyParts a100 = gen::a100(gen::kNvlink), h100 = gen::h100(gen::kNvlink);
    CHECK(npu_degrees(Topology(a100)) == Degrees{{12, 8}});
    CHECK(npu_degrees(Topology(h100)) == Degrees{{18, 8}});
    CHECK(a100.switches.size() == 6);
    CHECK(h100.switches.size() == 4);
    for (const auto& [pair, count] : multiplicities(a100)) CHECK(count == 2);
    const std::array spread{5, 4, 4, 5};
    for (const auto& [pair, count] : multiplicities(h100)) {
        CHECK(count == spread[std::max(pair.first, pair.second) - 8]);
    }
    const TopologyParts bonded = gen::h100(gen::kNvlink, gen::Bonding::Bonded, kReduces);
    CHECK(bonded.links.size() == 64);
    CHECK(bonded.links[0].wire.bandwidth == Decimal{125, 0});
    CHECK(bonded.switches == std::vector(4, kReduces));
}

TEST_CASE("a cluster with rails puts one copy of the network on each NIC number") {
    gen::Cluster shape;
    shape.node = gen::star(3, kFast, kCopies);
    shape.nodes = 2;
    shape.nics = {2, 0};
    shape.network = gen::star(2, kSlow, kReduces);
    const TopologyParts parts = gen::cluster(shape);
    CHECK(parts.npus == 6);
    CHECK(parts.switches == std::vector{kCopies, kCopies, kReduces, kReduces});
    CHECK(ends(parts) ==
          std::vector<Ends>{{0, 6}, {6, 0}, {1, 6}, {6, 1}, {2, 6}, {6, 2},  // node 0, its switch is 6
                            {3, 7}, {7, 3}, {4, 7}, {7, 4}, {5, 7}, {7, 5},  // node 1, its switch is 7
                            {2, 8}, {8, 2}, {5, 8}, {8, 5},                  // plane of NIC 2
                            {0, 9}, {9, 0}, {3, 9}, {9, 3}});                // plane of NIC 0
}

TEST_CASE("a cluster with a shared network numbers its endpoints node by node") {
    gen::Cluster shape;
    shape.node = gen::ring(4, kFast);
    shape.nodes = 2;
    shape.nics = {1, 3};
    shape.planes = gen::Planes::Shared;
    CHECK(gen::network_npus(shape) == 4);
    shape.network = gen::ring(4, kSlow);
    const TopologyParts parts = gen::cluster(shape);
    CHECK(parts.npus == 8);
    const auto all = ends(parts);
    CHECK(std::vector(all.begin() + 16, all.end()) ==
          std::vector<Ends>{{1, 3}, {3, 1}, {3, 5}, {5, 3}, {5, 7}, {7, 5}, {7, 1}, {1, 7}});
    CHECK(diameter(Topology(parts)) == 3);
}

TEST_CASE("a cluster of clusters is a cluster") {
    gen::Cluster inner;
    inner.node = gen::fully_connected(2, kFast);
    inner.nodes = 2;
    inner.network = gen::ring(2, kWire);
    gen::Cluster outer;
    outer.node = gen::cluster(inner);
    outer.nodes = 3;
    outer.nics = {0};
    outer.network = gen::ring(3, kSlow);
    const Topology topology(gen::cluster(outer));
    CHECK(topology.npus() == 12);
    CHECK(topology.links().size() == 3 * (2 * 2 + 2 * 2) + 6);
    CHECK(diameter(topology) == 2 + 1 + 2);
}

TEST_CASE("a cluster refuses NICs and networks that do not fit") {
    gen::Cluster shape;
    shape.node = gen::ring(4, kFast);
    shape.nodes = 2;
    shape.network = gen::ring(3, kSlow);
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/network");
    shape.network = gen::ring(2, kSlow);
    shape.nics = {0, 4};
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/nics/1");
    shape.nics = {0, 1, 0};
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/nics/2");
    shape.nics = {};
    shape.nodes = 0;
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/nodes");
    shape.node = {};
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/node");
}

TEST_CASE("opposite directions are adjacent in every generator's list") {
    const std::array wires{kWire};
    check_paired(gen::ring(5, kWire));
    check_paired(torus_of({3, 2, 4}));
    check_paired(gen::fully_connected(5, kWire));
    check_paired(gen::hypercube(4, wires));
    check_paired(gen::star(5, kWire));
    check_paired(gen::fat_tree(2, 4, wires));
    check_paired(gen::dragonfly({5, 4, 2, 1, kWire, kFast, kSlow, {}}));
    check_paired(gen::rail({3, 4, kFast, kSlow, {}}));
    check_paired(gen::dgx1(kWire));
    check_paired(gen::dgx2(kWire));
    check_paired(gen::a100(kWire));
    check_paired(gen::h100(kWire));
}

TEST_CASE("sizes beyond the limits are refused before anything is built") {
    const std::array wires{kWire};
    const auto dims = [](std::vector<std::uint64_t> list) { return list; };
    CHECK(place_of_error([] { return gen::ring(0, kWire); }) == "/npus");
    CHECK(place_of_error([] { return gen::ring(4'000'000'000, kWire); }) == "/npus");
    CHECK(place_of_error([] { return gen::ring(kHuge, kWire); }) == "/npus");
    CHECK(place_of_error([] { return gen::line(kHuge, kWire); }) == "/npus");
    CHECK(place_of_error([] { return gen::fully_connected(1'000'000, kWire); }) == "/npus");
    CHECK(place_of_error([] { return gen::star(tutti::kMaxNodes, kWire); }) == "/npus");
    CHECK(place_of_error([&] { return torus_of(dims({})); }) == "/dims");
    CHECK(place_of_error([&] { return torus_of(std::vector<std::uint64_t>(33, 1)); }) == "/dims");
    CHECK(place_of_error([&] { return torus_of(dims({4, 0})); }) == "/dims/1");
    CHECK(place_of_error([&] { return torus_of(dims({65536, 65536, 65536, 65536})); }) == "/dims/1");
    CHECK(place_of_error([&] {
              return mesh_of(dims({std::uint64_t{1} << 32, std::uint64_t{1} << 32}));
          }) == "/dims/0");
    CHECK(place_of_error([&] { return mesh_of(dims({4096, 4096})); }) == "/dims/1");
    CHECK(place_of_error([&] { return mesh_of(dims({2, 2, 2}), {kWire, kWire}); }) == "/dims");
    CHECK(place_of_error([&] { return gen::hypercube(kHuge, wires); }) == "/dimensions");
    CHECK(place_of_error([&] { return gen::hypercube(23, wires); }) == "/dimensions");
    CHECK(place_of_error([&] { return gen::fat_tree(kHuge, 3, wires); }) == "/k");
    CHECK(place_of_error([&] { return gen::fat_tree(1, 3, wires); }) == "/k");
    CHECK(place_of_error([&] { return gen::fat_tree(2, 25, wires); }) == "/n");
    CHECK(place_of_error([&] { return gen::fat_tree(4096, 4, wires); }) == "/n");
    CHECK(place_of_error([] { return gen::rail({kHuge, kHuge, kFast, kSlow, {}}); }) == "/nodes");
    CHECK(place_of_error([] { return gen::rail({1 << 20, 1 << 20, kFast, kSlow, {}}); }) == "/npus_per_node");
    CHECK(place_of_error([] {
              return gen::dragonfly({1 << 20, 1 << 20, 1, 1, kWire, kWire, kWire, {}});
          }) == "/routers_per_group");
    CHECK(place_of_error([] {
              return gen::dragonfly({2, 20'000, 1, 1, kWire, kWire, kWire, {}});
          }) == "/routers_per_group");
    CHECK(place_of_error([] {
              return gen::dragonfly({2, 2, 1, 1 << 25, kWire, kWire, kWire, {}});
          }) == "/global_links_per_router");

    const std::vector factors{gen::Factor{gen::Shape::FullyConnected, 4000, kWire},
                              gen::Factor{gen::Shape::FullyConnected, 4000, kWire}};
    CHECK(place_of_error([&] { return gen::product(factors); }) == "/factors/0/size");
    gen::Cluster shape;
    shape.node = gen::fully_connected(100, kWire);
    shape.nodes = 100'000;
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/nodes");
    shape.nodes = 1000;
    shape.network = gen::fully_connected(1000, kWire);
    CHECK(place_of_error([&] { return gen::cluster(shape); }) == "/network");
}

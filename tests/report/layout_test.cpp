#include "report/layout.hpp"
#include "core/rng.hpp"
#include "io/generator_json.hpp"
#include "io/json_text.hpp"
#include "io/topology_json.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace tutti::report {
namespace {

Topology topology_of(const std::string& json) {
    io::Source source = io::Source::of_text(json, "test");
    const io::Json value = io::parse_json(source);
    return Topology(io::read_topology(io::JsonView(value)));
}

Topology generated(const std::string& generate) { return topology_of(R"({"generate": )" + generate + "}"); }

/// By comparing all pairs, unlike the code under test.
double closest(const std::vector<Point>& points) {
    double least = 2;
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (std::size_t j = i + 1; j < points.size(); ++j) {
            least = std::min(least, std::hypot(points[i].x - points[j].x, points[i].y - points[j].y));
        }
    }
    return least;
}

/// What every layout owes.
std::vector<Point> checked(const Topology& topology) {
    const auto points = layout(topology);
    REQUIRE(points.size() == topology.nodes());
    for (const Point& point : points) {
        CHECK((point.x >= 0 && point.x <= 1 && point.y >= 0 && point.y <= 1));
    }
    if (points.size() > 1) CHECK(closest(points) >= kRoom / std::sqrt(static_cast<double>(points.size())));
    CHECK(layout(topology) == points);
    return points;
}

}  // namespace

TEST_CASE("every kind of generated network has its nodes apart, within the square, each time the same") {
    for (const io::GeneratorKind& kind : io::generator_kinds()) {
        INFO(kind.example);
        checked(generated(std::string(kind.example)));
    }
    for (const char* generate : {
             R"({"kind": "ring", "npus": 3})",
             R"({"kind": "ring", "npus": 60})",
             R"({"kind": "ring", "npus": 130})",
             R"({"kind": "ring", "npus": 700})",
             R"({"kind": "line", "npus": 2})",
             R"({"kind": "line", "npus": 11})",
             R"({"kind": "line", "npus": 300})",
             R"({"kind": "fully_connected", "npus": 64})",
             R"({"kind": "fully_connected", "npus": 150})",
             R"({"kind": "star", "npus": 1})",
             R"({"kind": "star", "npus": 30})",
             R"({"kind": "star", "npus": 1000})",
             R"({"kind": "mesh", "dims": [2, 2]})",
             R"({"kind": "mesh", "dims": [16, 3]})",
             R"({"kind": "mesh", "dims": [40, 40]})",
             R"({"kind": "torus", "dims": [3, 3]})",
             R"({"kind": "torus", "dims": [4, 4, 4]})",
             R"({"kind": "torus", "dims": [8, 8, 8]})",
             R"({"kind": "torus", "dims": [2, 3, 4, 5]})",
             R"({"kind": "hypercube", "dimensions": 1})",
             R"({"kind": "hypercube", "dimensions": 9})",
         }) {
        INFO(generate);
        checked(generated(generate));
    }
}

TEST_CASE("random networks with switches, in pieces too, have their nodes apart") {
    test::for_seeds(test::cases(60), [](Rng& rng, std::uint64_t) {
        const auto npus = static_cast<std::uint32_t>(1 + rng.below(40));
        test::Net net(npus);
        std::size_t nodes = npus;
        for (std::uint64_t i = rng.below(12); i > 0; --i) nodes = net.add_switch() + 1;
        for (std::uint64_t i = rng.below(3 * nodes); i > 0; --i) {
            const std::size_t a = rng.below(nodes), b = rng.below(nodes);
            if (a != b) net.link(a, b);
        }
        checked(Topology(net.parts()));
    });
}

TEST_CASE("one node alone is in the middle") {
    CHECK(layout(Topology(test::Net(1).parts())) == std::vector<Point>{{0.5, 0.5}});
}

TEST_CASE("a ring is a circle in its order, a fully connected network one by rank") {
    for (const char* generate :
         {R"({"kind": "ring", "npus": 8})", R"({"kind": "fully_connected", "npus": 8})"}) {
        const auto points = checked(generated(generate));
        const double step = std::hypot(points[0].x - points[1].x, points[0].y - points[1].y);
        for (std::size_t i = 0; i < points.size(); ++i) {
            const Point &a = points[i], &b = points[(i + 1) % points.size()];
            CHECK(std::hypot(a.x - 0.5, a.y - 0.5) == doctest::Approx(0.5));
            CHECK(std::hypot(a.x - b.x, a.y - b.y) == doctest::Approx(step));
        }
    }
}

TEST_CASE("a mesh is rows and columns, also where a link is dead") {
    for (const char* extra : {"", R"(, "remove": [[5, 6], [6, 5]])"}) {
        const auto points = checked(
            topology_of(R"({"generate": {"kind": "mesh", "dims": [4, 5]})" + std::string(extra) + "}"));
        // Neighbours by number share a row unless one ends there: the last dimension runs fastest.
        std::size_t straight = 0;
        for (std::size_t i = 0; i + 1 < points.size(); ++i) {
            straight += points[i].y == points[i + 1].y ? 1U : 0U;
        }
        CHECK(straight == 16);
    }
}

TEST_CASE("no link of a torus passes through another node") {
    const Topology torus = generated(R"({"kind": "torus", "dims": [4, 5]})");
    const auto points = checked(torus);
    for (const Link& link : torus.links()) {
        const Point a = points[link.src.index()], b = points[link.dst.index()];
        const double length = std::hypot(b.x - a.x, b.y - a.y);
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (i == link.src.index() || i == link.dst.index()) continue;
            const double dx = points[i].x - a.x, dy = points[i].y - a.y;
            const double along = (dx * (b.x - a.x) + dy * (b.y - a.y)) / length;
            const double off = std::abs(dx * (b.y - a.y) - dy * (b.x - a.x)) / length;
            INFO(link.src.value(), " -> ", link.dst.value(), " by ", i);
            CHECK((along <= 0 || along >= length || off > 0.01));
        }
    }
}

TEST_CASE("in a fat tree every switch is above what it joins to the NPUs") {
    const Topology tree = generated(R"({"kind": "fat_tree", "k": 4, "n": 2})");
    const auto points = checked(tree);
    double lowest_switch = 0, highest_npu = 1;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (i < tree.npus()) {
            highest_npu = std::min(highest_npu, points[i].y);
        } else {
            lowest_switch = std::max(lowest_switch, points[i].y);
        }
    }
    CHECK(lowest_switch < highest_npu);
    // NPUs keep the order of their ranks, block by block.
    CHECK(points[0].x < points[4].x);
    CHECK(points[4].x < points[8].x);
}

TEST_CASE("the hub of a star is in its middle") {
    const auto points = checked(generated(R"({"kind": "star", "npus": 6})"));
    CHECK(points[6].x == doctest::Approx(0.5));
    CHECK(points[6].y == doctest::Approx(0.5));
}

}  // namespace tutti::report

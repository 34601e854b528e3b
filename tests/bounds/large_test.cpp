// Shortcuts for large networks: they may cost time or tightness, never truth.

#include "bounds/bounds.hpp"
#include "bounds/cut_rating.hpp"
#include "bounds/port_rating.hpp"
#include "core/generators/mesh_torus.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace tutti;
using namespace tutti::bounds;

namespace {

Instance on_grid(TopologyParts topology, CollectiveKind kind) {
    InstanceParts parts;
    parts.topology = std::move(topology);
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {test::collective(kind)};
    return Instance(std::move(parts));
}

Instance mesh(std::vector<std::uint64_t> dims, CollectiveKind kind, std::int64_t alpha = 0) {
    const std::array wires{Wire{Ticks(alpha), Ticks(1), {}}};
    return on_grid(generators::mesh(dims, wires), kind);
}

void check_certificates(const Instance& instance, const std::vector<Bound>& bounds) {
    for (const Bound& bound : bounds) {
        CAPTURE(bound.kind);
        CHECK(verify::check_certificate(instance, bound).value_or("") == "");
    }
}

Ticks value_of(const std::vector<Bound>& bounds, std::string_view kind) {
    const auto found = std::ranges::find(bounds, kind, &Bound::kind);
    return found == bounds.end() ? Ticks(0) : found->value;
}

}  // namespace

TEST_CASE("a port proves as much as the cut around it") {
    test::for_seeds(test::cases(300), [](Rng& rng, std::uint64_t) {
        const Instance instance(test::random_instance(rng));
        if (!test::is_feasible(instance)) return;
        Traffic traffic(instance);
        const Topology& topology = instance.topology();
        CutRater by_cut(traffic);
        for (const Port port : {Port::Ingress, Port::Egress}) {
            PortRater by_port(traffic, port);
            for (std::size_t n = 0; n < topology.npus(); ++n) {
                std::vector<const ChunkClass*> passing;
                for (const ChunkClass& c : traffic.classes()) {
                    if (must_pass(traffic.demand(c), port, NodeId(n))) passing.push_back(&c);
                }
                if (passing.empty()) continue;
                std::vector<bool> inside(topology.nodes(), port == Port::Egress);
                inside[n] = !inside[n];
                const auto expected =
                    by_cut.exact(Cut(topology, inside), passing,
                                 port == Port::Ingress ? Sense::Forwards : Sense::Backwards, Ticks(0));
                const auto found = by_port.exact(NodeId(n), passing, Ticks(0));
                REQUIRE(found.has_value() == expected.has_value());
                if (!found) continue;
                CHECK(found->value == expected->value);
                CHECK(found->transfers == expected->transfers);
                CHECK(found->earliest == expected->earliest);
            }
        }
    });
}

TEST_CASE("on a large mesh a sample of searches finds the corners, whose ports are the bound") {
    for (const std::int64_t alpha : {0, 2}) {
        const Instance instance = mesh({40, 50}, CollectiveKind::AllGather, alpha);
        const auto bounds = simple_bounds(instance);
        CHECK(value_of(bounds, "latency") == Ticks((39 + 49) * (1 + alpha)));
        // 1999 chunks over two links that start one a tick: 1000 starts, and the last of them arrives.
        CHECK(value_of(bounds, "ingress") >= Ticks(1000 + alpha));
        CHECK(bounds.front().kind == "ingress");
        check_certificates(instance, bounds);
    }
}

TEST_CASE("reductions on a large mesh are bounded as well as what they reverse") {
    const Instance gather = mesh({30, 30}, CollectiveKind::AllGather, 1);
    const Instance scatter = mesh({30, 30}, CollectiveKind::ReduceScatter, 1);
    const auto forwards = simple_bounds(gather), backwards = simple_bounds(scatter);
    CHECK(value_of(forwards, "latency") == value_of(backwards, "latency"));
    CHECK(value_of(forwards, "ingress") == value_of(backwards, "egress"));
    CHECK(value_of(forwards, "volume") == value_of(backwards, "volume"));
    check_certificates(scatter, backwards);
}

TEST_CASE("the middle cut of an all-to-all on a mesh is among the fast bounds") {
    // 32 * 32 chunks over 4 cables. Small enough to count every pair; then so large that they are sampled.
    const Instance small = mesh({16, 4}, CollectiveKind::AllToAll);
    CHECK(value_of(simple_bounds(small), "cut") >= Ticks(256));
    const Instance large = mesh({16, 12}, CollectiveKind::AllToAll);
    CHECK(value_of(simple_bounds(large), "cut") >= Ticks(96 * 96 / 12));
    check_certificates(large, simple_bounds(large));
}

TEST_CASE("all betas of a topology are those of its links") {
    test::for_seeds(test::cases(50), [](Rng& rng, std::uint64_t) {
        const Instance instance(test::random_instance(rng, {.physical = true}));
        const Topology& topology = instance.topology();
        const Bytes bytes{static_cast<std::int64_t>(1 + rng.below(1'000'000))};
        const auto betas = topology.betas(bytes);
        REQUIRE(betas.size() == topology.links().size());
        for (std::size_t l = 0; l < betas.size(); ++l) CHECK(betas[l] == topology.beta(LinkId(l), bytes));
    });
}

#include "bounds/bounds.hpp"

#include "core/generators/ring.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;

namespace {

Bound bound_of(const Instance& instance, std::string_view kind) {
    for (const Bound& bound : bounds::simple_bounds(instance)) {
        if (bound.kind == kind) return bound;
    }
    FAIL("no such bound");
    return {};
}

}  // namespace

TEST_CASE("the latency bound is the fastest path to the farthest receiver, and names it") {
    const Instance instance =
        test::on_all(test::line(4, 2, 3), {test::collective(CollectiveKind::Broadcast)});
    const Bound bound = bound_of(instance, "latency");
    CHECK(bound.value == Ticks(3 * (2 + 3)));
    const auto& path = std::get<PathCertificate>(bound.certificate);
    CHECK(path.links == std::vector{LinkId(0), LinkId(2), LinkId(4)});
}

TEST_CASE("an instance without demands has bounds of 0") {
    // One rank has nobody to send to, so there is no chunk at all.
    const Instance instance =
        test::on_group(test::line(3), {1}, {test::collective(CollectiveKind::AllToAll)});
    REQUIRE(instance.chunks() == 0);
    for (const Bound& bound : bounds::simple_bounds(instance)) CHECK(bound.value == Ticks(0));
    for (const Bound& bound : bounds::all_bounds(instance)) CHECK(bound.value == Ticks(0));
}

TEST_CASE("a release moves every bound") {
    Collective late = test::collective(CollectiveKind::Broadcast);
    late.release = Ticks(100);
    const Instance instance = test::on_all(test::line(2, 2, 3), {late});
    for (const Bound& bound : bounds::simple_bounds(instance)) CHECK(bound.value == Ticks(105));
}

TEST_CASE("ingress counts what an NPU lacks against the capacity of its links") {
    // The end of a line gets 3 chunks over one link of beta 4; the last of them can be there at 4 + 2 * 4.
    const Instance instance = test::on_all(test::line(2, 1, 4), {[] {
                                               Collective c = test::collective(CollectiveKind::AllGather);
                                               c.chunks = 3;
                                               return c;
                                           }()});
    const Bound bound = bound_of(instance, "ingress");
    CHECK(bound.value == Ticks(1 + 3 * 4));
    CHECK(std::get<CutCertificate>(bound.certificate).transfers == 3);
}

TEST_CASE("with one message in flight, alpha counts for every transfer") {
    test::Net net = test::line(2, 1, 4);
    net.one_in_flight();
    Collective c = test::collective(CollectiveKind::Broadcast);
    c.chunks = 3;
    CHECK(bound_of(test::on_all(net, {c}), "ingress").value == Ticks(3 * 5));
}

TEST_CASE("ingress knows that far chunks cannot come early") {
    // All-gather on a line of 5, alpha 0, beta 1: the end needs 4 chunks, the farthest from distance 4, over
    // one link.
    CHECK(bound_of(test::on_all(test::line(5), {test::collective(CollectiveKind::AllGather)}), "ingress")
              .value == Ticks(4));
    // Two far chunks over one link: both at distance 2 or more, so not before 2 and 3.
    test::Net net(4);
    net.both(0, 1).both(1, 2).both(1, 3);
    CHECK(bound_of(test::on_all(net, {test::collective(CollectiveKind::AllGather)}), "ingress").value ==
          Ticks(3));
}

TEST_CASE("egress counts what only one NPU holds, sent early enough for the farthest receiver") {
    Collective c = test::collective(CollectiveKind::Scatter);
    CHECK(bound_of(test::on_all(test::line(5), {c}), "egress").value == Ticks(4));
    c.chunks = 2;  // 8 chunks over one link; the two for the far end need 4 ticks
    CHECK(bound_of(test::on_all(test::line(5), {c}), "egress").value == Ticks(8));
}

TEST_CASE("a reduction needs a path for every contribution") {
    const Instance instance = test::on_all(test::line(4, 2, 3), {test::collective(CollectiveKind::Reduce)});
    CHECK(bound_of(instance, "latency").value == Ticks(15));
}

TEST_CASE("volume counts hops of an all-to-all, and 2(n-1) transfers for an all-reduce") {
    InstanceParts parts;
    parts.topology = generators::ring(4, {Ticks(0), Ticks(1), {}});
    parts.groups = {{"all", test::nodes({0, 1, 2, 3})}};
    parts.collectives = {test::collective(CollectiveKind::AllToAll)};
    CHECK(std::get<VolumeCertificate>(bound_of(Instance(parts), "volume").certificate).transfers ==
          4 * (1 + 1 + 2));
    parts.collectives = {test::collective(CollectiveKind::AllReduce)};
    CHECK(std::get<VolumeCertificate>(bound_of(Instance(parts), "volume").certificate).transfers == 4 * 6);
}

TEST_CASE("chunks that every receiver holds already need no time") {
    const Instance instance = test::on_all(test::line(2), {test::custom({0, 1}, {1})});
    CHECK(bounds::simple_bounds(instance).front().value == Ticks(0));
}

TEST_CASE("volume counts a send more where a switch cannot copy") {
    const auto transfers = [](const SwitchRule& rule, CollectiveKind kind) {
        const Instance instance = test::on_all(test::star(4, rule), {test::collective(kind)});
        return std::get<VolumeCertificate>(bound_of(instance, "volume").certificate).transfers;
    };
    // A broadcast to 3 others: into the switch and out of it for each, or into it once.
    CHECK(transfers({}, CollectiveKind::Broadcast) == 6);
    CHECK(transfers({.copy = true}, CollectiveKind::Broadcast) == 4);
    CHECK(transfers({}, CollectiveKind::Reduce) == 6);
    CHECK(transfers({}, CollectiveKind::AllReduce) == 4 * 12);
    CHECK(transfers({.reduce = true}, CollectiveKind::Reduce) == 3);
}

TEST_CASE("where distances would be too many, ports are still rated") {
    Collective c = test::collective(CollectiveKind::Broadcast);
    c.chunks = 3;
    const Instance instance = test::on_all(test::star(7200, {}, 0, 2), {c});
    const Bound ingress = bound_of(instance, "ingress");
    CHECK(std::get<CutCertificate>(ingress.certificate).transfers == 3);
    // Three sends over one link, and one more hop, over the switch, before the first or after the last.
    CHECK(ingress.value == Ticks(2 + 3 * 2));
    CHECK(bound_of(instance, "egress").value == Ticks(3 * 2 + 2));
}

TEST_CASE("the bound of large chunks is not lowered by smaller ones") {
    // 3 chunks of 8 kB and one of 1 kB over one link of 1 GB/s: the smallest alone must not stand for all.
    InstanceParts parts;
    parts.topology.npus = 2;
    parts.topology.links = {{NodeId(0), NodeId(1), {Ticks(0), Ticks(0), {1, 0}}}};
    parts.groups = {{"all", test::nodes({0, 1})}};
    Collective large = test::collective(CollectiveKind::Broadcast, "large");
    large.chunks = 3;
    large.chunk_bytes = Bytes{8000};
    Collective small = test::collective(CollectiveKind::Broadcast, "small");
    small.chunk_bytes = Bytes{1000};
    parts.collectives = {large, small};
    const Bound bound = bound_of(Instance(parts), "ingress");
    CHECK(bound.value == Ticks(3 * 8'000'000));
    CHECK(std::get<CutCertificate>(bound.certificate).bytes == Bytes{8000});
}

// V1, V2, V3, V5 and V17: sends that name real things, links that carry one transfer at a time, the last
// arrival.

#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

using Codes = std::set<std::string>;

/// 0 -> 1 with alpha 3 and beta 2, and two chunks to bring over it.
Net wire() { return Net(2).link(0, 1, 3, 2); }

Instance two_chunks(const Net& net) {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.chunks = 2;
    return on_all(net, {broadcast});
}

}  // namespace

TEST_CASE("a schedule that brings everything where it must be breaks no rule") {
    CHECK(broken(two_chunks(wire()), schedule(7, {copy(0, 0, 0), copy(1, 0, 2)})) == Codes{});
}

TEST_CASE("V1: a send must name a chunk of the instance") {
    CHECK(broken(two_chunks(wire()), schedule(7, {copy(0, 0, 0), copy(1, 0, 2), copy(2, 0, 4)})) ==
          Codes{"unknown_chunk"});
}

TEST_CASE("V2: a send must name a link of the topology") {
    CHECK(broken(two_chunks(wire()), schedule(7, {copy(0, 0, 0), copy(1, 0, 2), copy(1, 1, 4)})) ==
          Codes{"unknown_link"});
}

TEST_CASE("V3: a send must start at tick 0 or later") {
    CHECK(broken(two_chunks(wire()), schedule(7, {copy(0, 0, -1), copy(0, 0, 0), copy(1, 0, 2)})) ==
          Codes{"bad_start"});
}

TEST_CASE("V3: a send must start at tick 2^62 or before") {
    const std::int64_t last = std::int64_t{1} << 62;
    const Instance instance = two_chunks(wire());
    CHECK(broken(instance, schedule(last + 5, {copy(0, 0, 0), copy(1, 0, last)})) == Codes{});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(1, 0, last + 1)})) ==
          Codes{"bad_start", "demand_unmet"});
}

TEST_CASE("V1, V2, V3: a skipped send keeps no link busy, brings nothing and is no arrival") {
    const Instance instance = two_chunks(wire());
    CHECK(broken(instance, schedule(7, {copy(9, 0, 0), copy(0, 0, 0), copy(1, 0, 2)})) ==
          Codes{"unknown_chunk"});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(1, 9, 2)})) ==
          Codes{"unknown_link", "demand_unmet"});
    CHECK(broken(instance, schedule(7, {copy(0, 0, -1), copy(1, 0, 2)})) ==
          Codes{"bad_start", "demand_unmet"});
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(1, 0, 2), copy(9, 9, -9)})) ==
          Codes{"unknown_chunk", "unknown_link", "bad_start"});
}

TEST_CASE("V5: a pipelined wire is busy for beta only") {
    const Instance instance = two_chunks(wire());
    CHECK(broken(instance, schedule(7, {copy(0, 0, 0), copy(1, 0, 2)})) == Codes{});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(1, 0, 1)})) == Codes{"link_overlap"});
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(1, 0, 0)})) == Codes{"link_overlap"});
}

TEST_CASE("V5: a wire with one message in flight is busy for alpha and beta") {
    const Instance instance = two_chunks(wire().one_in_flight());
    CHECK(broken(instance, schedule(10, {copy(0, 0, 0), copy(1, 0, 5)})) == Codes{});
    CHECK(broken(instance, schedule(9, {copy(0, 0, 0), copy(1, 0, 4)})) == Codes{"link_overlap"});
}

TEST_CASE("V5: parallel links are separate links") {
    const Instance instance = two_chunks(Net(2).link(0, 1, 3, 2).link(0, 1, 3, 2));
    CHECK(broken(instance, schedule(5, {copy(0, 0, 0), copy(1, 1, 0)})) == Codes{});
}

TEST_CASE("V5: the two directions between a pair of nodes are separate links") {
    const Instance instance = on_all(line(2, 0, 4), {collective(CollectiveKind::AllGather)});
    CHECK(broken(instance, schedule(4, {copy(0, 0, 0), copy(1, 1, 0)})) == Codes{});
}

TEST_CASE("V5: a chunk of another size keeps a physical link for another time") {
    Net net(2);
    TopologyParts parts = net.parts();
    parts.links.push_back(
        {NodeId(0), NodeId(1), Wire{Ticks(0), Ticks(0), {1, 0}}});  // 1 GB/s: 1000 ticks per byte
    Collective small = collective(CollectiveKind::Broadcast, "small");
    Collective large = collective(CollectiveKind::Broadcast, "large");
    small.chunk_bytes = {1};
    large.chunk_bytes = {3};
    const Instance instance({"sizes", parts, {{"g", nodes({0, 1})}}, {small, large}});
    CHECK(broken(instance, schedule(4000, {copy(0, 0, 0), copy(1, 0, 1000)})) == Codes{});
    CHECK(broken(instance, schedule(4000, {copy(1, 0, 0), copy(0, 0, 3000)})) == Codes{});
    CHECK(broken(instance, schedule(3999, {copy(1, 0, 0), copy(0, 0, 2999)})) == Codes{"link_overlap"});
}

TEST_CASE("V5: the order in which a schedule lists its sends does not matter") {
    const Instance instance = two_chunks(wire());
    CHECK(broken(instance, schedule(7, {copy(1, 0, 2), copy(0, 0, 0)})) == Codes{});
    CHECK(broken(instance, schedule(6, {copy(1, 0, 1), copy(0, 0, 0)})) == Codes{"link_overlap"});
}

TEST_CASE("V5: after an overlap both sends still bring what they carry") {
    CHECK(broken(two_chunks(wire()), schedule(5, {copy(0, 0, 0), copy(1, 0, 0)})) == Codes{"link_overlap"});
}

TEST_CASE("V17: the stated makespan must be the last arrival") {
    const Instance instance = two_chunks(wire());
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(1, 0, 2)})) == Codes{"makespan_mismatch"});
    CHECK(broken(instance, schedule(8, {copy(0, 0, 0), copy(1, 0, 2)})) == Codes{"makespan_mismatch"});
    CHECK(true_makespan(instance, schedule(8, {copy(0, 0, 0), copy(1, 0, 2)})) == 7);
}

TEST_CASE("V17: the makespan includes arrivals that no demand needs") {
    const Instance instance = on_all(line(2), {custom({0}, {1})});
    CHECK(broken(instance, schedule(1, {copy(0, 0, 0), copy(0, 1, 5)})) == Codes{"makespan_mismatch"});
    CHECK(broken(instance, schedule(6, {copy(0, 0, 0), copy(0, 1, 5)})) == Codes{});
}

TEST_CASE("V17: a schedule without sends has makespan 0, whatever the release") {
    Collective broadcast = collective(CollectiveKind::Broadcast);
    broadcast.release = Ticks(9);
    const Instance instance = on_group(line(2), {1}, {broadcast});
    CHECK(broken(instance, schedule(0, {})) == Codes{});
    CHECK(broken(instance, schedule(9, {})) == Codes{"makespan_mismatch"});
}

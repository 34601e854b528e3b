#include "symmetry/symmetric_schedule.hpp"

#include "core/generators/mesh_torus.hpp"
#include "core/generators/ring.hpp"
#include "heuristics/symmetry/quotient.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/symmetric_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr Wire kUnit{Ticks(0), Ticks(1), {}};

symmetry::Generator shift(std::uint32_t npus) {
    symmetry::Generator generator{{}, npus};
    for (std::size_t n = 0; n < npus; ++n) generator.images.emplace_back((n + 1) % npus);
    return generator;
}

std::vector<std::uint32_t> images_of(const Instance& instance, const symmetry::Generator& generator) {
    return symmetry::ChunkAction(instance).images(generator);
}

}  // namespace

TEST_CASE("an expansion is all images of all sends") {
    // A one-way ring of 3 with 2 chunks each: NPU n has chunks 2n and 2n+1 and link n.
    const Instance instance =
        on_all_npus(generators::ring(3, kUnit, generators::Direction::OneWay), CollectiveKind::AllGather, 2);
    const symmetry::SymmetricSchedule schedule{
        "x", Ticks(4), {shift(3)}, {copy(0, 0, 0), copy(1, 0, 1), copy(0, 1, 2), copy(1, 1, 3)}};
    const Schedule whole = expanded(instance, schedule);
    CHECK(whole.makespan == Ticks(4));
    CHECK(whole.sends == std::vector<Send>{copy(0, 0, 0), copy(2, 1, 0), copy(4, 2, 0),  //
                                           copy(1, 0, 1), copy(3, 1, 1), copy(5, 2, 1),  //
                                           copy(4, 0, 2), copy(0, 1, 2), copy(2, 2, 2),  //
                                           copy(5, 0, 3), copy(1, 1, 3), copy(3, 2, 3)});
}

TEST_CASE("an expansion comes in order of start, then link, and knows whose images its sends are") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const Instance instance = random_symmetric_instance(rng);
        auto schedule = heuristics::quotient_synthesis(instance, Ticks(0), rng, Stop(), 500);
        REQUIRE(schedule);
        rng.shuffle(schedule->sends);
        // Also where a link is used twice at once, which no valid schedule does.
        if (seed % 2 == 0) schedule->sends.push_back(schedule->sends[0]);
        symmetry::SymmetricSource source(instance, *schedule);
        std::vector<Send> sends;
        for (auto batch = source.next(); !batch.empty(); batch = source.next()) {
            for (std::size_t i = 0; i < batch.size(); ++i) {
                const Send& origin = schedule->sends[source.position(i)];
                CHECK(origin.start == batch[i].start);
                CHECK(origin.op == batch[i].op);
                CHECK(instance.topology().link(origin.link).wire ==
                      instance.topology().link(batch[i].link).wire);
                sends.push_back(batch[i]);
            }
        }
        CHECK(sends.size() == source.size());
        CHECK(std::ranges::is_sorted(sends, starts_before));
        CHECK(source.next().empty());
    }
}

TEST_CASE("chunks move with the NPUs of their demands") {
    const symmetry::Generator generator = shift(4);
    const TopologyParts ring = generators::ring(4, kUnit);
    // Two chunks of each rank: (rank, k) is 2 * rank + k.
    for (const auto kind :
         {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce}) {
        const auto images = images_of(on_all_npus(ring, kind, 2), generator);
        CHECK(images == std::vector<std::uint32_t>{2, 3, 4, 5, 6, 7, 0, 1});
    }
    // 0->1, 0->2, 0->3, 1->0, …: to 1->2, 1->3, 1->0, 2->1, …
    const auto images = images_of(on_all_npus(ring, CollectiveKind::AllToAll), generator);
    CHECK(images == std::vector<std::uint32_t>{4, 5, 3, 7, 8, 6, 10, 11, 9, 0, 1, 2});
    const auto broadcast = images_of(on_all_npus(ring, CollectiveKind::Broadcast), generator);
    CHECK(broadcast == std::vector<std::uint32_t>{symmetry::kNoImage});
}

TEST_CASE("chunks move from group to group, but not from release to release") {
    Net net(4);
    for (std::size_t i = 0; i < 4; ++i) net.link(i, (i + 1) % 4).link(i, (i + 2) % 4);
    InstanceParts parts{"x", net.parts(), {{"even", nodes({0, 2})}, {"odd", nodes({1, 3})}}, {}};
    parts.collectives = {collective(CollectiveKind::AllGather, "a"),
                         collective(CollectiveKind::AllGather, "b")};
    parts.collectives[1].group = GroupId(1);
    for (Collective& c : parts.collectives) c.forwarding = Forwarding::Group;
    CHECK(images_of(Instance(parts), shift(4)) == std::vector<std::uint32_t>{2, 3, 1, 0});
    parts.collectives[1].forwarding = Forwarding::Any;
    CHECK(images_of(Instance(parts), shift(4))[0] == symmetry::kNoImage);
    parts.collectives[1].forwarding = Forwarding::Group;
    parts.collectives[1].release = Ticks(5);
    CHECK(images_of(Instance(parts), shift(4))[0] == symmetry::kNoImage);
}

TEST_CASE("of parallel links the first goes to the first of its wire") {
    Net net(2);
    net.link(0, 1, 0, 1)
        .link(0, 1, 0, 2)
        .link(0, 1, 0, 1)
        .link(1, 0, 0, 2)
        .link(1, 0, 0, 1)
        .link(1, 0, 0, 1)
        .link(1, 0, 0, 3);
    const Topology topology(net.parts());
    const std::vector<symmetry::Generator> generators{shift(2)};
    const symmetry::GroupAction action(generators, 2);
    const symmetry::LinkOrbits orbits(topology, action);
    CHECK(orbits.size() == 3);
    const auto partner = [&](std::size_t link) {
        return orbits.link(orbits.orbit_of(LinkId(link)), 1).value();
    };
    CHECK(partner(0) == 4);
    CHECK(partner(1) == 3);
    CHECK(partner(2) == 5);
    CHECK(orbits.orbit_of(LinkId(6)) == symmetry::kNoImage);
}

TEST_CASE("a schedule without an expansion is refused with the place") {
    const Instance instance = on_all_npus(generators::ring(4, kUnit), CollectiveKind::AllGather);
    const auto place = [&](const symmetry::SymmetricSchedule& schedule) -> std::string {
        try {
            (void)expanded(instance, schedule);
        } catch (const InputError& error) {
            return error.place();
        }
        return "none";
    };
    CHECK(place({"x", Ticks(1), {shift(4)}, {copy(0, 0, 0)}}) == "none");
    CHECK(place({"x", Ticks(1), {shift(4)}, {copy(0, 0, 0), copy(4, 0, 0)}}) == "/sends/1");
    CHECK(place({"x", Ticks(1), {shift(4)}, {copy(0, 8, 0)}}) == "/sends/0");
    CHECK(place({"x", Ticks(1), {shift(3)}, {}}) == "/symmetry/0");
    CHECK(place({"x", Ticks(1), {shift(4), shift(4)}, {}}) == "/symmetry/1");
    // Halves of a ring changed for each other: 0-1 goes to 1-0, which is there, and 1-2 to 0-3, which is,
    // too.
    CHECK(place({"x", Ticks(1), {{nodes({1, 0, 3, 2}), 2}}, {copy(0, 0, 0)}}) == "none");
    CHECK(place({"x", Ticks(1), {{nodes({0, 3, 2, 1}), 2}}, {}}) == "/symmetry/0");
}

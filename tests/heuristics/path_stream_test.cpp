#include "heuristics/paths/path_stream.hpp"

#include "core/generators/fat_tree.hpp"
#include "core/generators/mesh_torus.hpp"
#include "tests/support/both_checkers.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/random_instance.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>

using namespace tutti;
using namespace tutti::heuristics;
using namespace tutti::test;

namespace {

Instance on_all_of(TopologyParts topology, CollectiveKind kind) {
    InstanceParts parts;
    parts.topology = std::move(topology);
    parts.groups = {{"all", {}}};
    for (std::size_t n = 0; n < parts.topology.npus; ++n) parts.groups[0].members.emplace_back(n);
    parts.collectives = {collective(kind)};
    parts.collectives[0].release = Ticks(3);
    return Instance(std::move(parts));
}

Schedule read(PathStream& stream) {
    REQUIRE(stream.why_none() == "");
    Schedule schedule;
    for (auto sends = stream.next(); !sends.empty(); sends = stream.next()) {
        CHECK(stream.position(0) == schedule.sends.size());
        schedule.sends.insert(schedule.sends.end(), sends.begin(), sends.end());
    }
    CHECK(stream.is_complete());
    CHECK(std::ranges::is_sorted(schedule.sends, starts_before));
    schedule.makespan = stream.makespan();
    return schedule;
}

}  // namespace

TEST_CASE("streamed paths are valid, the shortest there are, and fill the middle of a mesh") {
    const std::array dims{std::uint64_t{4}, std::uint64_t{4}};
    const std::array wires{Wire{Ticks(0), Ticks(1), {}}};
    const Instance instance = on_all_of(generators::mesh(dims, wires), CollectiveKind::AllToAll);
    PathStream stream(instance, Ticks(0), {}, 1, {});
    const Schedule schedule = read(stream);
    CHECK(broken(instance, schedule).empty());
    // Each of the 16 NPUs sends one chunk to all others; distances of a line of 4 add up to 20.
    CHECK(sends_of_shortest_paths(instance) == 2 * 20 * 16);
    CHECK(schedule.sends.size() == 2 * 20 * 16);
    // 64 chunks cross the middle each way over 4 links, from the release on.
    CHECK(schedule.makespan >= Ticks(16 + 3));
    CHECK(schedule.makespan <= Ticks(20 + 3));
}

TEST_CASE("streamed paths go through switches that store, and not through others") {
    const std::array wires{Wire{Ticks(1), Ticks(2), {}}};
    const Instance stores =
        on_all_of(generators::fat_tree(2, 2, wires, {.copy = true}), CollectiveKind::AllToAll);
    PathStream stream(stores, Ticks(0), {}, 1, {});
    CHECK(broken(stores, read(stream)).empty());
    const Instance cuts =
        on_all_of(generators::fat_tree(2, 2, wires, {.cut_through = true}), CollectiveKind::AllToAll);
    CHECK(PathStream(cuts, Ticks(0), {}, 1, {}).why_none() != "");
}

TEST_CASE("a chunk for several receivers has no single path") {
    const Instance instance = on_all(line(3), {collective(CollectiveKind::AllGather)});
    CHECK(sends_of_shortest_paths(instance) == 0);
    CHECK(PathStream(instance, Ticks(0), {}, 1, {}).why_none() != "");
}

TEST_CASE("a stopped stream of paths is not complete") {
    const Instance instance = on_all(line(4), {collective(CollectiveKind::AllToAll)});
    const std::atomic<bool> stopped{true};
    PathStream stream(instance, Ticks(0), {}, 1, Stop(std::nullopt, &stopped));
    CHECK_FALSE(stream.is_complete());
}

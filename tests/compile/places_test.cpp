#include "compile/places.hpp"
#include "compile/condition.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

namespace {

using namespace tutti;
using namespace tutti::compile;

Instance of_kind(CollectiveKind kind, std::uint64_t chunks, std::optional<Rank> root = {}) {
    auto collective = test::collective(kind);
    collective.chunks = chunks;
    collective.root = root;
    return test::on_all(test::line(3), {collective});
}

using Place = std::optional<std::int64_t>;

}  // namespace

TEST_CASE("an all-gather's chunk is in its owner's input and in every output") {
    const Instance instance = of_kind(CollectiveKind::AllGather, 2);
    const Places places(instance, CollectiveId(0));
    CHECK(places.input(1, 3) == Place(1));
    CHECK(places.input(0, 3) == Place());
    CHECK(places.output(0, 3) == Place(3));
    CHECK(places.output(1, 3) == Place(3));
    CHECK(places.input_chunks(0) == 2);
    CHECK(places.output_chunks(0) == 6);
    CHECK(places.chunks_per_loop() == 6);
}

TEST_CASE("relays have no input and no output, and runtimes have no name for a plan with them") {
    auto collective = test::collective(CollectiveKind::Gather);
    collective.chunks = 2;
    collective.root = Rank(1);
    const Instance instance = test::on_group(test::line(4), {3, 1}, {collective});
    const std::vector<NodeId> relays = test::nodes({0, 2});
    const Places places(instance, CollectiveId(0), relays);
    CHECK(places.ranks() == 4);
    CHECK(places.members() == 2);
    CHECK(places.has_relays());
    CHECK(places.goal() == CollectiveKind::Custom);
    CHECK(places.input_chunks(0) == 2);
    CHECK(places.output_chunks(1) == 4);
    CHECK(places.chunks_per_loop() == 4);
    for (const std::uint32_t relay : {2u, 3u}) {
        CHECK(places.input_chunks(relay) == 0);
        CHECK(places.output_chunks(relay) == 0);
        CHECK(places.input(relay, 0) == Place());
        CHECK(places.output(relay, 0) == Place());
    }
    CHECK_FALSE(Places(instance, CollectiveId(0)).has_relays());
    CHECK(Places(instance, CollectiveId(0)).chunks_per_loop() == 2);
}

TEST_CASE("a reduce-scatter's chunk is in every input and in its owner's output") {
    const Instance instance = of_kind(CollectiveKind::ReduceScatter, 2);
    const Places places(instance, CollectiveId(0));
    CHECK(places.input(2, 3) == Place(3));
    CHECK(places.output(1, 3) == Place(1));
    CHECK(places.output(2, 3) == Place());
    CHECK(places.goal() == CollectiveKind::ReduceScatter);
}

TEST_CASE("an all-to-all's blocks lie by destination and by source, and the own block is known") {
    const Instance instance = of_kind(CollectiveKind::AllToAll, 2);
    const Places places(instance, CollectiveId(0));
    // Chunks 4, 5: from rank 1 to rank 0.
    CHECK(places.input(1, 5) == Place(1));
    CHECK(places.output(0, 5) == Place(3));
    REQUIRE(places.own_blocks().size() == 3);
    CHECK(places.own_blocks()[2].input == 4);
    CHECK(places.own_blocks()[2].output == 4);
    CHECK(places.own_blocks()[2].count == 2);
}

TEST_CASE("gather and scatter have the large buffer at the root only") {
    const Instance gather = of_kind(CollectiveKind::Gather, 2, Rank(1));
    const Places in(gather, CollectiveId(0));
    CHECK(in.root() == std::optional<std::uint32_t>(1));
    CHECK(in.input(2, 5) == Place(1));
    CHECK(in.output(1, 5) == Place(5));
    CHECK(in.output_chunks(1) == 6);
    CHECK(in.output_chunks(0) == 0);
    CHECK(in.chunks_per_loop() == 2);
    const Instance scatter = of_kind(CollectiveKind::Scatter, 2, Rank(1));
    const Places out(scatter, CollectiveId(0));
    CHECK(out.input(1, 5) == Place(5));
    CHECK(out.output(2, 5) == Place(1));
    CHECK(out.input_chunks(0) == 0);
}

TEST_CASE("an all-to-all-v packs its blocks, and its condition names them") {
    auto collective = test::collective(CollectiveKind::AllToAllV);
    collective.counts = {{1, 2, 0}, {1, 0, 3}, {0, 0, 0}};
    const Instance instance = test::on_all(test::line(3), {collective});
    const Places places(instance, CollectiveId(0));
    // Chunk 2: rank 1 to rank 0; chunks 3 to 5: rank 1 to rank 2.
    CHECK(places.input(0, 1) == Place(2));
    CHECK(places.output(1, 1) == Place(1));
    CHECK(places.output(0, 2) == Place(1));
    CHECK(places.input(1, 5) == Place(3));
    CHECK(places.output(2, 5) == Place(2));
    CHECK(places.chunks_per_loop() == 4);
    const plan::Condition condition = condition_of(Part{}, places);
    CHECK(condition.inputs.at(Rank(0)) == std::vector<std::int64_t>{0, 1, 2});
    CHECK(condition.inputs.at(Rank(2)).empty());
    CHECK(condition.outputs.at(Rank(0)).at(0) == std::vector<plan::Contribution>{{Rank(0), 0}});
}

TEST_CASE("a condition names the holder whose copy the schedule brings") {
    auto both = test::custom({0, 2}, {1, 2});
    both.demands.push_back(test::custom({0, 1}, {2}, true).demands.front());
    const Instance instance = test::on_all(test::line(3), {both});
    const Places places(instance, CollectiveId(0));
    CHECK(places.input(0, 1) == Place(1));
    CHECK(places.input(1, 1) == Place(0));
    CHECK(places.output(2, 1) == Place(1));
    // Link 3 leads from NPU 2 to NPU 1.
    const Part part = part_of(
        instance, test::schedule(3, {test::copy(0, 3, 0), test::reduce(1, 0, 0), test::reduce(1, 2, 1)}),
        CollectiveId(0));
    const plan::Condition condition = condition_of(part, places);
    CHECK(condition.outputs.at(Rank(1)).at(0) == std::vector<plan::Contribution>{{Rank(2), 0}});
    CHECK(condition.outputs.at(Rank(2)).at(0) == std::vector<plan::Contribution>{{Rank(2), 0}});
    CHECK(condition.outputs.at(Rank(2)).at(1) == std::vector<plan::Contribution>{{Rank(0), 1}, {Rank(1), 0}});
}

#include "core/collective.hpp"
#include "core/ids.hpp"
#include "core/instance.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <set>

namespace tutti {

TEST_CASE("plan files spell collectives with and without underscores, dashes and capitals") {
    for (const char* name : {"reduce_scatter", "reducescatter", "ReduceScatter", "reduce-scatter"}) {
        CAPTURE(name);
        CHECK(kind_in_plan(name) == CollectiveKind::ReduceScatter);
    }
    CHECK(kind_in_plan("all_to_all") == CollectiveKind::AllToAll);
    CHECK(kind_in_plan("sendrecv") == CollectiveKind::SendRecv);
    CHECK(kind_in_plan("allfather") == std::nullopt);
    CHECK(kind_in_plan("permute") == std::nullopt);
}

TEST_CASE("a plan whose name does not determine the result is custom") {
    for (const char* name : {"custom", "none", "test", "send", "recv", "alltoallv", "all_to_all_v"}) {
        CAPTURE(name);
        CHECK(kind_in_plan(name) == CollectiveKind::Custom);
    }
    CHECK(plan_kind_of(CollectiveKind::Permute) == CollectiveKind::Custom);
    CHECK(plan_kind_of(CollectiveKind::AllToAllV) == CollectiveKind::Custom);
    CHECK(plan_kind_of(CollectiveKind::Gather) == CollectiveKind::Gather);
}

TEST_CASE("every name of a plan's collective is read back as the same") {
    std::set<CollectiveKind> kinds;
    for (const std::string_view name : plan_kind_names()) {
        CAPTURE(name);
        REQUIRE(kind_in_plan(name).has_value());
        CHECK(plan_name_of(*kind_in_plan(name)) == name);
        CHECK(kinds.insert(*kind_in_plan(name)).second);
    }
    CHECK(kinds.size() == 11);
}

TEST_CASE("instances and plans have their own names of kinds, and instances have no sendrecv") {
    CHECK(name_of(CollectiveKind::AllReduce) == "all_reduce");
    CHECK(plan_name_of(CollectiveKind::AllReduce) == "allreduce");
    CHECK(kind_named("allreduce") == std::nullopt);
    CHECK(kind_named("send_recv") == std::nullopt);
    CHECK(collective_kind_names().size() == 12);
}

TEST_CASE("sendrecv asks every rank for the chunks of the one before it, round the group") {
    Collective collective = test::collective(CollectiveKind::SendRecv);
    collective.chunks = 2;
    const Instance instance = test::on_all(test::line(3), {collective});
    REQUIRE(instance.chunks() == 6);
    for (std::size_t c = 0; c < 6; ++c) {
        CAPTURE(c);
        const Demand demand = instance.demand(ChunkId(c));
        REQUIRE(demand.holders.size() == 1);
        REQUIRE(demand.receivers.size() == 1);
        CHECK(demand.holders[0] == NodeId(c / 2));
        CHECK(demand.receivers[0] == NodeId((c / 2 + 1) % 3));
        CHECK_FALSE(demand.reduction);
    }
}

TEST_CASE("an optional id is no larger than the id, and none comes first") {
    static_assert(sizeof(OptionalId<Rank>) == sizeof(Rank));
    OptionalId<Rank> rank;
    CHECK_FALSE(rank.has_value());
    CHECK(rank == std::nullopt);
    CHECK(rank < OptionalId<Rank>(Rank(0)));
    rank = Rank(7);
    REQUIRE(rank.has_value());
    CHECK(*rank == Rank(7));
    CHECK(rank == Rank(7));
    rank.reset();
    CHECK_FALSE(rank.has_value());
}

}  // namespace tutti

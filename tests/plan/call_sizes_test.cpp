#include "plan/call_sizes.hpp"
#include "tests/support/execution_builder.hpp"

#include <doctest/doctest.h>

namespace tutti::plan {
namespace {

ExecutionPlan declaring(const char* collective, std::int64_t input, std::int64_t output, bool in_place) {
    test::ExecutionBuilder plan(collective, 4);
    for (int rank = 0; rank < 4; ++rank) plan.gpu(input, output);
    plan.plan().in_place = in_place;
    return plan.plan();
}

}  // namespace

TEST_SUITE("plan: call sizes") {
    TEST_CASE("in place, a buffer that a GPU declares as empty is as large as the other one makes it") {
        const auto larger = [](CollectiveKind goal, std::int64_t input, std::int64_t output, bool in_place) {
            return call_sizes(declaring("test", input, output, in_place), goal).larger();
        };
        CHECK(larger(CollectiveKind::AllGather, 2, 0, true) == 8);
        CHECK(larger(CollectiveKind::ReduceScatter, 0, 2, true) == 8);
        CHECK(larger(CollectiveKind::Gather, 2, 0, true) == 8);
        CHECK(larger(CollectiveKind::Scatter, 0, 2, true) == 8);
        CHECK(larger(CollectiveKind::AllReduce, 3, 0, true) == 3);
        CHECK(larger(CollectiveKind::AllGather, 2, 0, false) == 2);
        CHECK(larger(CollectiveKind::Custom, 2, 0, true) == 2);
    }

    TEST_CASE("a rank's share is the smaller buffer, and of an all-to-all what goes to one rank") {
        CHECK(call_sizes(declaring("test", 2, 8, true), CollectiveKind::AllGather).share == 2);
        CHECK(call_sizes(declaring("test", 8, 8, true), CollectiveKind::AllToAll).share == 2);
    }

    TEST_CASE("files of MSCCL++ state five collectives, and nothing else") {
        CHECK(stated_goal(declaring("allgather", 1, 4, true)) == CollectiveKind::AllGather);
        CHECK(stated_goal(declaring("sendrecv", 1, 1, false)) == CollectiveKind::SendRecv);
        CHECK(stated_goal(declaring("broadcast", 1, 1, true)) == CollectiveKind::Custom);
        CHECK(stated_goal(declaring("test", 1, 1, true)) == CollectiveKind::Custom);
    }
}

}  // namespace tutti::plan

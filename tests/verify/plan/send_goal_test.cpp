#include "verify/plan/send_goal.hpp"

#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;
using plan::SendChunk;
using verify::ChunkShape;

namespace {

/// One chunk from each first to each second, at addresses of their own.
std::vector<SendChunk> pairs(const std::vector<std::pair<std::int32_t, std::int32_t>>& ends) {
    std::vector<SendChunk> chunks;
    for (const auto& [from, to] : ends)
        chunks.push_back(
            {{id<plan::PlanNode>(from)}, {id<plan::PlanNode>(to)}, static_cast<std::int64_t>(chunks.size())});
    return chunks;
}

CollectiveKind goal_of(const std::vector<SendChunk>& chunks, std::int32_t nodes) {
    return ChunkShape(chunks, nodes).goal();
}

}  // namespace

TEST_CASE("collectives are known by where their chunks start and end") {
    CHECK(goal_of(all_gather_chunks(3), 3) == CollectiveKind::AllGather);
    CHECK(goal_of(all_reduce_chunks(3, 2), 3) == CollectiveKind::AllReduce);
    CHECK(goal_of(pairs({{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}), 3) == CollectiveKind::AllToAll);
    CHECK(goal_of(pairs({{0, 0}, {1, 1}, {0, 1}, {1, 0}, {2, 2}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}), 3) ==
          CollectiveKind::AllToAll);
    CHECK(goal_of(pairs({{0, 1}, {1, 2}}), 3) == CollectiveKind::AllToNext);
    CHECK(goal_of(pairs({{0, 1}, {1, 2}, {2, 0}}), 3) == CollectiveKind::SendRecv);
    CHECK(goal_of(pairs({{1, 0}, {1, 2}}), 3) == CollectiveKind::Scatter);
    CHECK(goal_of(pairs({{0, 1}, {2, 1}, {1, 1}}), 3) == CollectiveKind::Gather);
    CHECK(goal_of({{{1_n}, {0_n, 1_n, 2_n}, 0}, {{1_n}, {0_n, 2_n}, 1}}, 3) == CollectiveKind::Broadcast);
    const std::vector<SendChunk> scattered{
        {{0_n}, {0_n}, 0}, {{1_n}, {0_n}, 0}, {{0_n}, {1_n}, 1}, {{1_n}, {1_n}, 1}};
    CHECK(goal_of(scattered, 2) == CollectiveKind::ReduceScatter);
    CHECK(goal_of({{{0_n}, {1_n}, 0}, {{1_n}, {1_n}, 0}}, 2) == CollectiveKind::Reduce);
}

TEST_CASE("roots are found") {
    CHECK(ChunkShape(pairs({{1, 0}, {1, 2}}), 3).root(CollectiveKind::Scatter) == Rank(1));
    CHECK(ChunkShape(pairs({{0, 1}, {2, 1}}), 3).root(CollectiveKind::Gather) == Rank(1));
    CHECK(ChunkShape({{{{0_n}, {1_n}, 0}, {{1_n}, {1_n}, 0}}}, 2).root(CollectiveKind::Reduce) == Rank(1));
    CHECK(ChunkShape(all_gather_chunks(2), 2).root(CollectiveKind::AllGather) == std::nullopt);
}

TEST_CASE("different shares of the ranks are no named collective") {
    CHECK(goal_of({}, 3) == CollectiveKind::Custom);
    CHECK(goal_of({{{0_n, 1_n}, {2_n}, 0}}, 3) == CollectiveKind::Custom);
    auto gather = all_gather_chunks(3);
    gather.push_back({{0_n}, {0_n, 1_n, 2_n}, 3});
    CHECK(goal_of(gather, 3) == CollectiveKind::Custom);
    gather = all_gather_chunks(3);
    gather[1].post = {0_n, 1_n};
    CHECK(goal_of(gather, 3) == CollectiveKind::Custom);
    CHECK(goal_of(pairs({{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}}), 3) == CollectiveKind::Custom);
    // Node 2 contributes to one of the two sums only.
    auto sums = all_reduce_chunks(3, 2);
    sums.pop_back();
    CHECK(goal_of(sums, 3) == CollectiveKind::Custom);
    sums = all_reduce_chunks(3);
    sums[1].post = {0_n, 1_n};
    CHECK(goal_of(sums, 3) == CollectiveKind::Custom);
}

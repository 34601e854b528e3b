// Spanning trees of ForestColl.

#include "io/forestcoll_xml.hpp"
#include "tests/support/send_plans.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;
using plan::ForestCollPlan;

namespace {

ForestCollPlan file(const std::string& name) {
    io::Source source(step_file(name));
    return io::read_forestcoll_xml(source);
}
ForestCollPlan ring() { return file("forestcoll-ring4.xml"); }
plan::PlanNode named(const ForestCollPlan& plan, const std::string& name) {
    return id<plan::PlanNode>(std::ranges::find(plan.node_names, name) - plan.node_names.begin());
}

}  // namespace

TEST_CASE("trees that ForestColl made span all nodes and carry all shares") {
    const auto verdict = judged(ring());
    CHECK(told(verdict) == "valid");
    CHECK(verdict.ranks == 4);
    CHECK(verdict.mode == "trees");
    CHECK(verdict.own_cost == "trees of height 3, 3 chunks over the busiest link");
    CHECK(told(file("forestcoll-two-boxes.xml")) == "valid");
    CHECK(told(ring(), as(CollectiveKind::ReduceScatter)) == "valid");
    CHECK(told(ring(), as(CollectiveKind::AllReduce)) == "valid");
    CHECK(told(ring(), as(CollectiveKind::AllToAll)) == "structure-only");
}

TEST_CASE("a tree that misses a node is reported with the node") {
    auto plan = ring();
    auto& sends = plan.trees[0].sends;
    sends.erase(sends.begin() + 2);  // 1 -> 2, the last of the first tree
    const auto verdict = judged(plan);
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message ==
          "the tree 0 of node 0 reaches 3 of 4 nodes; the first that it lacks is node 2");
    CHECK(warned(verdict).find("claim") != std::string::npos);
}

TEST_CASE("no node of a tree receives twice, and the root never") {
    auto plan = ring();
    plan.trees[0].sends[2].dst = named(plan, "3");
    CHECK(told(plan) == "invalid: tree value");
    plan = ring();
    plan.trees[0].sends[2].dst = named(plan, "0");
    CHECK(told(plan) == "invalid: tree value");
}

TEST_CASE("nodes that send to each other in a circle are not reached") {
    auto plan = ring();
    auto& sends = plan.trees[0].sends;
    sends[0] = sends[2];  // 1 -> 2 twice, and 0 -> 3
    sends[2].src = named(plan, "2");
    sends[2].dst = named(plan, "1");
    CHECK(told(plan) == "invalid: not-held not-held value");
}

TEST_CASE("the trees of each node carry its whole share") {
    auto plan = ring();
    plan.trees[1].chunks = 2;
    auto verdict = judged(plan);
    CHECK(told(verdict) == "invalid: value");
    CHECK(verdict.violations[0].message == "the trees of node 1 carry 3 chunks, its share has 2");
    plan = ring();
    plan.trees[2].index = 0;
    CHECK(told(plan) == "invalid: tree");
    plan.trees.clear();
    CHECK(told(plan) == "invalid: tree value value value value");
}

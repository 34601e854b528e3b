#include "io/forestcoll_xml.hpp"

#include "plan/plan_error.hpp"
#include "scratch.hpp"
#include "tests/support/plan_ids.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;
using plan::ForestCollPlan;
using plan::PlanError;

namespace {

ForestCollPlan parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.xml");
    return read_forestcoll_xml(source);
}
std::string refused(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const PlanError& error) {
        CHECK(error.file() == "x.xml");
        return error.code() + " at " + error.place();
    }
    return "accepted";
}
std::string one_tree(const std::string& sends) {
    return "<Algo nchunkspernode=\"1\"><tree root=\"0\" index=\"0\" nchunks=\"1\" height=\"1\">" + sends +
           "</tree></Algo>";
}

}  // namespace

TEST_CASE("trees of ForestColl are read, with tuples as names") {
    Source source(std::string(TUTTI_SOURCE_DIR) + "/tests/data/steps/forestcoll-two-boxes.xml");
    const ForestCollPlan plan = read_forestcoll_xml(source);
    CHECK(plan.nodes() == 4);
    CHECK(plan.node_names ==
          std::vector<std::string>{"(0, 'GPU', 0)", "(0, 'GPU', 1)", "(1, 'GPU', 0)", "(1, 'GPU', 1)"});
    CHECK(plan.chunks_per_node == 1);
    REQUIRE(plan.trees.size() == 4);
    CHECK(plan.trees[2].root == 2_n);
    CHECK(plan.trees[2].index == 0);
    CHECK(plan.trees[2].chunks == 1);
    CHECK(plan.trees[2].height == 2);
    for (const plan::ForestTree& tree : plan.trees) CHECK(tree.sends.size() == 3);
    CHECK(plan.trees[0].sends[1] == plan::TreeSend{0_n, 2_n});
    CHECK(plan.busiest_link == 2);
}

TEST_CASE("switches on a path are no nodes, and links are counted along it") {
    const ForestCollPlan plan = parsed(
        "<Algo nchunkspernode=\"3\"><tree root=\"a\" index=\"0\" nchunks=\"3\" height=\"1\">"
        "<send src=\"a\" dst=\"b\" path=\"a,(1, 'x,y'),b\"/><send src=\"a\" dst=\"c\" path=\"a,(1, "
        "'x,y'),c\"/>"
        "</tree></Algo>");
    CHECK(plan.node_names == std::vector<std::string>{"a", "b", "c"});
    CHECK(plan.busiest_link == 6);
}

TEST_CASE("what cannot be a set of trees is refused with code and place") {
    CHECK(refused(one_tree("<send src=\"0\" dst=\"1\" path=\"0,1\"/>")) == "accepted");
    CHECK(refused(one_tree("<send src=\"0\" dst=\"1\"/>")) == "accepted");
    CHECK(refused("<algo nchunkspernode=\"1\"/>").starts_with("root at "));
    CHECK(refused("<Algo/>").starts_with("root at "));
    CHECK(refused("<Algo nchunkspernode=\"0\"/>").starts_with("bad-integer at "));
    CHECK(
        refused("<Algo nchunkspernode=\"1\"><tree root=\"0\"/></Algo>").starts_with("missing-attribute at "));
    CHECK(refused(one_tree("<send src=\"0\"/>")).starts_with("missing-attribute at "));
    for (const char* path : {"", "0", "1,0", "0,1,2", "0,(1", "0)1,1", "0,'1"}) {
        CAPTURE(path);
        const std::string send = std::string("<send src=\"0\" dst=\"1\" path=\"") + path + "\"/>";
        CHECK(refused(one_tree(send)).starts_with("bad-value at "));
    }
    CHECK(refused("<Algo nchunkspernode=\"1\">").starts_with("xml at "));
    CHECK(refused("<!DOCTYPE Algo [<!ENTITY a \"b\">]><Algo nchunkspernode=\"1\"/>").starts_with("dtd at "));
}

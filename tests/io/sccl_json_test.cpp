#include "io/sccl_json.hpp"

#include "io/json_text.hpp"
#include "plan/plan_error.hpp"
#include "scratch.hpp"
#include "tests/support/plan_ids.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;
using plan::PlanError;
using plan::ScclPlan;
using plan::SendChunk;

namespace {

const std::string kData = std::string(TUTTI_SOURCE_DIR) + "/tests/data/steps/";

ScclPlan parsed(const Json& json) {
    Source source = Source::of_text(json_line(json), "x.json");
    return read_sccl_json(source);
}
std::string refused(const Json& json) {
    try {
        (void)parsed(json);
    } catch (const PlanError& error) {
        CHECK(error.file() == "x.json");
        return error.code() + " at " + error.place();
    }
    return "accepted";
}
Json file(const std::string& name) {
    Source source(kData + name);
    return parse_json(source);
}
ScclPlan plan_in(const std::string& name) {
    Source source(kData + name);
    return read_sccl_json(source);
}

constexpr const char* kRing = "Allgather.n4-Ring.n4-steps2.msccl.json";
constexpr const char* kTaccl =
    "Alltoall.n8-MI300X-DUMB-MI300X-DUMB-steps2-tacclsol-improve-1736374135_taccl.sccl.json";

}  // namespace

TEST_CASE("an algorithm of msccl-tools is read") {
    const ScclPlan plan = plan_in(kRing);
    CHECK(plan.clock == plan::SendClock::Steps);
    CHECK(plan.name == "Allgather(n=4)-Ring(n=4)-steps=2");
    CHECK(plan.collective == "Allgather(n=4)");
    CHECK(plan.runtime == "allgather");
    CHECK(plan.network == "Ring(n=4)");
    CHECK(plan.nodes == 4);
    CHECK(plan.rounds == std::vector<std::int64_t>{1, 1});
    CHECK(plan.chunks[2] == SendChunk{{2_n}, {0_n, 1_n, 2_n, 3_n}, 2});
    CHECK(plan.sends.size() == 12);
    CHECK(plan.has_links);
    CHECK_FALSE(plan.has_latencies);
    REQUIRE(plan.links.size() == 8);
    CHECK(plan.links[0] == plan::ScclLink{0_n, 1_n, 1, 0, 0});
    CHECK(plan.links[1] == plan::ScclLink{0_n, 3_n, 1, 0, 0});
    CHECK(plan.remarks.empty());
}

TEST_CASE("links are written by destination, then source") {
    Json json = file(kRing);
    json["topology"]["links"] = {{0, 0, 0, 0}, {7, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
    const ScclPlan plan = parsed(json);
    REQUIRE(plan.links.size() == 1);
    CHECK(plan.links[0] == plan::ScclLink{0_n, 1_n, 7, 0, 0});
}

TEST_CASE("switches of SCCL are limits on sets of nodes") {
    Json json = file(kRing);
    json["topology"]["switches"] = {{{3, 0, 0}, {1, 2}, 5, "hub"}};
    CHECK(parsed(json).switches == std::vector<plan::ScclSwitch>{{{0_n, 3_n}, {1_n, 2_n}, 5, "hub"}});
    json["topology"]["switches"] = {{{0}, {1}, 0, "hub"}};
    CHECK(refused(json) == "bad-integer at /topology/switches/0/2");
}

TEST_CASE("msccl-tools writes the collective before it is cut into chunks, the reader cuts it") {
    const ScclPlan plan = plan_in("Allgather.n8-DGX1-steps2.rounds3.chunks2.msccl.json");
    REQUIRE(plan.chunks.size() == 16);
    CHECK(plan.chunks[5] == SendChunk{{2_n}, {0_n, 1_n, 2_n, 3_n, 4_n, 5_n, 6_n, 7_n}, 5});
    CHECK(plan.extra_rounds == 1);
}

TEST_CASE("a collective that is cut already is not cut again") {
    // As TACCL writes it: the maps of addresses show that nothing is left to do.
    Json json = file(kRing);
    json["instance"]["chunks"] = 2;
    CHECK(parsed(json).chunks.size() == 4);
    // Without maps the kind of topology tells.
    json.erase("input_map");
    json.erase("output_map");
    CHECK(parsed(json).chunks.size() == 8);
    Json taccl = file(kTaccl);
    taccl["instance"]["chunks"] = 2;
    taccl.erase("input_map");
    taccl.erase("output_map");
    CHECK(parsed(taccl).chunks.size() == 64);
}

TEST_CASE("maps that contradict the collective are remarked") {
    Json json = file(kRing);
    json["input_map"]["0"] = {3};
    const ScclPlan plan = parsed(json);
    REQUIRE(plan.remarks.size() == 1);
    CHECK(contains(plan.remarks[0], "input_map"));
    CHECK(plan.chunks[0].pre == std::vector<plan::PlanNode>{0_n});
}

TEST_CASE("an algorithm of TACCL has times, lanes and latencies") {
    const ScclPlan plan = plan_in(kTaccl);
    CHECK(plan.clock == plan::SendClock::Times);
    CHECK(plan.nodes == 8);
    CHECK(plan.has_latencies);
    CHECK(plan.sends.size() == 80);
    CHECK(plan.sends.back().when == 3482);
    CHECK(plan.sends.back().replaces);
    // Inside a machine all pairs; between the two machines each GPU with its twin.
    CHECK(plan.links.size() == 2 * 12 + 8);
    const auto link = std::ranges::find_if(
        plan.links, [](const plan::ScclLink& each) { return each.src == 0_n && each.dst == 4_n; });
    REQUIRE(link != plan.links.end());
    CHECK(link->alpha == 26 * plan::kFinePerTime);
    CHECK(link->beta == 910 * plan::kFinePerTime);
    CHECK(plan.links[0] == plan::ScclLink{0_n, 1_n, 1, 0, 210 * plan::kFinePerTime});
}

TEST_CASE("sends of TACCL add only where they say so") {
    Json json = file(kTaccl);
    for (Json& step : json["steps"]) {
        for (Json& send : step["sends"]) send.push_back(nullptr);
    }
    json["steps"][0]["sends"][0][5] = "rrc";
    const ScclPlan plan = parsed(json);
    CHECK_FALSE(plan.sends[0].replaces);
    CHECK(plan.sends[1].replaces);
    json["steps"][0]["sends"][0][5] = "copy";
    CHECK(refused(json) == "bad-value at /steps/0/sends/0/5");
}

TEST_CASE("what cannot be an algorithm is refused with code and place") {
    const Json good = file(kRing);
    const auto without = [&](const char* key) {
        Json json = good;
        json.erase(key);
        return refused(json);
    };
    const auto with = [&](const char* pointer, const Json& value) {
        Json json = good;
        json[Json::json_pointer(pointer)] = value;
        return refused(json);
    };
    CHECK(without("msccl_type") == "missing-key at /");
    CHECK(without("steps") == "missing-key at /");
    CHECK(without("collective") == "missing-key at /");
    CHECK(with("/msccl_type", "topology") == "bad-value at /");
    CHECK(with("/collective/nodes", 0) == "bad-integer at /collective/nodes");
    CHECK(with("/collective/nodes", "4") == "bad-integer at /collective/nodes");
    CHECK(with("/collective/chunks/1/pre", {4}) == "bad-integer at /collective/chunks/1/pre/0");
    CHECK(with("/collective/chunks/1/addr", -1) == "bad-integer at /collective/chunks/1/addr");
    CHECK(with("/steps/1/rounds", 1.5) == "bad-integer at /steps/1/rounds");
    CHECK(with("/steps/0/sends/2", Json::array({1, 2})) == "bad-value at /steps/0/sends/2");
    CHECK(with("/steps/0/sends/2", Json::array({1, 2, -3})) == "bad-integer at /steps/0/sends/2/2");
    CHECK(with("/steps/0/sends/2", Json::array({1, 1, 2, 5})) == "bad-value at /steps/0/sends/2");
    CHECK(with("/topology/links", Json::array({1})) == "bad-value at /topology/links");
    CHECK(with("/instance/pipeline", 0) == "bad-integer at /instance/pipeline");
    CHECK(with("/input_map/x", Json::array()) == "bad-integer at /input_map/x");
    CHECK(refused(Json::array()) == "bad-value at /");
    Source source = Source::of_text("{\"msccl_type\": ", "x.json");
    CHECK_THROWS_WITH_AS((void)read_sccl_json(source), doctest::Contains("invalid JSON"), PlanError);
}

TEST_CASE("a small file cannot make the reader take much memory") {
    Json json = file(kRing);
    json["instance"]["chunks"] = 1'000'000'000;
    json.erase("input_map");
    json.erase("output_map");
    CHECK(refused(json) == "too-large at /instance/chunks");
    json = file(kRing);
    json["collective"]["nodes"] = 1'000'000'000;
    CHECK(refused(json) == "too-large at /");
    json = file(kTaccl);
    json["topology"]["copies"] = 1'000'000'000;
    CHECK(refused(json) == "bad-integer at /topology/copies");
    json["collective"]["nodes"] = 16384;
    json["topology"]["copies"] = 16384;
    json["topology"]["ngpus_per_node"] = 1;
    json["topology"]["node_links"] = {{1}};
    json["topology"]["node_invbws"] = {{1}};
    json["topology"]["internode_conn"] = {{"0", {0}}};
    CHECK(refused(json) == "too-large at /topology");
}

TEST_CASE("what is written in SCCL's dialect reads back") {
    for (const char* name : {kRing, "Allgather.n4-Line.n4-steps3.rounds5.pipeline2.msccl.json",
                             "ReduceScatter.n4-Ring.n4-steps2.msccl.json"}) {
        CAPTURE(name);
        const ScclPlan plan = plan_in(name);
        Source source = Source::of_text(sccl_json_text(plan), "written");
        CHECK(read_sccl_json(source) == plan);
    }
}

TEST_CASE("an algorithm is written whole, with all keys that msccl-tools asks for") {
    const Scratch scratch;
    write_sccl_json(scratch.path("a.json"), plan_in(kRing));
    Source source(scratch.path("a.json"));
    Json written = parse_json(source);
    const Json original = file(kRing);
    for (const auto& [key, value] : original.items()) {
        CAPTURE(key);
        REQUIRE(written.contains(key));
        if (!value.is_object()) continue;
        for (const auto& [inner, unused] : value.items()) CHECK(written[key].contains(inner));
    }
    CHECK(written["topology"]["links"] == original["topology"]["links"]);
    CHECK(written["steps"] == original["steps"]);
}

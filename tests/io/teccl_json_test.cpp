#include "io/teccl_json.hpp"

#include "io/json_text.hpp"
#include "io/text_scanner.hpp"
#include "plan/plan_error.hpp"
#include "scratch.hpp"
#include "tests/support/plan_ids.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;
using plan::EpochHop;
using plan::EpochSchedule;
using plan::kWholeVolume;
using plan::PlanError;

namespace {

EpochSchedule parsed(const Json& json) {
    Source source = Source::of_text(json_line(json), "x.json");
    return read_teccl_json(source);
}
std::string refused(const Json& json) {
    try {
        (void)parsed(json);
    } catch (const PlanError& error) {
        return error.code() + " at " + error.place();
    }
    return "accepted";
}
std::string refused_flow(const std::string& text) { return refused({{"7-Flows", {text}}}); }
EpochSchedule schedule_in(const std::string& name) {
    Source source(std::string(TUTTI_SOURCE_DIR) + "/tests/data/steps/" + name);
    return read_teccl_json(source);
}

}  // namespace

TEST_CASE("an all-gather of TE-CCL is read") {
    const EpochSchedule schedule = schedule_in("teccl-mesh4.json");
    CHECK(schedule.flows.size() == 240);
    CHECK(schedule.flows[0] == plan::EpochFlow{9_n, 0, {9_n, 5_n, 0, kWholeVolume, {}}});
    CHECK(schedule.demands.size() == 240);
    REQUIRE(schedule.all_gathered);
    CHECK(schedule.all_gathered->size() == 240);
    CHECK(schedule.epochs == 8);
    CHECK(schedule.epoch_duration == 1.0);
    const auto& demand = schedule.demands[1];
    CHECK(demand.node == 0_n);
    CHECK(demand.origin == 10_n);
    CHECK(demand.met == 4);
    REQUIRE(demand.paths.size() == 1);
    CHECK(demand.paths[0].size() == 4);
    CHECK(demand.paths[0][3] == EpochHop{4_n, 0_n, 4, kWholeVolume, {}});
}

TEST_CASE("an all-to-all of an older TE-CCL is read, with volumes and switches") {
    const EpochSchedule schedule = schedule_in("teccl-alltoall-excerpt.json");
    CHECK_FALSE(schedule.all_gathered);
    CHECK(schedule.has_paths);
    CHECK(schedule.flows[0].hop == EpochHop{8_n, 1_n, 0, kWholeVolume / 4, {}});
    const auto through = std::ranges::find_if(
        schedule.flows, [](const plan::EpochFlow& flow) { return !flow.hop.switches.empty(); });
    REQUIRE(through != schedule.flows.end());
    CHECK(through->hop == EpochHop{1_n, 9_n, 74, kWholeVolume / 4, {0_n}});
    CHECK(schedule.demands[0].paths.size() > 1);
}

TEST_CASE("switches may be separated by arrows or commas") {
    for (const char* list : {"3 -> 4", "3->4", "3,4", "3, 4"}) {
        CAPTURE(list);
        const auto schedule =
            parsed({{"7-Flows",
                     {std::string("Chunk 1 from 0 traveled over 0->2 in epoch 5 via switches ") + list}}});
        CHECK(schedule.flows[0].hop.switches == std::vector<plan::PlanNode>{3_n, 4_n});
    }
}

TEST_CASE("texts that are not in TE-CCL's format are refused") {
    CHECK(refused_flow("Chunk 1 from 0 traveled over 0->2 in epoch 5") == "accepted");
    for (const char* text :
         {"", "Chunk 1 from 0 traveled over 0->2 in epoch ", "Chunk 1 from 0 traveled over 0->2 in epoch 5 ",
          "chunk 1 from 0 traveled over 0->2 in epoch 5", "Chunk -1 from 0 traveled over 0->2 in epoch 5",
          "Chunk 1 from 0 traveled over 0-> 2 in epoch 5", "Chunk 1 from 0 traveled over 0->2 in epoch 5.0",
          "Chunk 1 from 0 traveled over 0->2 with volume in epoch 5",
          "Chunk 1 from 0 traveled over 0->2 with volume -1 in epoch 5",
          "Chunk 1 from 0 traveled over 0->2 with volume 1. in epoch 5",
          "Chunk 1 from 0 traveled over 0->2 with volume 12 in epoch 5",
          "Chunk 1 from 0 traveled over 0->2 in epoch 5 via switches",
          "Chunk 1 from 0 traveled over 0->2 in epoch 5 via switches 3,",
          "Chunk 1 from 0 traveled over 0->99999999999 in epoch 5",
          "Chunk 1 from 0 traveled over 0->2 in epoch 99999999999999"}) {
        CAPTURE(text);
        CHECK(refused_flow(text) == "bad-line at /7-Flows/0");
    }
    const Json flows = Json::array();
    CHECK(refused({{"7-Flows", flows}, {"8-Chunk paths", {{"Demand at 1", flows}}}}) ==
          "bad-line at /8-Chunk paths/Demand at 1");
    const char* demand = "Demand at 1 for chunk 0 from 2 met by epoch 3";
    CHECK(refused({{"7-Flows", flows}, {"8-Chunk paths", {{demand, flows}}}}) == "accepted");
    CHECK(refused({{"7-Flows", flows}, {"8-Chunk paths", {{demand, {"2->1"}}}}}) ==
          std::string("bad-line at /8-Chunk paths/") + demand + "/0");
    CHECK(refused(
              {{"7-Flows", flows}, {"8-Chunk paths", {{demand, {{Json::array({4, "2->1 in epoch 3"})}}}}}}) ==
          std::string("bad-value at /8-Chunk paths/") + demand + "/0/0");
    CHECK(refused({{"7-Flows", flows},
                   {"6-Demand_Met", {{"GPU x", Json::object({{"GPU 1", {{"Chunk 0", 1}}}})}}}}) ==
          "bad-line at /6-Demand_Met/GPU x");
    CHECK(refused({{"8-Chunk paths", Json::object()}}) == "missing-key at /");
    CHECK(refused(Json(3)) == "bad-value at /");
}

TEST_CASE("volumes are kept exactly to eighteen decimals") {
    const auto volume = [](std::string_view text) {
        TextScanner scanner(text);
        std::int64_t units = -1;
        CHECK(scanner.take_decimal(units));
        CHECK(scanner.at_end());
        return units;
    };
    CHECK(volume("1.0") == kWholeVolume);
    CHECK(volume("0.25") == kWholeVolume / 4);
    CHECK(volume("0.49999999999999994") == 499'999'999'999'999'940);
    CHECK(volume("1e-06") == 1'000'000'000'000);
    CHECK(volume("3.0000000000030003e-06") == 3'000'000'000'003);
    CHECK(volume("5e-324") == 0);
    CHECK(volume("000000000000000000000000000001") == kWholeVolume);
    CHECK(volume("9.0") == 9 * kWholeVolume);
    for (const char* text : {"9.1", "1e1", "10", ".5", "e5", "1e", "1e+", "1.e5", "1e999"}) {
        CAPTURE(text);
        TextScanner scanner(text);
        std::int64_t units = 0;
        CHECK_FALSE((scanner.take_decimal(units) && scanner.at_end()));
    }
}

#include "io/tacos_csv.hpp"

#include "plan/plan_error.hpp"
#include "scratch.hpp"
#include "tests/support/plan_ids.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;
using plan::PlanError;
using plan::TacosPlan;

namespace {

const std::string kHead =
    "NPUs Count,3\nLinks Count,2\nChunks Count,3\nChunk Size,1048576,B\n"
    "SrcID,DestID,Latency (ns),Bandwidth (GB/s),Chunks\n";

TacosPlan parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.csv");
    return read_tacos_csv(source);
}
std::string refused(const std::string& text) {
    try {
        (void)parsed(text);
    } catch (const PlanError& error) {
        CHECK(error.file() == "x.csv");
        return error.code() + " at " + error.place();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("what TACOS wrote is read as queues of links") {
    Source source(std::string(TUTTI_SOURCE_DIR) + "/tests/data/steps/tacos-mesh3x3.csv");
    const TacosPlan plan = read_tacos_csv(source);
    CHECK(plan.nodes == 9);
    CHECK(plan.chunks == 9);
    CHECK(plan.links.size() == 24);
    std::size_t sends = 0;
    for (const plan::TacosLink& link : plan.links) sends += link.queue.size();
    CHECK(sends == 81);
    // 500 ns, and 2^20 bytes at 50 * 2^30 bytes per second.
    CHECK(plan.links[0].src == 0_n);
    CHECK(plan.links[0].dst == 1_n);
    CHECK(plan.links[0].alpha == 500'000);
    CHECK(plan.links[0].beta == 19'531'250);
    REQUIRE(plan.links[0].queue.size() == 3);
    CHECK(plan.links[0].queue[2] == 6);
}

TEST_CASE("links may be idle, numbers may have decimals, lines may end in CR") {
    const TacosPlan plan = parsed(kHead + "0,1,0.5,12.5,None\r\n1,2,1e3,1000000,2,0\r\n\n");
    REQUIRE(plan.links.size() == 2);
    CHECK(plan.links[0].alpha == 500);
    CHECK(plan.links[0].beta == 78'125'000);
    CHECK(plan.links[1].alpha == 1'000'000);
    CHECK(plan.links[0].queue.empty());
    CHECK(plan.links[1].queue == std::vector<std::int64_t>{2, 0});
}

TEST_CASE("lines that TACOS does not write are refused by number") {
    const std::string links = "0,1,1,1,0\n1,2,1,1,1\n";
    CHECK(refused(kHead + links) == "accepted");
    CHECK(refused("") == "bad-line at line 0");
    CHECK(refused("NPUs Count,x\n") == "bad-line at line 1");
    CHECK(refused("NPUs Count,0\n") == "bad-integer at line 1");
    CHECK(refused("NPUs Count,99999999\n") == "too-large at line 1");
    CHECK(refused("NPUs Count,3\nLinks Count,2\nChunks Count,3\nChunk Size,5\n") == "bad-line at line 4");
    CHECK(refused(kHead) == "bad-value at line 5");
    CHECK(refused(kHead + "0,1,1,1,0\n") == "bad-value at line 6");
    for (const char* line : {"0", "0,1,1,1", "0,1,1,1,", "0,1,1,1,0,", "0,1,1,1,none", "0,1,x,1,0",
                             "0,1,1,-1,0", "0,1,-1,1,0", "0,1,nan,1,0", "a,1,1,1,0", "0,1,1,1,0 "}) {
        CAPTURE(line);
        CHECK(refused(kHead + line + "\n").starts_with("bad-"));
    }
    CHECK(refused(kHead + "0,3,1,1,0\n") == "bad-integer at line 6");
    CHECK(refused(kHead + "0,1,1,1,3\n") == "bad-integer at line 6");
    CHECK(refused(kHead + "1,1,1,1,0\n") == "bad-value at line 6");
    CHECK(refused(kHead + "0,1,1,0,0\n") == "bad-value at line 6");
    CHECK(refused(kHead + "0,1,1,1e300,0\n") == "bad-value at line 6");
    CHECK(refused(kHead + "0,1,1e14,1,0\n") == "bad-value at line 6");
}

TEST_CASE("the variant with a time for each chunk is named as such") {
    std::string head = kHead;
    head.replace(head.find("Chunks\n"), 7, "Chunks (ID:ps)\n");
    try {
        (void)parsed(head + "0,1,0,1000,0:976562:0\n");
        FAIL("expected a refusal");
    } catch (const PlanError& error) {
        CHECK(error.code() == "bad-line");
        CHECK(contains(error.message(), "with a time for each chunk"));
    }
}

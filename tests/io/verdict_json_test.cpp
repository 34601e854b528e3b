#include "io/verdict_json.hpp"

#include "io/bound_json.hpp"
#include "io/json_text.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::io;

TEST_CASE("a valid verdict has the contract's keys") {
    Verdict verdict;
    verdict.makespan = Ticks(12);
    verdict.sends = 3;
    CHECK(
        json_line(verdict_json("s.json", verdict)) ==
        R"({"file":"s.json","verdict":"valid","violations":[],"violation_count":0,"makespan":12,"sends":3})");
    const Json bounded = verdict_json("s.json", verdict, Ticks(10));
    CHECK(bounded["lower_bound"] == 10);
    CHECK(bounded["gap"].get<double>() == doctest::Approx(0.2));
    CHECK(verdict_json("s.json", verdict, Ticks(0))["gap"].is_null());
}

TEST_CASE("a violation has code, rule and message, and of its place what is known") {
    Violation overlap{Rule::LinkOverlap, "link 3 carries two", {4, 9}, Ticks(7),
                      LinkId(3),         ChunkId(2),           {},     "ag",
                      "corners"};
    CHECK(
        json_line(violation_json(overlap)) ==
        R"({"code":"link_overlap","rule":"V5","message":"link 3 carries two","sends":[4,9],"tick":7,"link":3,"chunk":2,"collective":"ag","group":"corners"})");
    Violation makespan;
    makespan.rule = Rule::MakespanMismatch;
    makespan.message = "12 is stated";
    CHECK(json_line(violation_json(makespan)) ==
          R"({"code":"makespan_mismatch","rule":"V17","message":"12 is stated"})");

    Verdict verdict;
    verdict.violations = {overlap, makespan};
    verdict.violation_count = 40;
    const Json json = verdict_json("-", verdict);
    CHECK(json["verdict"] == "invalid");
    CHECK(json["violations"].size() == 2);
    CHECK(json["violation_count"] == 40);
}

TEST_CASE("a file that cannot be read is malformed, with the reason and the place") {
    const Json json =
        malformed_json("s.json", InputError("expected an integer, found null", "/makespan", "s.json"));
    CHECK(json["verdict"] == "malformed");
    CHECK(json["violations"].empty());
    CHECK(json["error"]["message"] == "expected an integer, found null");
    CHECK(json["error"]["place"] == "/makespan");
}

TEST_CASE("a bound is written with its certificate") {
    const PathCertificate path{
        ChunkId(1), NodeId(2), NodeId(0), {LinkId(4), LinkId(0)}, {Ticks(9), Ticks::max(), Ticks(2)},
        Ticks(2)};
    CHECK(
        json_line(bound_json({"latency", Ticks(9), path}, 0.5)) ==
        R"({"kind":"latency","value":9,"seconds":0.5,"certificate":{"type":"path","chunk":1,"holder":2,"receiver":0,"links":[4,0],"release":2,"potential":[9,null,2]}})");
    const CutCertificate egress{{NodeId(3)}, true, true, 7, Ticks(1), Bytes{8}};
    CHECK(
        json_line(bound_json({"egress", Ticks(9), egress})) ==
        R"({"kind":"egress","value":9,"certificate":{"type":"cut","outside":[3],"backwards":true,"transfers":7,"earliest":1,"bytes":8}})");
    const CutCertificate cut{{NodeId(0), NodeId(2)}, false, false, 7, Ticks(1), Bytes{8}};
    CHECK(
        json_line(bound_json({"cut", Ticks(9), cut})) ==
        R"({"kind":"cut","value":9,"certificate":{"type":"cut","inside":[0,2],"backwards":false,"transfers":7,"earliest":1,"bytes":8}})");
    CHECK(json_line(bound_json({"flow", Ticks(9), LengthsCertificate{{0, 3}}})) ==
          R"({"kind":"flow","value":9,"certificate":{"type":"lengths","length":[0,3]}})");
    const TimedLengthsCertificate timed{Ticks(8), {{LinkId(1), Ticks(3), 5}}, NodeId(2), false};
    CHECK(
        json_line(bound_json({"time-expanded", Ticks(9), timed})) ==
        R"({"kind":"time-expanded","value":9,"certificate":{"type":"timed_lengths","horizon":8,"target":2,"weights":[{"link":1,"window":3,"weight":5}]}})");
    const TimedLengthsCertificate messages{Ticks(8), {{LinkId(1), Ticks(3), 5}}, {}, true};
    CHECK(
        json_line(bound_json({"time-expanded", Ticks(9), messages})) ==
        R"({"kind":"time-expanded","value":9,"certificate":{"type":"timed_lengths","horizon":8,"messages":true,"weights":[{"link":1,"window":3,"weight":5}]}})");
    CHECK(
        json_line(
            bound_json({"solver", Ticks(9), SolverProof{"S 1.0", "seed 1", "time-indexed", Ticks(8)}})) ==
        R"({"kind":"solver","value":9,"certificate":{"type":"solver","solver":"S 1.0","parameters":"seed 1","encoding":"time-indexed","horizon":8}})");
    CHECK(json_line(bound_json({"volume", Ticks(9), VolumeCertificate{70, Bytes{8}}})) ==
          R"({"kind":"volume","value":9,"certificate":{"type":"volume","transfers":70,"bytes":8}})");
    CHECK(json_line(bound_json({"trees", Ticks(9), TreesCertificate{{0, 3}}})) ==
          R"({"kind":"trees","value":9,"certificate":{"type":"trees","length":[0,3]}})");
    const WaveCertificate wave{{NodeId(0), NodeId(2)}, true, Ticks(4), Bytes{8}};
    CHECK(
        json_line(bound_json({"wave", Ticks(9), wave})) ==
        R"({"kind":"wave","value":9,"certificate":{"type":"wave","inside":[0,2],"backwards":true,"split":4,"bytes":8}})");
    const GrowthCertificate growth{NodeId(2), {0, 0, 1}, false, true, false, Bytes{8}};
    CHECK(
        json_line(bound_json({"growth", Ticks(9), growth})) ==
        R"({"kind":"growth","value":9,"certificate":{"type":"growth","root":2,"part":[0,0,1],"backwards":false,"nested":true,"last_chunk":false,"bytes":8}})");
    const GrowthCertificate shared{NodeId(2), {0, 0, 1}, false, true, false, Bytes{8}, {{1, 0, 2}}, Ticks(3)};
    CHECK(
        json_line(bound_json({"growth", Ticks(9), shared})) ==
        R"({"kind":"growth","value":9,"certificate":{"type":"growth","root":2,"part":[0,0,1],"backwards":false,"nested":true,"last_chunk":false,"bytes":8,"prices":[[1,0,2]],"unit":3}})");
    CHECK(json_line(bound_json({"sum", Ticks(9), SumCertificate{Bytes{8}}})) ==
          R"({"kind":"sum","value":9,"certificate":{"type":"sum","bytes":8}})");
    CHECK(json_line(bound_json({"exits", Ticks(9), ExitsCertificate{{0, 1}, ChunkId(2)}})) ==
          R"({"kind":"exits","value":9,"certificate":{"type":"exits","part":[0,1],"chunk":2}})");
    CHECK(
        json_line(bound_json({"deadlines", Ticks(9), DeadlinesCertificate{true, Ticks(4), Bytes{8}}})) ==
        R"({"kind":"deadlines","value":9,"certificate":{"type":"deadlines","backwards":true,"window":4,"bytes":8}})");
    CHECK(
        json_line(bound_json({"pairs", Ticks(9), PairsCertificate{{NodeId(1)}, true, Bytes{8}}})) ==
        R"({"kind":"pairs","value":9,"certificate":{"type":"pairs","inside":[1],"reductions":true,"bytes":8}})");
    CHECK(
        json_line(bound_json({"contributions", Ticks(9), ContributionsCertificate{NodeId(1), Bytes{8}}})) ==
        R"({"kind":"contributions","value":9,"certificate":{"type":"contributions","receiver":1,"bytes":8}})");
    CHECK(
        json_line(
            bound_json({"contributions", Ticks(9), SharedContributionsCertificate{Ticks(4), Bytes{8}}})) ==
        R"({"kind":"contributions","value":9,"certificate":{"type":"shared-contributions","split":4,"bytes":8}})");
    CHECK(bound_json({"trivial", Ticks(0), {}})["certificate"].is_null());
}

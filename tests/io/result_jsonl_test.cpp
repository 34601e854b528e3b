#include "io/result_jsonl.hpp"

#include "scratch.hpp"

#include <limits>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

ResultLine full() {
    ResultLine result;
    result.instance = "torus4x4-ag";
    result.method = "greedy";
    result.status = Status::Feasible;
    result.makespan = Ticks(12);
    result.lower_bound = Ticks(10);
    result.bound_kind = "ingress";
    result.seconds = 0.25;
    result.peak_memory_bytes = 1 << 20;
    result.sends = 240;
    result.verified = true;
    result.seed = std::numeric_limits<std::uint64_t>::max();
    result.schedule = "out/torus.json";
    result.file = "instances/torus/torus4x4-ag.json";
    result.stopped = true;
    result.solver_versions = {{"highs", "1.15.1"}, {"z3", "5.4"}};
    result.heuristic = "steiner-trees + link-matching";
    result.candidates = {{"steiner-trees", "reduction", Ticks(6), {}, 0.125, 120},
                         {"link-matching", {}, {}, "stopped", 0.5, 0}};
    result.options = {{"exact-share", 0.5}, {"tries", 8}};
    return result;
}

ResultLine failed() {
    ResultLine result;
    result.instance = "broken";
    result.error = "broken.json: at /tutti: two\nlines";
    return result;
}

}  // namespace

TEST_CASE("a result has the contract's keys in their order, and reads back") {
    const Json json = result_json(full());
    std::vector<std::string> keys;
    for (const auto& [key, value] : json.items()) keys.push_back(key);
    CHECK(keys == std::vector<std::string>{"instance",          "method",     "status",   "makespan",
                                           "lower_bound",       "bound_kind", "gap",      "seconds",
                                           "peak_memory_bytes", "sends",      "verified", "seed",
                                           "schedule",          "file",       "stopped",  "proof",
                                           "heuristic",         "candidates", "skipped",  "options",
                                           "solver_versions"});
    CHECK(json["gap"].get<double>() == doctest::Approx(0.2));
    CHECK(json["status"] == "feasible");
    CHECK(parse_result(json) == full());
}

TEST_CASE("a result has its instance in numbers where that was read, and what became of each collective") {
    CHECK_FALSE(result_json(full()).contains("bytes"));
    ResultLine result = full();
    result.nodes = result.npus = 8;
    result.units = "physical";
    result.collective = "mixed";
    result.asked_bytes = result.bytes = 1024;
    result.algbw_GBps = 1.5;
    result.collectives = {
        {"ag[0]", CollectiveKind::AllGather, "tp[0]", 4, Ticks(0), Ticks(12), 1024, 2.5, 1.875},
        {"odd", CollectiveKind::Custom, "all", 8, Ticks(3), Ticks(0), {}, {}, {}}};
    const Json json = result_json(result);
    CHECK(json["bytes"] == 1024);
    CHECK(json["asked_bytes"] == 1024);
    CHECK(json["asked_chunks"].is_null());
    CHECK(json["algbw_GBps"] == 1.5);
    CHECK(json["busbw_GBps"].is_null());
    CHECK_FALSE(json.contains("key"));
    CHECK_FALSE(json.contains("finished"));
    CHECK(
        json["collectives"][0].dump() ==
        R"({"id":"ag[0]","kind":"all_gather","group":"tp[0]","ranks":4,"release":0,"finish":12,"bytes":1024,"algbw_GBps":2.5,"busbw_GBps":1.875})");
    CHECK(json["collectives"][1]["busbw_GBps"].is_null());
    CHECK(parse_result(json) == result);
    result.collectives.clear();
    CHECK(result_json(result)["collectives"].is_null());
}

TEST_CASE("a failed result has nulls, an error, and reads back") {
    const Json json = result_json(failed());
    CHECK(json["makespan"].is_null());
    CHECK(json["gap"].is_null());
    CHECK(json["schedule"].is_null());
    CHECK(json["status"] == "unknown");
    CHECK(parse_result(json) == failed());
}

TEST_CASE("a result with unknown fields is read, one without a name is refused") {
    Json json = result_json(full());
    json["colour"] = "red";
    CHECK(parse_result(json) == full());
    json["status"] = "feasable";
    CHECK(contains(refusal([&] { (void)parse_result(json); }).what(), "did you mean 'feasible'?"));
    json.erase("instance");
    CHECK(contains(refusal([&] { (void)parse_result(json); }).what(), "expected a field 'instance'"));
}

TEST_CASE("a journal grows line by line, each there at once") {
    const Scratch scratch;
    const std::string path = scratch.path("results.jsonl");
    {
        ResultJournal journal(path);
        CHECK(read_results(path).empty());
        journal.append(full());
        CHECK(read_results(path).size() == 1);
        journal.append(failed());
        CHECK(read_results(path).size() == 2);
    }
    ResultJournal journal(path);
    journal.append(full());
    CHECK(read_results(path) == std::vector{full(), failed(), full()});
    const std::string text = content_of(path);
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("an incomplete last line of a killed run is ignored, and removed by the next run") {
    const Scratch scratch;
    const std::string line = result_json(full()).dump();
    const std::string path = scratch.file("results.jsonl", line + "\n" + line.substr(0, 50));
    CHECK(read_results(path).size() == 1);
    ResultJournal(path).append(failed());
    CHECK(read_results(path) == std::vector{full(), failed()});
}

TEST_CASE("a whole line without its end is kept") {
    const Scratch scratch;
    const std::string path = scratch.file("results.jsonl", result_json(full()).dump());
    CHECK(read_results(path).size() == 1);
    ResultJournal(path).append(failed());
    CHECK(read_results(path) == std::vector{full(), failed()});
}

TEST_CASE("a damaged line in the middle is an error, unless the caller counts such lines") {
    const Scratch scratch;
    const std::string line = result_json(full()).dump();
    const std::string path = scratch.file("results.jsonl", line + "\nfailed: x\n" + line + "\n");
    CHECK(contains(refusal([&] { (void)read_results(path); }).place(), "line 2"));
    std::size_t damaged = 0;
    CHECK(read_results(path, &damaged).size() == 2);
    CHECK(damaged == 1);
}

TEST_CASE("a journal that cannot be written is named") {
    const Scratch scratch;
    CHECK(refusal([&] { ResultJournal journal(scratch.path("none/r.jsonl")); }).file() ==
          scratch.path("none/r.jsonl"));
}

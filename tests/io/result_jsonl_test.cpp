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
    CHECK(keys == std::vector<std::string>{"instance", "method", "status", "makespan", "lower_bound",
                                           "bound_kind", "gap", "seconds", "peak_memory_bytes", "sends",
                                           "verified", "seed", "schedule", "file", "stopped", "proof",
                                           "solver_versions"});
    CHECK(json["gap"].get<double>() == doctest::Approx(0.2));
    CHECK(json["status"] == "feasible");
    CHECK(parse_result(json) == full());
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

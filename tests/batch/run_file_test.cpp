#include "batch/run_file.hpp"

#include "app/solve.hpp"
#include "batch/variant_instance.hpp"
#include "core/error.hpp"
#include "tests/batch/scratch.hpp"
#include "text/format.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <set>

namespace fs = std::filesystem;
using namespace tutti;
using namespace tutti::batch;

namespace {

std::string physical(const std::string& collectives) {
    return R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4, "latency_ns": 0, "bandwidth_GBps": 1}},
               "collectives": [)" +
           collectives + "]}";
}

Task task_of(const std::string& path, std::optional<std::uint64_t> chunks, std::optional<Bytes> bytes) {
    Task task;
    task.job = {path, "x", "a", {}};
    task.variant.chunks = chunks;
    task.variant.bytes = bytes;
    task.stem = "schedules/x/a";
    return task;
}

}  // namespace

TEST_CASE("a pattern survives writing to a run file and reading, wherever it was given") {
    const test::ScratchTree scratch;
    scratch.put("a[1]/inst/ring.json");
    scratch.put("b/other.json");
    const auto back = fs::current_path();
    fs::current_path(scratch.at("a[1]"));
    RunFile run;
    run.instances = {"inst/r*.json", "{" + scratch.at("b") + ",inst}/o*.json"};
    run.tasks = 2;
    fs::create_directories("../out");
    write_run_file("../out/run.json", run);
    fs::current_path(back);
    const RunFile read = read_run_file(scratch.at("out/run.json"));
    CHECK(read.tasks == 2);
    REQUIRE(read.instances.size() == 3);
    CHECK(expand({read.instances[0]}).at(0).name == "ring");
    CHECK(expand({read.instances[1]}).at(0).name == "other");
}

TEST_CASE("a part of a run is written as a number and a count") {
    CHECK(shard_in("3/8") == Shard{3, 8});
    for (const char* bad : {"", "3", "/8", "3/", "a/8", "9/8", "1/0", "1/8x", "-1/8"})
        CHECK_FALSE(shard_in(bad));
}

TEST_CASE("a run survives writing and reading, with relative paths relative to its file") {
    const test::ScratchTree scratch;
    scratch.put("inst/ring/a.json");
    scratch.put("out/x.json");
    RunFile run;
    run.instances = {fs::proximate(scratch.at("inst")).string(), scratch.at("inst/*/r*.json")};
    run.set = scratch.at("sets/s.test");
    run.matrix = {{"greedy", "auto"}, {1, 2}, {{1024}}, {1, 18446744073709551615U}, 3, {"symmetry"}, {}};
    run.matrix.options.small_gap = 0.125;
    run.jobs = 4;
    run.limits = {2.5, 1 << 30};
    run.shard = Shard{1, 8};
    write_run_file(scratch.at("out/run.json"), run);
    const std::string text = scratch.get("out/run.json");
    CHECK(text.find(R"("../inst")") != std::string::npos);
    CHECK(text.find("\"from\": \"" + fs::current_path().lexically_proximate(scratch.at("out")).string()) !=
          std::string::npos);
    CHECK(text.find('"' + scratch.at("inst/*/r*.json") + '"') != std::string::npos);
    const RunFile read = read_run_file(scratch.at("out/run.json"));
    CHECK(differences(run, read).empty());
    CHECK(read.matrix == run.matrix);
    CHECK(read.jobs == run.jobs);
    RunFile other = run;
    other.limits.time = 3;
    CHECK(differences(run, other) == std::vector<std::string>{"time_limit is 3.0, was 2.5"});
    other = run;
    other.matrix.options = {};
    CHECK(differences(run, other) ==
          std::vector<std::string>{R"(options is not given, was {"small-gap":0.125})"});
}

TEST_CASE("a wrong run file is refused at its place") {
    const test::ScratchTree scratch;
    scratch.put("run.json", R"({"methods": ["greedy", "cpsatt"]})");
    try {
        (void)read_run_file(scratch.at("run.json"));
        FAIL("it was read");
    } catch (const InputError& error) {
        CHECK(error.file() == scratch.at("run.json"));
        CHECK(error.place() == "/methods/1");
    }
}

TEST_CASE("search options of a run file are checked by name and range, and heuristics by name") {
    const test::ScratchTree scratch;
    const auto place_of = [&](const std::string& text) -> std::string {
        scratch.put("run.json", text);
        try {
            (void)read_run_file(scratch.at("run.json"));
        } catch (const InputError& error) {
            return error.place();
        }
        return "none";
    };
    CHECK(place_of(R"({"options": {"tries": 8, "exact-share": 0.5}, "heuristics": "symmetry"})") == "none");
    CHECK(place_of(R"({"options": {"tries": 0}})") == "/options/tries");
    CHECK(place_of(R"({"options": {"tries": "8"}})") == "/options/tries");
    CHECK(place_of(R"({"options": {"tris": 8}})") == "/options");
    CHECK(place_of(R"({"heuristics": ["symmetri"]})") == "/heuristics/0");
}

TEST_CASE("chunks of a run take the place of the instance's") {
    const test::ScratchTree scratch;
    const std::string file = scratch.put("a.json", physical(R"({"kind": "all_gather", "chunk_bytes": 10})"));
    CHECK(instance_of(task_of(file, {}, {})).chunks() == 4);
    CHECK(instance_of(task_of(file, 3, {})).chunks() == 12);
    scratch.put("a.json", physical(R"({"kind": "all_gather", "chunk_bytes": 10},
        {"kind": "custom", "chunk_bytes": 10, "demands": [{"holders": [0], "receivers": [1]}]})"));
    CHECK_THROWS_WITH_AS((void)instance_of(task_of(file, 3, {})),
                         doctest::Contains("/collectives/1: custom has no 'chunks'"), InputError);
}

TEST_CASE("the size of a call is that of the larger buffer, as nccl-tests has it") {
    const test::ScratchTree scratch;
    const auto chunk_bytes = [&](const std::string& collective, std::optional<std::uint64_t> chunks) {
        const std::string file = scratch.put("a.json", physical(collective));
        const Instance instance = instance_of(task_of(file, chunks, Bytes{1000}));
        return instance.collectives().front().chunk_bytes.count;
    };
    CHECK(chunk_bytes(R"({"kind": "all_gather"})", {}) == 250);
    CHECK(chunk_bytes(R"({"kind": "all_gather"})", 3) == 84);
    CHECK(chunk_bytes(R"({"kind": "all_reduce"})", 2) == 125);
    CHECK(chunk_bytes(R"({"kind": "all_to_all"})", {}) == 250);
    CHECK(chunk_bytes(R"({"kind": "broadcast"})", 4) == 250);
    CHECK(chunk_bytes(R"({"kind": "reduce"})", {}) == 1000);
    CHECK(chunk_bytes(R"({"kind": "gather"})", 2) == 125);
    CHECK(chunk_bytes(R"({"kind": "all_to_next"})", 2) == 500);
    CHECK(
        chunk_bytes(
            R"({"kind": "all_to_all_v", "counts": [[0, 1, 1, 1], [2, 0, 0, 0], [5, 0, 0, 0], [1, 0, 0, 0]]})",
            {}) == 125);
    CHECK_THROWS_WITH_AS(
        (void)chunk_bytes(R"({"kind": "custom", "demands": [{"holders": [0], "receivers": [1]}]})", {}),
        doctest::Contains("no call"), InputError);
    const std::string abstract = scratch.put(
        "b.json",
        R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4}}, "collectives": [{"kind": "all_gather"}]})");
    CHECK_THROWS_WITH_AS((void)instance_of(task_of(abstract, {}, Bytes{1000})),
                         doctest::Contains("abstract units"), InputError);
}

TEST_CASE("a line has the instance in numbers, and both bandwidths") {
    const test::ScratchTree scratch;
    const std::string file = scratch.put("a.json", physical(R"({"kind": "all_gather"})"));
    const io::ResultLine line = app::solve(task_of(file, {}, Bytes{1000}), scratch.at("out"), {});
    CHECK(line.error == "");
    CHECK(line.collective == "all_gather");
    CHECK(line.npus == 4);
    CHECK(line.links == 8);
    CHECK(line.ranks == 4);
    CHECK(line.groups == 1);
    CHECK(line.chunks == 4);
    CHECK(line.units == "physical");
    CHECK(line.bytes == 1000);
    // Two links bring three chunks of 250 bytes to each at 1 GB/s: two of them one after the other.
    CHECK(line.makespan == Ticks(500'000));
    CHECK(line.algbw_GBps.value_or(0) == doctest::Approx(2));
    CHECK(line.busbw_GBps.value_or(0) == doctest::Approx(1.5));
    CHECK(line.digest.size() == 16);
    CHECK(line.finished.size() == 20);
    CHECK_FALSE(line.host.empty());
}

TEST_CASE("a path that is no regular file fails at once") {
    const test::ScratchTree scratch;
    scratch.put("x/folder.json/a.txt");
    REQUIRE(::mkfifo(scratch.at("x/pipe.json").c_str(), 0600) == 0);
    std::filesystem::create_symlink("nowhere", scratch.at("x/dangling.json"));
    std::filesystem::create_symlink("cycle.json", scratch.at("x/cycle.json"));
    const auto error_of = [&](const char* name) {
        const io::ResultLine line = app::solve(task_of(scratch.at(name), {}, {}), scratch.at("out"), {});
        CHECK(line.failure == io::Failure::Input);
        CHECK(line.digest.empty());
        return line.error;
    };
    CHECK(error_of("x/pipe.json").find("found a pipe") != std::string::npos);
    CHECK(error_of("x/folder.json").find("found a folder") != std::string::npos);
    CHECK(error_of("x/dangling.json").find("No such file") != std::string::npos);
    CHECK(error_of("x/cycle.json").find("symbolic links") != std::string::npos);
}

TEST_CASE("a digest changes with the file") {
    const test::ScratchTree scratch;
    const std::string file = scratch.put("a", "");
    CHECK(digest_of(file) == "cbf29ce484222325");
    scratch.put("a", "a");
    CHECK(digest_of(file) == "af63dc4c8601ec8c");
}

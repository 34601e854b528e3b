#include "batch/batch.hpp"

#include "batch/summary.hpp"
#include "core/error.hpp"
#include "io/instance_json.hpp"
#include "io/schedule_stream.hpp"
#include "tests/batch/scratch.hpp"
#include "verify/schedule_verifier.hpp"

using namespace tutti;
using namespace tutti::batch;

namespace {

constexpr const char* kRing =
    R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4}}, "collectives": [{"kind": "all_gather"}]})";
constexpr const char* kCut =
    R"({"tutti": 1, "topology": {"npus": 2, "links": [{"src": 0, "dst": 1}]}, "collectives": [{"kind": "all_gather"}]})";

Outcome run_in(const test::ScratchTree& scratch, Settings settings = {}) {
    settings.results = scratch.at("out");
    return run(expand({scratch.at("all")}), settings, {});
}

}  // namespace

TEST_CASE("a batch writes a line, a verified schedule and a row for each instance") {
    const test::ScratchTree scratch;
    const std::string ring = scratch.put("all/ring/a.json", kRing);
    scratch.put("all/ring/b.json", kRing);
    const Outcome outcome = run_in(scratch);
    CHECK(outcome.complete());
    CHECK(outcome.failures() == 0);
    REQUIRE(outcome.rows.size() == 2);
    CHECK(outcome.rows[0].job.label() == "ring/a");
    CHECK(outcome.rows[0].line.status == Status::Optimal);

    const auto lines = io::read_results(scratch.at("out/results.jsonl"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == outcome.rows[0].line);
    CHECK(lines[0].schedule == scratch.at("out/schedules/ring/a.schedule.json"));
    CHECK(verify::verify(io::read_instance(ring), io::read_schedule(lines[0].schedule)).valid());
    CHECK(scratch.get("out/table.txt") == table_text(outcome));
}

TEST_CASE("an instance that fails is a row with its error, and the others are solved all the same") {
    const test::ScratchTree scratch;
    scratch.put("all/x/broken.json", "{");
    scratch.put("all/x/cut.json", kCut);
    scratch.put("all/x/ring.json", kRing);
    const Outcome outcome = run_in(scratch);
    CHECK(outcome.failures() == 2);
    REQUIRE(outcome.rows.size() == 3);
    CHECK(outcome.rows[0].line.instance == "broken");
    CHECK(outcome.rows[0].line.status == Status::Unknown);
    CHECK(outcome.rows[1].line.status == Status::Infeasible);
    CHECK(outcome.rows[1].line.error.find("NPU 1") != std::string::npos);
    CHECK(outcome.rows[2].line.verified);
    CHECK(outcome_json(outcome)["failed"] == 2);
}

TEST_CASE("several jobs at a time give the same rows in the same order") {
    const test::ScratchTree scratch;
    for (int i = 0; i < 20; ++i)
        scratch.put("all/x/" + std::to_string(i) + ".json", i % 7 == 3 ? kCut : kRing);
    Outcome one = run_in(scratch), four = run_in(scratch, {.jobs = 4});
    REQUIRE(four.rows.size() == one.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
        for (Row* row : {&one.rows[i], &four.rows[i]}) {
            row->line.seconds = 0;
            row->line.peak_memory_bytes.reset();
        }
        CHECK(one.rows[i].line == four.rows[i].line);
        CHECK(one.rows[i].job == four.rows[i].job);
    }
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 20);
}

TEST_CASE("an interrupted batch leaves out what it did not do, and says so") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    const std::atomic<bool> interrupted = true;
    const Outcome outcome = run_in(scratch, {.interrupted = &interrupted});
    CHECK_FALSE(outcome.complete());
    CHECK(outcome.rows.empty());
    CHECK(outcome.failures() == 0);
    CHECK(scratch.get("out/table.txt").find("interrupted, 1 left out") != std::string::npos);
    CHECK(scratch.get("out/results.jsonl").empty());
}

TEST_CASE("a run into the folder of an earlier one replaces its lines and deletes nothing") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("out/mine.txt", "keep");
    scratch.put("out/results.jsonl", "old\n");
    (void)run_in(scratch);
    CHECK(scratch.get("out/mine.txt") == "keep");
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 1);
}

TEST_CASE("a result that beats a proven optimum fails its row") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("all/x/x.solu", "=opt= ring 3\n");
    const Outcome outcome = run_in(scratch, {.update_solu = true});
    CHECK(outcome.failures() == 1);
    CHECK(outcome.rows[0].line.error.find("better than the proven optimum") == 0);
    CHECK(scratch.get("all/x/x.solu") == "=opt= ring 3\n");
}

TEST_CASE("an instance known as infeasible does not fail for being so") {
    const test::ScratchTree scratch;
    scratch.put("all/x/cut.json", kCut);
    scratch.put("all/x.solu", "=inf= cut\n");
    const Outcome outcome = run_in(scratch);
    CHECK(outcome.failures() == 0);
    CHECK(outcome.rows[0].line.status == Status::Infeasible);
}

TEST_CASE("proven values go into the .solu file when asked for, and only then") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    (void)run_in(scratch);
    CHECK_FALSE(std::filesystem::exists(scratch.at("all/x/x.solu")));
    (void)run_in(scratch, {.update_solu = true});
    CHECK(scratch.get("all/x/x.solu") == "=opt= ring 2\n");
}

TEST_CASE("a results folder that cannot be made is the user's to mend") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("file");
    Settings settings;
    settings.results = scratch.at("file/out");
    CHECK_THROWS_AS((void)run(expand({scratch.at("all")}), settings, {}), InputError);
}

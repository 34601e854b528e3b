// What becomes of the lines that a batch leaves: shown, compared, merged, as CSV.

#include "batch/compare.hpp"
#include "batch/merge.hpp"
#include "batch/results_csv.hpp"
#include "batch/results_folder.hpp"
#include "io/json_text.hpp"
#include "tests/batch/scratch.hpp"
#include "text/format.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::batch;
using io::ResultLine;
using test::contains;

namespace {

ResultLine line_of(const std::string& label, std::int64_t makespan, std::int64_t bound) {
    ResultLine line;
    line.instance = line.label = line.key = label;
    line.digest = "d-" + label;
    line.method = line.asked = "greedy";
    line.makespan = Ticks(makespan);
    line.lower_bound = Ticks(bound);
    line.status = makespan == bound ? Status::Optimal : Status::Feasible;
    line.verified = true;
    line.seconds = 1;
    line.units = "abstract";
    line.finished = "2026-01-01T00:00:00Z";
    return line;
}

ResultLine failed_line(const std::string& label, io::Failure failure = io::Failure::Time) {
    ResultLine line = line_of(label, 1, 1);
    line.makespan = line.lower_bound = std::nullopt;
    line.status = Status::Unknown;
    line.verified = false;
    line.failure = failure;
    line.error = "it took more than 2 s";
    return line;
}

std::string journal(const std::vector<ResultLine>& lines) {
    std::string text;
    for (const ResultLine& line : lines) text += io::json_line(io::result_json(line)) + "\n";
    return text;
}

Run run_of(std::vector<ResultLine> lines, const std::string& name = "run") {
    return {name, name, std::move(lines)};
}

std::string text_of(const std::vector<text::TonedLine>& lines) {
    std::string text;
    for (const text::TonedLine& line : lines) text += line.text.str() + "\n";
    return text;
}

std::vector<std::string> labels(const std::vector<ShownRow>& rows) {
    std::vector<std::string> names;
    for (const ShownRow& row : rows) names.push_back(row.line->label);
    return names;
}

/// The one change between two lines.
Change change_of(const ResultLine& before, const ResultLine& after, const Comparing& how = {}) {
    const Run a = run_of({before}), b = run_of({after});
    return compare(a, b, how).rows.front().change;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("numbers in names count as numbers") {
    CHECK(text::natural_before("mesh4", "mesh16"));
    CHECK_FALSE(text::natural_before("mesh16", "mesh4"));
    CHECK(text::natural_before("mesh4x16", "mesh4x100"));
    CHECK(text::natural_before("a", "a1"));
    CHECK_FALSE(text::natural_before("mesh4", "mesh4"));
    CHECK(text::natural_before("mesh04", "mesh4") != text::natural_before("mesh4", "mesh04"));
    CHECK(text::natural_before("x99999999999999999999998", "x99999999999999999999999"));
}

TEST_CASE("the last of several lines of a key counts, and half a line at the end is skipped") {
    const test::ScratchTree scratch;
    const std::string text =
        journal({line_of("ring/a", 9, 8), line_of("ring/b", 5, 5), line_of("ring/a", 8, 8)});
    const std::string path = scratch.put("run/results.jsonl", text + text.substr(0, 60));
    const Run run = read_run(scratch.at("run"));
    REQUIRE(run.lines.size() == 2);
    CHECK(run.lines[0].makespan == Ticks(8));
    CHECK(run.folder == scratch.at("run"));
    CHECK(read_run(path).lines == run.lines);
}

TEST_CASE("lines that synth --json wrote get their label from their file") {
    const test::ScratchTree scratch;
    ResultLine line = line_of("x", 4, 4);
    line.key = line.label = "";
    line.file = "instances/ring/small.json";
    const Run run = read_run(scratch.put("results.jsonl", journal({line})));
    CHECK(run.lines.front().label == "ring/small");
    CHECK(run.lines.front().key == "ring/small");
}

TEST_CASE("an empty file is a run without results, a missing or broken one is an error that names it") {
    const test::ScratchTree scratch;
    CHECK(read_run(scratch.put("empty/results.jsonl", "")).lines.empty());
    CHECK(text_of(results_table({}, {})) ==
          "0 results: 0 verified, 0 optimal, 0 failed, mean gap - "
          "(geometric -), 0.000 s\n");
    std::filesystem::create_directories(scratch.at("nothing"));
    CHECK(test::refusal([&] { (void)read_run(scratch.at("nothing")); }).file() == scratch.at("nothing"));
    CHECK(test::refusal([&] { (void)read_run(scratch.at("none")); }).file() == scratch.at("none"));
    const std::string broken = scratch.put("broken.jsonl", "{\"instance\": 3}\n");
    CHECK(contains(test::refusal([&] { (void)read_run(broken); }).place(), "line 1"));
}

TEST_CASE("rows are in the order that people expect, or by a column with the empty last") {
    std::vector<ResultLine> lines{line_of("mesh16", 12, 10), line_of("mesh4", 30, 20), failed_line("mesh2")};
    const std::vector<Run> runs{run_of(lines)};
    CHECK(labels(selected(runs, {})) == Labels{"mesh2", "mesh4", "mesh16"});
    CHECK(labels(selected(runs, {.reverse = true})) == Labels{"mesh16", "mesh4", "mesh2"});
    CHECK(labels(selected(runs, {.sort = SortBy::Gap})) == Labels{"mesh16", "mesh4", "mesh2"});
    CHECK(labels(selected(runs, {.sort = SortBy::Gap, .reverse = true})) ==
          Labels{"mesh4", "mesh16", "mesh2"});
    CHECK(labels(selected(runs, {.filter = "h1"})) == Labels{"mesh16"});
    CHECK(labels(selected(runs, {.filter = "greed"})).size() == 3);
    CHECK(labels(selected(runs, {.filter = "method=greedy"})).size() == 3);
    CHECK(labels(selected(runs, {.filter = "method=auto"})).empty());
    CHECK(labels(selected(runs, {.failed = true})) == Labels{"mesh2"});
}

TEST_CASE("the table has readable times, bandwidth where it is defined, and the reasons of failures") {
    ResultLine physical = line_of("dgx1", 1'500'000, 1'000'000);
    physical.units = "physical";
    physical.algbw_GBps = 123.456;
    physical.busbw_GBps = 1.5;
    physical.peak_memory_bytes = 12'345'678;
    const std::vector<Run> runs{run_of({physical, line_of("ring4", 3, 3), failed_line("ring9")})};
    const std::string text = text_of(results_table(selected(runs, {}), {}));
    CHECK(text ==
          "instance  method  makespan  bound     gap  algbw  busbw  seconds    memory  status\n"
          "--------  ------  --------  -----  ------  -----  -----  -------  --------  --------\n"
          "dgx1      greedy    1.5 us   1 us  50.0 %    123   1.50    1.000  11.8 MiB  feasible\n"
          "ring4     greedy         3      3   0.0 %      -      -    1.000         -  optimal\n"
          "ring9     greedy         -      -       -      -      -    1.000         -  FAILED\n"
          "\n"
          "failed: ring9: time: it took more than 2 s\n"
          "3 results: 2 verified, 1 optimal, 1 failed, mean gap 25.0 % (geometric 22.5 %), 3.000 s\n");
    const std::vector<Run> abstract{run_of({line_of("ring4", 3, 3)})};
    CHECK_FALSE(contains(text_of(results_table(selected(abstract, {}), {})), "busbw"));
}

TEST_CASE("an unverified schedule is a failure") {
    ResultLine line = line_of("a", 3, 3);
    line.verified = false;
    CHECK(has_failed(line));
    ResultLine infeasible = failed_line("b", io::Failure::None);
    infeasible.status = Status::Infeasible;
    CHECK_FALSE(has_failed(infeasible));
}

TEST_CASE("labels are shortened to fit the terminal, and only there") {
    const std::string name = "a-very-long-name-of-an-instance-with-everything-in-it/mesh16x16";
    const std::vector<Run> runs{run_of({line_of(name, 3, 3)})};
    const auto rows = selected(runs, {});
    for (const text::TonedLine& line : results_table(rows, {.columns = 80}))
        CHECK(text::width_of(line.text.str()) <= 100);
    CHECK(text::width_of(results_table(rows, {.columns = 80})[2].text.str()) <= 80);
    CHECK(contains(text_of(results_table(rows, {.columns = 80})), "…"));
    CHECK(contains(text_of(results_table(rows, {})), name));
}

TEST_CASE("CSV has the same columns whatever the lines hold, quotes what must be, and leaves null empty") {
    ResultLine odd = failed_line("a, \"b\"");
    odd.error = "two\nlines";
    odd.solver_versions["cpsat"] = "9.8";
    const std::vector<Run> runs{run_of({line_of("c", 3, 2)}), run_of({odd})};
    const std::string both = results_csv(selected(runs, {}), false);
    const std::string head = both.substr(0, both.find('\n'));
    const std::vector<Run> one{run_of({line_of("c", 3, 2)})};
    const std::string alone = results_csv(selected(one, {}), false);
    CHECK(alone.substr(0, alone.find('\n')) == head);
    CHECK(head.starts_with("instance,method,status,makespan,lower_bound,"));
    for (const char* key : {",error", ",solver_versions", ",composed_optimum", ",busbw_GBps", ",failure"})
        CHECK(contains(head, key));
    CHECK(contains(both, "\"a, \"\"b\"\"\",greedy,unknown,,,"));
    CHECK(contains(both, ",two\\x0alines,"));
    CHECK(contains(both, "\"{\"\"cpsat\"\":\"\"9.8\"\"}\""));
    CHECK(contains(alone, "\nc,greedy,feasible,3,2,,0.5,1.0,,0,true,"));
    const auto commas = [](const std::string& text) { return std::ranges::count(text, ','); };
    CHECK(commas(alone) == 2 * commas(head));
    CHECK(results_csv(selected(one, {}), true).starts_with("run,instance,"));
}

TEST_CASE("a makespan beyond the tolerance is worse or better") {
    CHECK(change_of(line_of("a", 100, 50), line_of("a", 101, 50)) == Change::Worse);
    CHECK(change_of(line_of("a", 100, 50), line_of("a", 101, 50), {.tolerance = 0.01}) == Change::Same);
    CHECK(change_of(line_of("a", 100, 50), line_of("a", 102, 50), {.tolerance = 0.01}) == Change::Worse);
    CHECK(change_of(line_of("a", 100, 50), line_of("a", 99, 50)) == Change::Better);
    CHECK(change_of(line_of("a", 100, 50), line_of("a", 100, 50)) == Change::Same);
    // Beyond the digits of a double.
    const std::int64_t huge = std::int64_t{1} << 60;
    CHECK(change_of(line_of("a", huge + 1, 50), line_of("a", huge + 1, 50)) == Change::Same);
}

TEST_CASE("a proof that is gone is a regression where there is a gap now, a new one a gain") {
    CHECK(change_of(line_of("a", 100, 100), line_of("a", 100, 90)) == Change::Unproven);
    ResultLine met = line_of("a", 100, 100);
    met.status = Status::Feasible;
    CHECK(change_of(line_of("a", 100, 100), met) == Change::Same);
    CHECK(change_of(line_of("a", 100, 90), line_of("a", 100, 100)) == Change::Proven);
}

TEST_CASE("failures are lost, recovered, or failing still") {
    CHECK(change_of(line_of("a", 5, 5), failed_line("a")) == Change::Lost);
    CHECK(change_of(failed_line("a"), line_of("a", 5, 5)) == Change::Recovered);
    CHECK(change_of(failed_line("a"), failed_line("a")) == Change::StillFailing);
}

TEST_CASE("a comparison regards time only where it is asked to") {
    ResultLine slow = line_of("a", 5, 5);
    slow.seconds = 2;
    CHECK(change_of(line_of("a", 5, 5), slow) == Change::Same);
    CHECK(change_of(line_of("a", 5, 5), slow, {.time_tolerance = 0.5}) == Change::Slower);
    CHECK(change_of(line_of("a", 5, 5), slow, {.time_tolerance = 1}) == Change::Same);
    ResultLine quick = line_of("a", 5, 5), noise = quick;
    quick.seconds = 0.001;
    noise.seconds = 0.01;
    CHECK(change_of(quick, noise, {.time_tolerance = 0.5}) == Change::Same);
}

TEST_CASE("a makespan below the other run's bound is a contradiction, unless the instance is another") {
    CHECK(change_of(line_of("a", 100, 100), line_of("a", 90, 80)) == Change::Contradiction);
    CHECK(change_of(line_of("a", 100, 80), line_of("a", 120, 110)) == Change::Contradiction);
    ResultLine other = line_of("a", 90, 80);
    other.digest = "changed";
    CHECK(change_of(line_of("a", 100, 100), other) == Change::Better);
}

TEST_CASE("a schedule for an instance that the other run found infeasible is a contradiction") {
    ResultLine none = failed_line("a", io::Failure::Infeasible);
    none.status = Status::Infeasible;
    CHECK(change_of(none, line_of("a", 9, 8)) == Change::Contradiction);
    CHECK(change_of(line_of("a", 9, 8), none) == Change::Contradiction);
    const Run a = run_of({none}), b = run_of({line_of("a", 9, 8)});
    CHECK(contains(text_of(comparison_table(compare(a, b, {}))), "the other says that there is none"));
    none.digest = "another";
    CHECK(change_of(none, line_of("a", 9, 8)) == Change::Recovered);
}

TEST_CASE("a comparison lists missing, new and differing rows") {
    ResultLine seeded = line_of("b", 10, 8);
    seeded.seed = 7;
    seeded.seconds = 4;
    const Run before = run_of({line_of("a", 5, 5), line_of("b", 20, 8)}, "old");
    const Run after = run_of({seeded, line_of("c", 1, 1)}, "new");
    const Comparison comparison = compare(before, after, {});
    CHECK(comparison.pairs == 1);
    CHECK(comparison.count(Change::Lost) == 1);
    CHECK(comparison.count(Change::Better) == 1);
    CHECK(comparison.count(Change::New) == 1);
    CHECK(comparison.regressions() == 1);
    CHECK(*comparison.makespan_ratio == doctest::Approx(0.5));
    CHECK(*comparison.seconds_ratio == doctest::Approx(4));
    CHECK(comparison.notes == Labels{"seeds differ in 1 pair (b: 0, then 7)"});
    const std::string text = text_of(comparison_table(comparison));
    CHECK(contains(text, "lost    a           5    -         -"));
    CHECK(contains(text, "better  b          20   10  -50.00 %"));
    CHECK(contains(text, "1 pair: 1 lost, 0 worse, 1 better, 1 new, 0 same,"));
}

TEST_CASE("runs with other keys pair by what was to be solved, where that is unique") {
    ResultLine a = line_of("ring", 5, 5), b = a, large = a;
    a.key = "ring method=greedy";
    b.key = "ring method=exact";
    b.asked = "exact";
    const Run before = run_of({a}, "old"), after = run_of({b}, "new");
    const Comparison by_itself = compare(before, after, {});
    CHECK(by_itself.pairs == 1);
    CHECK(by_itself.notes == Labels{"no task is in both runs: paired by the instance alone",
                                    "methods asked for differ in 1 pair (ring: greedy, then exact)"});
    CHECK(compare(before, after, {.by_label = true}).pairs == 1);
    const Run both = run_of({a, b}, "both");
    CHECK(
        contains(test::refusal([&] { (void)compare(before, both, {.by_label = true}); }).message(), "ring"));
    ResultLine other = b;
    other.key = "ring method=highs";
    const Run several = run_of({b, other}, "several");
    CHECK(contains(test::refusal([&] { (void)compare(before, several, {}); }).message(), "--by label"));
    // Other sizes are other problems.
    large.key = "ring bytes=8";
    large.asked_bytes = 8;
    CHECK(compare(run_of({a, large}), run_of({b}), {.by_label = true}).pairs == 1);
    // An empty run has nothing to pair with, but that is an answer.
    CHECK(compare(before, run_of({}), {}).regressions() == 1);
    CHECK(compare(run_of({}), after, {}).regressions() == 0);
}

TEST_CASE("merged runs have every key once, and their schedules at the same place") {
    const test::ScratchTree scratch;
    ResultLine a = line_of("ring/a", 5, 5), b = line_of("ring/b", 6, 6);
    a.schedule = scratch.at("s1/schedules/ring/a.schedule.json");
    b.schedule = "elsewhere/s2/schedules/ring/b.schedule.json";  // the folder was moved
    scratch.put("s1/schedules/ring/a.schedule.json", "A");
    scratch.put("s2/schedules/ring/b.schedule.json", "B");
    scratch.put("s1/results.jsonl", journal({a}));
    scratch.put("s2/results.jsonl", journal({b, failed_line("ring/c")}));
    scratch.put("s1/run.json", R"({"shard": "1/3"})");
    scratch.put("s2/run.json", R"({"shard": "3/3"})");
    const std::vector<Run> runs{read_run(scratch.at("s1")), read_run(scratch.at("s2"))};
    const Merged merged = merge(runs, {.output = scratch.at("all/")});
    CHECK(merged.results == 3);
    CHECK(merged.schedules == 2);
    CHECK(merged.missing_shards == std::vector<std::size_t>{2});
    CHECK(scratch.get("all/schedules/ring/a.schedule.json") == "A");
    CHECK(scratch.get("all/schedules/ring/b.schedule.json") == "B");
    const Run all = read_run(scratch.at("all"));
    REQUIRE(all.lines.size() == 3);
    CHECK(all.lines[1].schedule == scratch.at("all/schedules/ring/b.schedule.json"));
    CHECK(std::distance(std::filesystem::directory_iterator(scratch.at("all")), {}) == 3);
    CHECK(contains(test::refusal([&] { (void)merge(runs, {.output = scratch.at("all")}); }).message(),
                   "--force"));
    scratch.put("all/mine.txt", "keep");
    CHECK(merge(runs, {.output = scratch.at("all"), .force = true}).results == 3);
    CHECK(scratch.get("all/mine.txt") == "keep");
}

TEST_CASE("merged shards of a run are that run, with the instances that it varied") {
    const test::ScratchTree scratch;
    ResultLine a = line_of("ring/a", 5, 5), b = line_of("ring/b", 6, 6);
    a.schedule = scratch.at("s1/schedules/ring/a.schedule.json");
    scratch.put("inst/ring/a.json");
    scratch.put("s1/schedules/ring/a.schedule.json", "A");
    scratch.put("s1/schedules/ring/a.instance.json", "I");
    scratch.put("s1/results.jsonl", journal({a}));
    scratch.put("s2/results.jsonl", journal({b}));
    scratch.put("s1/run.json", R"({"instances": ["../inst"], "chunks": [1, 2], "shard": "1/2", "jobs": 1})");
    scratch.put("s2/run.json", R"({"instances": ["../inst"], "chunks": [1, 2], "shard": "2/2", "jobs": 4})");
    const auto merged_into = [&](const char* folder) {
        const std::vector<Run> runs{read_run(scratch.at("s1")), read_run(scratch.at("s2"))};
        (void)merge(runs, {.output = scratch.at(folder)});
        return read_run_file(scratch.at(std::string(folder) + "/run.json"));
    };
    const RunFile whole = merged_into("deep/all");
    REQUIRE(whole.instances.size() == 1);
    CHECK(std::filesystem::equivalent(whole.instances.front(), scratch.at("inst")));
    CHECK(whole.matrix.chunks == std::vector<std::uint64_t>{1, 2});
    CHECK_FALSE(whole.shard);
    CHECK(scratch.get("deep/all/schedules/ring/a.instance.json") == "I");
    scratch.put("s2/run.json", R"({"instances": ["../inst"], "chunks": [1, 3], "shard": "2/2"})");
    CHECK(merged_into("unlike").instances.empty());
}

TEST_CASE("a merge reports missing and unfinished shards, however they are numbered") {
    const test::ScratchTree scratch;
    scratch.put("s/results.jsonl", journal({line_of("ring/a", 5, 5)}));
    const auto notes_with = [&](const std::string& run) {
        scratch.put("s/run.json", run);
        std::filesystem::remove_all(scratch.at("m"));
        return merge({read_run(scratch.at("s"))}, {.output = scratch.at("m")}).notes;
    };
    CHECK(notes_with(R"({"shard": "0/3"})") == Labels{"of 3 shards 2 are missing: 1, 2"});
    CHECK(notes_with(R"({"shard": "3/3"})") == Labels{"of 3 shards 2 are missing: 1, 2"});
    CHECK(notes_with(R"({"shard": "1/3"})") == Labels{"of 3 shards 2 are missing: 2, 3 (or 0)"});
    CHECK(notes_with(R"({"tasks": 1})").empty());
    CHECK(contains(notes_with(R"({"tasks": 15})").at(0), "is not finished: 1 of 15 are done"));
}

TEST_CASE("a folder that a batch is writing is refused as the target of a merge") {
    const test::ScratchTree scratch;
    scratch.put("s/results.jsonl", journal({line_of("ring/a", 5, 5)}));
    const ResultsFolder busy(scratch.at("busy"));
    CHECK(contains(test::refusal([&] {
                       (void)merge({read_run(scratch.at("s"))},
                                   {.output = scratch.at("busy"), .force = true});
                   }).message(),
                   "another run"));
}

TEST_CASE("if two runs have the same task, the later line wins, but a result beats a failure") {
    const test::ScratchTree scratch;
    ResultLine late = line_of("a", 7, 5), early = line_of("a", 6, 5), dead = failed_line("a");
    late.finished = "2026-01-02T00:00:00Z";
    dead.finished = "2026-01-03T00:00:00Z";
    const std::vector<Run> runs{run_of({late}, "x"), run_of({early}, "y"), run_of({dead}, "z")};
    const Merged merged = merge(runs, {.output = scratch.at("m")});
    CHECK(merged.twice == 2);
    CHECK(merged.notes.size() == 2);
    CHECK(read_run(scratch.at("m")).lines.at(0).makespan == Ticks(7));
}

TEST_CASE("results of different files under one key are merged only with --prefer-last") {
    const test::ScratchTree scratch;
    ResultLine a = line_of("a", 7, 5), b = line_of("a", 9, 5);
    b.digest = "other";
    b.finished = "2020-01-01T00:00:00Z";
    const std::vector<Run> runs{run_of({a}, "x"), run_of({b}, "y")};
    const std::string refused = test::refusal([&] { (void)merge(runs, {.output = scratch.at("m")}); }).what();
    CHECK(contains(refused, "x"));
    CHECK(contains(refused, "y"));
    CHECK_FALSE(std::filesystem::exists(scratch.at("m")));
    CHECK(merge(runs, {.output = scratch.at("m"), .prefer_last = true}).results == 1);
    CHECK(read_run(scratch.at("m")).lines.at(0).makespan == Ticks(9));
}

TEST_CASE("a merge copies no schedule from outside the run's folder, and notes missing ones") {
    const test::ScratchTree scratch;
    scratch.put("secret/x.json", "S");
    ResultLine sly = line_of("a", 5, 5), gone = line_of("b", 5, 5);
    sly.schedule = "schedules/../../secret/x.json";
    gone.schedule = "schedules/none.json";
    scratch.put("run/results.jsonl", journal({sly, gone}));
    const Merged merged = merge({read_run(scratch.at("run"))}, {.output = scratch.at("all")});
    CHECK(merged.schedules == 0);
    CHECK(merged.notes.size() == 2);
    CHECK(read_run(scratch.at("all")).lines.at(0).schedule.empty());
}

TEST_CASE("schedules of the same name do not overwrite each other in a merge") {
    const test::ScratchTree scratch;
    ResultLine a = line_of("a", 5, 5), b = line_of("b", 5, 5);
    a.schedule = b.schedule = "schedules/s.schedule.json";
    scratch.put("x/schedules/s.schedule.json", "A");
    scratch.put("y/schedules/s.schedule.json", "B");
    scratch.put("x/results.jsonl", journal({a}));
    scratch.put("y/results.jsonl", journal({b}));
    (void)merge({read_run(scratch.at("x")), read_run(scratch.at("y"))}, {.output = scratch.at("m")});
    CHECK(scratch.get("m/schedules/s.schedule.json") == "A");
    CHECK(scratch.get("m/schedules/s-2.schedule.json") == "B");
}

#include "batch/batch.hpp"

#include "app/batch.hpp"
#include "app/solve.hpp"
#include "batch/executor.hpp"
#include "batch/results_folder.hpp"
#include "batch/summary.hpp"
#include "core/error.hpp"
#include "io/found_results.hpp"
#include "io/instance_json.hpp"
#include "io/schedule_stream.hpp"
#include "tests/batch/scratch.hpp"
#include "verify/schedule_verifier.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <map>
#include <thread>

using namespace tutti;
using namespace tutti::batch;

namespace {

constexpr const char* kRing =
    R"({"tutti": 1, "topology": {"generate": {"kind": "ring", "npus": 4}}, "collectives": [{"kind": "all_gather"}]})";
constexpr const char* kCut =
    R"({"tutti": 1, "topology": {"npus": 2, "links": [{"src": 0, "dst": 1}]}, "collectives": [{"kind": "all_gather"}]})";

/// Runs all/ into out/, `cores` at a time, with what a child shall do instead of solving.
Outcome run_in(const test::ScratchTree& scratch, Settings settings = {}, unsigned cores = 1,
               Work work = app::solve) {
    settings.results = scratch.at("out");
    const Plan plan(expand({scratch.at("all")}), settings.run.matrix);
    Executor executor({settings.results, settings.run.limits, cores, std::move(work)});
    return run(plan, settings, executor, {});
}

/// For children: the task is not to be done again.
io::ResultLine refuse_work(const Task&, const std::string&, const Limits&, const TaskListener&) {
    std::abort();
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
    CHECK(outcome.rows[0].line.key == "ring/a");
    CHECK(outcome.rows[0].line.status == Status::Optimal);

    const auto lines = io::read_results(scratch.at("out/results.jsonl"));
    REQUIRE(lines.size() == 2);
    CHECK(lines[0] == outcome.rows[0].line);
    CHECK(lines[0].schedule == scratch.at("out/schedules/ring/a.schedule.json"));
    CHECK(verify::verify(io::read_instance(ring), io::read_schedule(lines[0].schedule)).valid());
    CHECK(scratch.get("out/table.txt") == table_text(outcome).str());
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
    Outcome one = run_in(scratch), four = run_in(scratch, {}, 4);
    REQUIRE(four.rows.size() == one.rows.size());
    for (std::size_t i = 0; i < one.rows.size(); ++i) {
        for (Row* row : {&one.rows[i], &four.rows[i]}) {
            row->line.seconds = 0;
            row->line.peak_memory_bytes.reset();
            row->line.finished.clear();
            for (Candidate& candidate : row->line.candidates) candidate.seconds = 0;
        }
        CHECK(one.rows[i].line == four.rows[i].line);
        CHECK(one.rows[i].line.key == four.rows[i].line.key);
    }
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 20);
}

TEST_CASE("an interrupted batch reports the tasks that it did not do") {
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

TEST_CASE("a run into the folder of an earlier one puts its lines aside and deletes nothing") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("out/mine.txt", "keep");
    scratch.put("out/results.jsonl", "old\n");
    (void)run_in(scratch);
    CHECK(scratch.get("out/mine.txt") == "keep");
    CHECK(scratch.get("out/results.jsonl.old") == "old\n");
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 1);
}

TEST_CASE("a resumed run does what is missing, and ends with the same rows") {
    const test::ScratchTree scratch;
    for (const char* name : {"a", "b", "c"}) scratch.put(std::string("all/x/") + name + ".json", kRing);
    const Outcome whole = run_in(scratch);
    // As a kill leaves it: one line whole, one cut off, the third not there.
    const std::string lines = scratch.get("out/results.jsonl");
    scratch.put("out/results.jsonl", lines.substr(0, lines.find('\n') + 60));
    const Outcome rest = run_in(scratch, {.resume = true});
    CHECK(rest.kept == 1);
    REQUIRE(rest.rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(rest.rows[i].line.key == whole.rows[i].line.key);
        CHECK(rest.rows[i].line.makespan == whole.rows[i].line.makespan);
    }
    CHECK(rest.rows[0].line == whole.rows[0].line);
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 3);
    CHECK(run_in(scratch, {.resume = true}, 1, refuse_work).failures() == 0);
}

TEST_CASE("a resumed run that asks for more does only that, and keeps what it does not ask for") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    const auto with = [](std::vector<std::string> methods) {
        Settings settings{.resume = true};
        settings.run.matrix.methods = std::move(methods);
        return settings;
    };
    CHECK(run_in(scratch, with({"auto"})).kept == 0);
    const Outcome more = run_in(scratch, with({"auto", "greedy"}));
    CHECK(more.kept == 1);
    REQUIRE(more.rows.size() == 2);
    CHECK(more.rows[1].line.key == "x/a method=greedy");
    CHECK(more.rows[0].line.schedule != more.rows[1].line.schedule);
    Settings other = with({"greedy"});
    other.run.matrix.seeds = {7};
    std::string said;
    other.remark = [&](const std::string& text) { said += text + "\n"; };
    CHECK(run_in(scratch, other).kept == 0);
    CHECK(said.find("2 rows of other instances or settings stay in results.jsonl") != std::string::npos);
    CHECK(io::find_results(scratch.at("out")).lines.size() == 3);
    CHECK(run_in(scratch, with({"auto", "greedy"}), 1, refuse_work).failures() == 0);
}

TEST_CASE("a run resumed from another directory has paths valid there, in all lines") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("all/x/b.json", kRing);
    scratch.put("below/here.txt", "");
    const auto relative_run = [&](const std::string& folder, const std::string& up, const std::string& only) {
        const auto back = std::filesystem::current_path();
        std::filesystem::current_path(folder);
        Settings settings{.results = up + "out", .resume = true};
        settings.run.instances = {up + "all"};
        const Plan plan(expand({up + "all/x/" + only}), {});
        Executor executor({settings.results, {}, 1, app::solve});
        const Outcome outcome = run(plan, settings, executor, {});
        const io::FoundResults found = io::find_results(settings.results);
        std::vector<std::string> files;
        for (const io::ResultLine& line : found.lines) {
            CHECK(std::filesystem::exists(line.file));
            CHECK(std::filesystem::exists(line.schedule));
            files.push_back(line.file);
        }
        CHECK_FALSE(found.moved);
        std::filesystem::current_path(back);
        return files;
    };
    using Files = std::vector<std::string>;
    CHECK(relative_run(scratch.at("."), "", "a.json") == Files{"all/x/a.json"});
    CHECK(io::find_results(scratch.at("out")).moved);
    CHECK(relative_run(scratch.at("below"), "../", "b.json") == Files{"../all/x/a.json", "../all/x/b.json"});
}

TEST_CASE("half a schedule that a killed process has left is removed, and nothing else") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("out/schedules/x/.tutti-99-0.tmp", "half");
    scratch.put("out/schedules/x/mine.tmp", "mine");
    const auto half = [&](const Task&, const std::string&, const Limits&,
                          const TaskListener&) -> io::ResultLine {
        scratch.put("out/schedules/x/.tutti-98-0.tmp", "half");
        std::abort();
    };
    CHECK(run_in(scratch, {}, 1, half).failures() == 1);
    CHECK_FALSE(std::filesystem::exists(scratch.at("out/schedules/x/.tutti-99-0.tmp")));
    CHECK_FALSE(std::filesystem::exists(scratch.at("out/schedules/x/.tutti-98-0.tmp")));
    CHECK(scratch.get("out/schedules/x/mine.tmp") == "mine");
}

TEST_CASE("a file that has changed since is solved again") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("all/x/b.json", kRing);
    (void)run_in(scratch);
    scratch.put("all/x/b.json", kCut);
    const Outcome outcome = run_in(scratch, {.resume = true});
    CHECK(outcome.kept == 1);
    CHECK(outcome.rows[1].line.status == Status::Infeasible);
    CHECK(run_in(scratch, {.resume = true}, 1, refuse_work).kept == 2);
}

TEST_CASE("a search that ignores its time limit is killed, and the row has its best result so far") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    const auto deaf = [](const Task& task, const std::string& results, const Limits& limits,
                         const TaskListener& hears) {
        TaskListener blocking = hears;
        blocking.found = [&](std::optional<Ticks> makespan, std::optional<Ticks> bound) {
            hears.found(makespan, bound);
            while (makespan) std::this_thread::sleep_for(std::chrono::hours(1));
        };
        return app::solve(task, results, limits, blocking);
    };
    Settings settings;
    settings.run.limits.time = 0.1;
    const Outcome outcome = run_in(scratch, settings, 1, deaf);
    CHECK(outcome.failures() == 1);
    REQUIRE(outcome.rows.size() == 1);
    const io::ResultLine& line = outcome.rows[0].line;
    CHECK(line.failure == io::Failure::Time);
    CHECK_FALSE(line.verified);
    CHECK(line.error.find("did not stop at its time limit of 0.1 s") != std::string::npos);
    CHECK(line.error.find("makespan 2") != std::string::npos);
}

TEST_CASE("failed rows are kept, unless they are to be tried again") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("all/x/b.json", kRing);
    const auto half = [](const Task& task, const std::string& results, const Limits& limits,
                         const TaskListener& hears) {
        if (task.job.name == "b") std::abort();
        return app::solve(task, results, limits, hears);
    };
    CHECK(run_in(scratch, {}, 1, half).failures() == 1);
    const Outcome kept = run_in(scratch, {.resume = true});
    CHECK(kept.failures() == 1);
    CHECK(kept.rows[1].line.failure == io::Failure::Crash);
    const Outcome again = run_in(scratch, {.resume = true, .retry_failed = true});
    CHECK(again.kept == 1);
    CHECK(again.failures() == 0);
}

TEST_CASE("resuming a run with other settings prints a warning") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    Settings settings;
    settings.run.instances = {scratch.at("all")};
    (void)run_in(scratch, settings);
    std::string remarks;
    settings.resume = true;
    settings.remark = [&](const std::string& text) { remarks += text + "\n"; };
    (void)run_in(scratch, settings);
    CHECK(remarks.find("warning") == std::string::npos);
    settings.run.limits.time = 60;
    (void)run_in(scratch, settings);
    CHECK(remarks.find("time_limit is 60.0, was not given") != std::string::npos);
}

TEST_CASE("two runs cannot write into one folder at a time") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    {
        const ResultsFolder writing(scratch.at("out"));
        CHECK_THROWS_WITH_AS((void)run_in(scratch), doctest::Contains("another run"), InputError);
    }
    CHECK(run_in(scratch).complete());
}

TEST_CASE("a result that beats a proven optimum fails its row") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("all/x/x.solu", "=opt= ring 3\n");
    const Outcome outcome = run_in(scratch, {.update_solu = true});
    CHECK(outcome.failures() == 1);
    CHECK(outcome.rows[0].line.error.find("better than the proven optimum") == 0);
    CHECK(outcome.rows[0].line.failure == io::Failure::Contradiction);
    CHECK(scratch.get("all/x/x.solu") == "=opt= ring 3\n");
}

TEST_CASE("an instance known as infeasible does not fail for being so") {
    const test::ScratchTree scratch;
    scratch.put("all/x/cut.json", kCut);
    scratch.put("all/x.solu", "=inf= cut\n");
    const Outcome outcome = run_in(scratch);
    CHECK(outcome.failures() == 0);
    CHECK(outcome.rows[0].line.status == Status::Infeasible);
    CHECK(outcome.rows[0].line.failure == io::Failure::None);
    CHECK(outcome.rows[0].line.error.find("NPU 1") != std::string::npos);
    // The file can change its mind.
    scratch.put("all/x.solu", "=unkn= cut\n");
    const Outcome later = run_in(scratch, {.resume = true}, 1, refuse_work);
    CHECK(later.failures() == 1);
    CHECK(later.rows[0].line.failure == io::Failure::Infeasible);
}

TEST_CASE("a .solu file knows an instance by its file, or by the name inside") {
    const test::ScratchTree scratch;
    const std::string named = std::string(kRing).insert(1, R"("name": "inner", )");
    scratch.put("all/x/outer.json", named);
    for (const char* line : {"=opt= outer 9\n", "=opt= inner 9\n"}) {
        scratch.put("all/x/x.solu", line);
        CHECK(run_in(scratch).rows.at(0).line.failure == io::Failure::Contradiction);
    }
    scratch.put("all/x/x.solu", "=best= outer 9\n");
    CHECK(run_in(scratch, {.update_solu = true}).problems.empty());
    CHECK(scratch.get("all/x/x.solu") == "=opt= outer 2\n");
}

TEST_CASE("a .solu file that is broken, or a name that none can hold, stops nothing") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("all/y/two words.json", kRing);
    scratch.put("all/y/other.json", kRing);
    scratch.put("all/x/x.solu", "garbage\n");
    REQUIRE(::mkfifo(scratch.at("all/y/y.solu").c_str(), 0600) == 0);
    Outcome outcome = run_in(scratch, {.update_solu = true});
    CHECK(outcome.failures() == 0);
    CHECK(outcome.problems.size() == 2);
    CHECK(scratch.get("all/x/x.solu") == "garbage\n");
    std::filesystem::remove(scratch.at("all/y/y.solu"));
    scratch.put("all/x/x.solu", "=bestdual= ring 1\n");
    outcome = run_in(scratch, {.update_solu = true});
    CHECK(outcome.problems.empty());
    CHECK(scratch.get("all/y/y.solu") == "=opt= other 2\n");
}

TEST_CASE("a bound of what turns out to be infeasible is no contradiction") {
    const test::ScratchTree scratch;
    scratch.put("all/x/cut.json", kCut);
    scratch.put("all/x/x.solu", "=bestdual= cut 5\n");
    const Outcome outcome = run_in(scratch);
    CHECK(outcome.news == std::vector<std::string>{"new: x/cut is infeasible; --update-solu writes it"});
}

TEST_CASE("a line that cannot be read is done again, and the file is kept") {
    const test::ScratchTree scratch;
    for (const char* name : {"a", "b", "c"}) scratch.put(std::string("all/x/") + name + ".json", kRing);
    (void)run_in(scratch);
    std::string lines = scratch.get("out/results.jsonl");
    lines[lines.find('\n') + 2] = '}';
    scratch.put("out/results.jsonl", lines);
    const Outcome again = run_in(scratch, {.resume = true});
    CHECK(again.kept == 2);
    CHECK(again.failures() == 0);
    CHECK(scratch.get("out/results.jsonl.damaged") == lines);
    CHECK(io::read_results(scratch.at("out/results.jsonl")).size() == 3);
}

TEST_CASE("a task whose schedule could not be written is solved again") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("out/schedules/x", "a file where a folder should be");
    const Outcome full = run_in(scratch);
    CHECK(full.rows.at(0).line.failure == io::Failure::Output);
    std::filesystem::remove(scratch.at("out/schedules/x"));
    const Outcome again = run_in(scratch, {.resume = true});
    CHECK(again.kept == 0);
    CHECK(again.failures() == 0);
}

TEST_CASE("a file that is far too large is one failed row, at once") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    scratch.put("all/x/huge.json", "");
    std::filesystem::resize_file(scratch.at("all/x/huge.json"), std::uintmax_t{1} << 40);
    for (const bool resume : {false, true}) {
        const Outcome outcome = run_in(scratch, {.resume = resume});
        CHECK(outcome.failures() == 1);
        CHECK(outcome.rows[1].line.failure == io::Failure::Input);
        CHECK(outcome.rows[0].line.verified);
    }
}

TEST_CASE("values unknown to the .solu file are reported as new; a changed instance is not compared") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("all/x/x.solu", "=best= ring 5\n");
    CHECK(run_in(scratch).news ==
          std::vector<std::string>{"new optimum: x/ring 2 (was 5); --update-solu writes it"});
    scratch.put("all/x/x.solu", "=opt= ring 2\n");
    CHECK(run_in(scratch).news.empty());
    Settings settings;
    settings.run.matrix.chunks = {2};
    const Outcome two = run_in(scratch, settings);
    CHECK(two.news.empty());
    CHECK(two.failures() == 0);
    CHECK(two.rows[0].line.makespan > Ticks(2));
}

TEST_CASE("proven values go into the .solu file when asked for, and only then") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    (void)run_in(scratch);
    CHECK_FALSE(std::filesystem::exists(scratch.at("all/x/x.solu")));
    (void)run_in(scratch, {.update_solu = true});
    CHECK(scratch.get("all/x/x.solu") == "=opt= ring 2\n");
}

TEST_CASE("a results folder that cannot be created is an input error") {
    const test::ScratchTree scratch;
    scratch.put("all/x/ring.json", kRing);
    scratch.put("file");
    Settings settings;
    settings.results = scratch.at("file/out");
    Executor executor({settings.results, {}, 1});
    const Plan plan(expand({scratch.at("all")}), {});
    CHECK_THROWS_AS((void)run(plan, settings, executor, {}), InputError);
}

TEST_CASE("a batch that is interrupted while it looks for instances writes nothing") {
    const test::ScratchTree scratch;
    scratch.put("all/x/a.json", kRing);
    const std::atomic<bool> interrupted{true};
    app::BatchOptions options;
    options.asked.paths = {scratch.at("all")};
    options.results = scratch.at("out");
    const app::BatchRun run = app::batch(options, {}, {.interrupted = &interrupted});
    CHECK_FALSE(run.outcome.complete());
    CHECK_FALSE(std::filesystem::exists(scratch.at("out")));
}

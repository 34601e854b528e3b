#include "batch/task_list.hpp"

#include "core/error.hpp"
#include "tests/batch/scratch.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>

using namespace tutti;
using namespace tutti::batch;

namespace {

namespace fs = std::filesystem;

std::vector<Job> jobs_named(const std::vector<std::string>& names, const std::string& folder) {
    std::vector<Job> jobs;
    for (const std::string& name : names) jobs.push_back({folder + "/" + name + ".json", "x", name, {}});
    return jobs;
}

}  // namespace

TEST_CASE("each task of a plan is found in its list by its key, whatever it is called") {
    const test::ScratchTree scratch;
    std::vector<Job> jobs = jobs_named(
        {"a", "a seed=2", "a seed=2-2", "b c", "d'e\"f", "=cmd", "-x", "{}", "é\\n"}, scratch.at("in"));
    jobs.push_back({scratch.at("in") + "/\xff\n.json", "-y", "odd", {}});
    for (int i = 0; i < 500; ++i)
        jobs.push_back({scratch.at("in") + fmt::format("/{}.json", i), "z", fmt::format("{}", i), {}});
    Matrix matrix{.methods = {"greedy", "auto"}, .chunks = {3}, .bytes = {{1 << 20}}, .seeds = {1, 2, ~0ULL}};
    matrix.threads = 3;
    matrix.heuristics = {"symmetry"};
    matrix.options.tries = 8;
    matrix.options.exact_share = 0.5;
    const Plan plan(jobs, matrix);
    const Limits limits{.time = 2.5, .memory = 1 << 30};
    write_task_list(scratch.at("out"), plan, limits);
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const ListedTask found = listed_task(scratch.at("out"), plan.key(i));
        CHECK(found.task == plan[i]);
        CHECK(found.limits == limits);
    }
    for (const char* none : {"x/a method=greedy", "x/a", "", " ", "x/nobody chunks=3 bytes=1048576"})
        CHECK_THROWS_WITH_AS((void)listed_task(scratch.at("out"), none),
                             doctest::Contains("there is no task"), InputError);
}

TEST_CASE("a relative path of an instance is found from another working directory") {
    const test::ScratchTree scratch;
    scratch.put("in/a.json");
    scratch.put("elsewhere/deep/x");
    const fs::path back = fs::current_path();
    fs::current_path(scratch.at("in"));
    write_task_list("../out", Plan({{"a.json", "x", "a", {}}, {"../in/../in/a.json", "x", "b", {}}}, {}), {});
    fs::current_path(scratch.at("elsewhere/deep"));
    for (const char* key : {"x/a", "x/b"}) {
        for (const std::string& out : {std::string("../../out"), scratch.at("out")})
            CHECK(fs::equivalent(listed_task(out, key).task.job.path, scratch.at("in/a.json")));
    }
    fs::current_path(back);
}

TEST_CASE("the list of a part of a run has only the tasks of that part") {
    const test::ScratchTree scratch;
    const auto jobs = jobs_named({"a", "b"}, "in");
    const Matrix matrix{.seeds = {1, 2}};
    write_task_list(scratch.at("out"), Plan(jobs, matrix, {1, 2}), {});
    CHECK(listed_task(scratch.at("out"), "x/a seed=2").task.key == "x/a seed=2");
    CHECK_THROWS_AS((void)listed_task(scratch.at("out"), "x/a"), InputError);
}

TEST_CASE("a folder without a list, and a list that is something else, are errors that name the file") {
    const test::ScratchTree scratch;
    CHECK_THROWS_WITH_AS((void)listed_task(scratch.at("out"), "x/a"), doctest::Contains("--list-tasks"),
                         InputError);
    for (const char* text : {"", "{}", "not a list\n", "0123456789abcdef [1]\n0123456789abcdef\n"}) {
        scratch.put("out/tasks/list", text);
        CHECK_THROWS_WITH_AS((void)listed_task(scratch.at("out"), "x/a"), doctest::Contains("tasks/list"),
                             InputError);
    }
}

TEST_CASE("a list of another version is an error that says what to do") {
    const test::ScratchTree scratch;
    write_task_list(scratch.at("out"), Plan(jobs_named({"a"}, "in"), {}), {});
    std::string text = scratch.get("out/tasks/list");
    const std::string ours = "\"settings\":1";
    REQUIRE(text.find(ours) != text.npos);
    text.replace(text.find(ours), ours.size(), "\"settings\":2");
    scratch.put("out/tasks/list", text);
    CHECK_THROWS_WITH_AS((void)listed_task(scratch.at("out"), "x/a"), doctest::Contains("another version"),
                         InputError);
}

TEST_CASE("a list that was tampered with cannot make a task write outside the results folder") {
    const test::ScratchTree scratch;
    write_task_list(scratch.at("out"), Plan({{"in/a.json", "FAMILY", "a", {}}}, {}), {});
    std::string text = scratch.get("out/tasks/list");
    for (std::size_t at = text.find("\"family\":\"FAMILY\""); at != text.npos;
         at = text.find("\"family\":\"FAMILY\"", at + 1))
        text.replace(at, 17, R"("family":"../../../..")");
    const std::size_t name = text.find(R"("name":"a")");
    REQUIRE(name != text.npos);
    text.replace(name, 10, R"("name":"/etc/../../../x")");
    scratch.put("out/tasks/list", text);
    const std::string stem = listed_task(scratch.at("out"), "FAMILY/a").task.stem;
    CHECK(stem.starts_with("schedules/_"));
    CHECK(fs::path(stem).lexically_normal() == fs::path(stem));
    CHECK_FALSE(fs::path(stem).is_absolute());
}

#include "batch/plan.hpp"

#include "core/error.hpp"
#include "text/format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace tutti;
using namespace tutti::batch;

namespace {

using Keys = std::vector<std::string>;

Keys keys(const Plan& plan) {
    Keys result;
    for (std::size_t i = 0; i < plan.size(); ++i) result.push_back(plan.key(i));
    return result;
}

std::vector<Task> tasks(const Plan& plan) {
    std::vector<Task> result;
    for (std::size_t i = 0; i < plan.size(); ++i) result.push_back(plan[i]);
    return result;
}

const std::vector<Job> kTwo{{"ring/a.json", "ring", "a", {}}, {"ring/b.json", "ring", "b", {}}};

/// 1, 2, 3, ...
std::vector<std::uint64_t> seeds_to(std::size_t count) {
    std::vector<std::uint64_t> seeds(count);
    std::iota(seeds.begin(), seeds.end(), 1);
    return seeds;
}

}  // namespace

TEST_CASE("a key names the settings that differ from the defaults") {
    CHECK(keys(Plan(kTwo, {})) == Keys{"ring/a", "ring/b"});
    CHECK(keys(Plan({kTwo[0]}, {.methods = {"greedy"}, .seeds = {9}})) ==
          Keys{"ring/a method=greedy seed=9"});
    CHECK(keys(Plan({kTwo[0]}, {.methods = {"auto", "greedy"}})) == Keys{"ring/a", "ring/a method=greedy"});
    CHECK(keys(Plan(kTwo, {.methods = {"greedy", "cpsat", "greedy"}})) ==
          Keys{"ring/a method=greedy", "ring/a method=cpsat", "ring/b method=greedy", "ring/b method=cpsat"});
    CHECK(keys(Plan({kTwo[0]}, {.chunks = {2}, .bytes = {{1 << 20}}, .seeds = {1, 2}})) ==
          Keys{"ring/a chunks=2 bytes=1048576", "ring/a chunks=2 bytes=1048576 seed=2"});
    Matrix matrix{.heuristics = {"link-matching", "steiner-trees"}};
    matrix.options.tries = 8;
    matrix.options.exact_share = 0.5;
    CHECK(keys(Plan({kTwo[0]}, matrix)) == Keys{"ring/a heuristic=link-matching exact-share=0.5 tries=8",
                                                "ring/a heuristic=steiner-trees exact-share=0.5 tries=8"});
}

TEST_CASE("every task has its own path for its schedule") {
    const std::vector<Job> odd{{"1", "x", "a b", {}},
                               {"2", "x", "a_b", {}},
                               {"3", "x", std::string(300, 'n') + "1", {}},
                               {"4", "x", std::string(300, 'n') + "2", {}},
                               {"5", "x/../y", "..", {}}};
    std::set<std::string> stems;
    for (const Task& task : tasks(Plan(odd, {.methods = {"greedy", "cpsat"}}))) {
        CHECK(stems.insert(task.stem).second);
        CHECK(task.stem.starts_with("schedules/"));
        CHECK(task.stem.find("/..") == std::string::npos);
        CHECK(task.stem.size() < 240);
    }
}

TEST_CASE("a task's path does not depend on other tasks, and keys never collide") {
    const Job plain{"1", "x", "a_b", {}}, odd{"2", "x", "a b", {}}, sly{"3", "x", "a_b seed=2", {}};
    const Matrix two{.seeds = {1, 2}};
    std::set<std::string> stems, all;
    for (const Task& task : tasks(Plan({odd, plain, sly}, two))) {
        CHECK(all.insert(task.key).second);
        CHECK(stems.insert(task.stem).second);
    }
    CHECK(Plan({odd, plain}, {})[0].stem == Plan({odd}, {})[0].stem);
    CHECK(Plan({odd, plain}, {})[1].stem == "schedules/x/a_b");
    std::string name = "a";
    for (int i = 0; i < 110; ++i) name += "\u00e9";
    const std::string stem = Plan({{"4", "x", name, {}}}, {})[0].stem;
    CHECK(text::printable(stem) == stem);
}

TEST_CASE("the parts of a run are all of it, whether they are counted from 0 or from 1") {
    const Matrix seeds{.seeds = {1, 2, 3, 4, 5}};
    for (const std::uint64_t first : {0U, 1U}) {
        Keys all;
        for (std::uint64_t part = first; part < first + 3; ++part) {
            for (const std::string& key : keys(Plan(kTwo, seeds, {part, 3}))) all.push_back(key);
        }
        std::ranges::sort(all);
        Keys expected = keys(Plan(kTwo, seeds));
        std::ranges::sort(expected);
        CHECK(all == expected);
    }
}

TEST_CASE("details that are too long for the name of a file are shortened and stay apart") {
    Matrix matrix{.methods = {"greedy"}, .bytes = {{std::int64_t{1} << 50}}, .seeds = {1, 2}};
    for (const SearchOption& option : search_option_table()) option.set(matrix.options, option.most);
    const Plan plan({{"1", "x", std::string(300, 'n'), {}}}, matrix);
    CHECK(plan[0].stem != plan[1].stem);
    CHECK(plan[0].stem.size() + std::string(".schedule.json").size() <= 255);
}

TEST_CASE("names that clash get numbers, the same ones as when all names are compared") {
    std::vector<Job> jobs;
    for (const char* name :
         {"a", "a seed=2", "a seed=2-2", "a seed=2 seed=3", "b_seed=2", "b", "a=", "a seed=2-2-2"})
        jobs.push_back({name, "x", name, {}});
    const Plan plan(jobs, {.seeds = {1, 2, 3}});
    std::set<std::string> taken, stems;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const Job& job = jobs[i / 3];
        const std::string wanted = job.label() + details_of(plan.variant(i % 3));
        std::string expected = wanted;
        for (int n = 2; !taken.insert(expected).second; ++n) expected = wanted + "-" + std::to_string(n);
        CHECK(plan.key(i) == expected);
        CHECK(plan[i].key == expected);
        CHECK(stems.insert(plan[i].stem).second);
    }
}

TEST_CASE("a plan holds its instances and lists, and not their product") {
    std::vector<Job> jobs;
    for (int i = 0; i < 20'000; ++i) jobs.push_back({"f", "x", std::to_string(i), {}});
    const Plan plan(jobs, {.seeds = seeds_to(20'000)});
    CHECK(plan.size() == 400'000'000);
    CHECK(plan.key(0) == "x/0");
    CHECK(plan.key(20'001) == "x/1 seed=2");
    CHECK(plan[plan.size() - 1].key == "x/19999 seed=20000");
    CHECK(plan[plan.size() - 1].stem == "schedules/x/19999_seed=20000");
    CHECK(Plan(jobs, {.seeds = seeds_to(20'000)}, {7, 1'000'000'000}).size() == 1);
    CHECK(Plan(kTwo, {}, {5, 8}).size() == 0);
    CHECK_THROWS_WITH_AS(Plan(jobs, {.seeds = seeds_to(60'000)}),
                         doctest::Contains("more than 1000000000 tasks"), InputError);
}

TEST_CASE("a value that is listed twice counts once, however long the list") {
    Matrix matrix{.methods = {"greedy", "auto", "greedy"}, .bytes = {{5}, {5}}, .seeds = seeds_to(200'000)};
    matrix.seeds.insert(matrix.seeds.end(), matrix.seeds.begin(), matrix.seeds.end());
    const Plan plan(kTwo, matrix);
    CHECK(plan.variants() == 400'000);
    CHECK(plan.key(1) == "ring/a method=greedy bytes=5 seed=2");
    CHECK(plan.name(1) == "ring/a method=greedy seed=2");
}

#include "io/found_results.hpp"

#include "io/json_text.hpp"
#include "tests/batch/scratch.hpp"

#include <doctest/doctest.h>

namespace fs = std::filesystem;
using namespace tutti;

namespace {

std::string journal(const std::vector<io::ResultLine>& lines) {
    std::string text;
    for (const io::ResultLine& line : lines) text += io::json_line(io::result_json(line)) + "\n";
    return text;
}

io::ResultLine line_of(const std::string& key, const std::string& file, const std::string& schedule) {
    io::ResultLine line;
    line.instance = line.label = line.key = key;
    line.file = file;
    line.schedule = schedule;
    return line;
}

}  // namespace

TEST_CASE("files of a run are found from elsewhere, by the place where it was") {
    const test::ScratchTree scratch;
    scratch.put("project/inst/a.json", "A");
    scratch.put("project/results/all/schedules/x/a.schedule.json", "S");
    scratch.put("project/results/all/run.json", R"({"from": "../.."})");
    scratch.put("project/results/all/results.jsonl",
                journal({line_of("a", "inst/a.json", "results/all/schedules/x/a.schedule.json"),
                         line_of("gone", "inst/gone.json", "")}));
    const io::FoundResults found = io::find_results(scratch.at("project/results/all"));
    REQUIRE(found.lines.size() == 2);
    CHECK(found.moved);
    CHECK(fs::equivalent(found.lines[0].file, scratch.at("project/inst/a.json")));
    CHECK(fs::equivalent(found.lines[0].schedule,
                         scratch.at("project/results/all/schedules/x/a.schedule.json")));
    CHECK(found.lines[1].file == "inst/gone.json");
    const auto about = io::line_about(scratch.at("project/results/all/schedules/x/a.schedule.json"));
    REQUIRE(about);
    CHECK(about->file == found.lines[0].file);
}

TEST_CASE("schedules are found in a folder that was moved, and never outside of it") {
    const test::ScratchTree scratch;
    scratch.put("moved/schedules/x/a.schedule.json", "S");
    scratch.put("secret/b.schedule.json", "T");
    scratch.put("moved/results.jsonl",
                journal({line_of("a", "a.json", "results/all/schedules/x/a.schedule.json"),
                         line_of("b", "b.json", "results/all/schedules/../../secret/b.schedule.json")}));
    const io::FoundResults found = io::find_results(scratch.at("moved"));
    CHECK(found.lines[0].schedule == scratch.at("moved/schedules/x/a.schedule.json"));
    CHECK(found.lines[1].schedule == "results/all/schedules/../../secret/b.schedule.json");
}

TEST_CASE("a run.json that cannot be read leaves the paths as they are") {
    const test::ScratchTree scratch;
    scratch.put("run/results.jsonl", journal({line_of("a", "inst/a.json", "")}));
    for (const char* bad : {"{", "[]", R"({"from": 3})"}) {
        scratch.put("run/run.json", bad);
        CHECK(io::find_results(scratch.at("run")).lines.at(0).file == "inst/a.json");
    }
}

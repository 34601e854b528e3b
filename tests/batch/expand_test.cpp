#include "batch/expand.hpp"

#include "core/error.hpp"
#include "tests/batch/scratch.hpp"

using namespace tutti;
using namespace tutti::batch;

namespace {

std::vector<std::string> labels(const std::vector<Job>& jobs) {
    std::vector<std::string> result;
    for (const Job& job : jobs) result.push_back(job.label());
    return result;
}

using Labels = std::vector<std::string>;

}  // namespace

TEST_CASE("a folder means the instances below it, by path, with their folder as family") {
    const test::ScratchTree scratch;
    for (const char* file : {"all/ring/b.json", "all/ring/a.json", "all/mesh/big/c.json", "all/top.json"})
        scratch.put(file);
    CHECK(labels(expand({scratch.at("all")})) == Labels{"mesh/big/c", "ring/a", "ring/b", "all/top"});
    CHECK(labels(expand({scratch.at("all/ring")})) == Labels{"ring/a", "ring/b"});
    CHECK(labels(expand({scratch.at("all/ring/")})) == Labels{"ring/a", "ring/b"});
    CHECK(labels(expand({scratch.at("all/ring/a.json")})) == Labels{"ring/a"});
}

TEST_CASE("schedules, schemas, hidden files and other files are passed over") {
    const test::ScratchTree scratch;
    for (const char* file : {"x/a.json", "x/a.schedule.json", "x/schema/s.json", "x/.git/g.json",
                             "x/.hidden.json", "x/x.solu", "x/README.md"}) {
        scratch.put(file);
    }
    CHECK(labels(expand({scratch.at("x")})) == Labels{"x/a"});
}

TEST_CASE("a file counts once, however often it is named") {
    const test::ScratchTree scratch;
    const std::string file = scratch.put("x/a.json");
    CHECK(expand({file, scratch.at("x"), scratch.at("x/../x/a.json")}).size() == 1);
}

TEST_CASE("two files of one name from folders of one name get different labels") {
    const test::ScratchTree scratch;
    scratch.put("one/ring/a.json");
    scratch.put("two/ring/a.json");
    CHECK(labels(expand({scratch.at("one"), scratch.at("two")})) == Labels{"ring/a", "ring/a-2"});
}

TEST_CASE("what is not there is an error, and so is a folder without instances") {
    const test::ScratchTree scratch;
    scratch.put("x/README.md");
    CHECK_THROWS_AS((void)expand({scratch.at("nowhere")}), InputError);
    CHECK_THROWS_AS((void)expand({scratch.at("x")}), InputError);
}

TEST_CASE("a test set lists files relative to its folder or to the one above") {
    const test::ScratchTree scratch;
    scratch.put("ring/a.json");
    scratch.put("ring/b.json");
    scratch.put("sets/here.json");
    const std::string set = scratch.put("sets/short.test", "# comment\n\n  ring/a  \r\nring/b.json\nhere\n");
    const auto files = read_test_set(set);
    CHECK(labels(expand(files)) == Labels{"ring/a", "ring/b", "sets/here"});
    CHECK(labels(restricted(expand({scratch.at("ring")}), files)) == Labels{"ring/a", "ring/b"});
    CHECK(restricted(expand({scratch.at("ring")}), {}).empty());
}

TEST_CASE("a test set that lists what is not there is an error at its line") {
    const test::ScratchTree scratch;
    try {
        (void)read_test_set(scratch.put("short.test", "# comment\nnowhere\n"));
        FAIL("was accepted");
    } catch (const InputError& error) {
        CHECK(error.place() == "line 2");
    }
}

#include "batch/expand.hpp"

#include "core/error.hpp"
#include "tests/batch/scratch.hpp"

#include <fmt/format.h>

#include <atomic>

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

TEST_CASE("patterns expand to the matching files, and are an error when nothing matches") {
    const test::ScratchTree scratch;
    scratch.put("one/ring4.json");
    scratch.put("two/ring8.json");
    scratch.put("two/ring8.schedule.json");
    scratch.put("two/mesh.json");
    scratch.put("[x]/a.json");
    CHECK(labels(expand({scratch.at("*/ring*.json")})) == Labels{"one/ring4", "two/ring8"});
    CHECK(labels(expand({scratch.at("{one,two}")})) == Labels{"one/ring4", "two/mesh", "two/ring8"});
    CHECK(labels(expand({scratch.at("[x]")})) == Labels{"[x]/a"});
    CHECK_THROWS_WITH_AS((void)expand({scratch.at("*/torus*.json")}), doctest::Contains("matches"),
                         InputError);
}

TEST_CASE("a .solu file means the instances it names, and is theirs") {
    const test::ScratchTree scratch;
    scratch.put("all/here.json");
    scratch.put("all/values/there.json");
    scratch.put("all/other.json");
    const std::string solu =
        scratch.put("all/values.solu", "=best= here 3\n=bestdual= here 2\n=unkn= there\n");
    const auto jobs = expand({scratch.at("all/here.json"), solu});
    CHECK(labels(jobs) == Labels{"all/here", "values/there"});
    for (const Job& job : jobs) CHECK(job.solu == solu);
    // What is not there is one row that fails, as any other.
    scratch.put("all/values.solu", "=unkn= lost\n=unkn= there\n");
    CHECK(labels(expand({solu})) == Labels{"all/lost", "values/there"});
}

TEST_CASE("braces are alternatives, as in a shell") {
    CHECK(alternatives_in("a/*.json") == Labels{"a/*.json"});
    CHECK(alternatives_in("{/a,b/{c,d}}/x{1}.json") ==
          Labels{"/a/x{1}.json", "b/c/x{1}.json", "b/d/x{1}.json"});
    CHECK(alternatives_in("a\\{b,c}") == Labels{"a\\{b,c}"});
    CHECK(alternatives_in("{a,b") == Labels{"{a,b"});
    CHECK(alternatives_in("{,a}b") == Labels{"b", "ab"});
}

TEST_CASE("a .test file among the paths means what it lists") {
    const test::ScratchTree scratch;
    scratch.put("ring/a.json");
    scratch.put("ring/b.json");
    CHECK(labels(expand({scratch.put("sets/s.test", "ring/b\n")})) == Labels{"ring/b"});
}

TEST_CASE("a path that is named like an instance is not skipped, whatever it is") {
    const test::ScratchTree scratch;
    scratch.put("x/folder.json/inner.json");
    std::filesystem::create_symlink("nowhere", scratch.at("x/dangling.json"));
    std::filesystem::create_directory_symlink(".", scratch.at("x/again"));
    CHECK(labels(expand({scratch.at("x")})) == Labels{"x/dangling", "x/folder", "folder.json/inner"});
}

TEST_CASE("the files that a batch writes are not taken for instances") {
    const test::ScratchTree scratch;
    scratch.put("x/run.json");
    scratch.put("x/results/run.json");
    scratch.put("x/results/results.jsonl", "");
    scratch.put("x/results/schedules/ring/a_chunks=1.instance.json");
    scratch.put("x/lost/run.json");
    scratch.put("x/lost/schedules/ring/a_chunks=1.instance.json");
    CHECK(labels(expand({scratch.at("x")})) == Labels{"x/run"});
}

TEST_CASE("names have no control characters and are UTF-8, in labels") {
    const test::ScratchTree scratch;
    scratch.put("x/new\nline.json");
    scratch.put("x/\xFF.json");
    scratch.put("x/gr\u00fc\u00df.json");
    scratch.put("x/half\xED\xA0\x80.json");  // half a pair of UTF-16
    scratch.put("x/long\xE0\x80\x80.json");  // more bytes than it takes
    scratch.put("x/second\u009b.json");
    CHECK(labels(expand({scratch.at("x")})) == Labels{"x/gr\u00fc\u00df", "x/half\\xed\\xa0\\x80",
                                                      "x/long\\xe0\\x80\\x80", "x/new\\x0aline",
                                                      "x/second\\u009b", "x/\\xff"});
}

TEST_CASE("a search for instances ends when it is told to") {
    const test::ScratchTree scratch;
    for (int i = 0; i < 10; ++i) scratch.put(fmt::format("x/{}.json", i));
    const std::atomic<bool> interrupted{true};
    CHECK(expand({scratch.at("x")}, Stop({}, &interrupted)).empty());
}

TEST_CASE("many files of one name get their numbers in the order of their paths") {
    const test::ScratchTree scratch;
    std::vector<std::string> paths;
    for (int i = 0; i < 300; ++i) paths.push_back(scratch.put(fmt::format("{:03}/x/a.json", i)));
    const auto jobs = expand(paths);
    CHECK(jobs[0].label() == "x/a");
    CHECK(jobs[299].label() == "x/a-300");
}

TEST_CASE("a link to an instance that was found is that instance") {
    const test::ScratchTree scratch;
    scratch.put("x/a.json");
    std::filesystem::create_symlink("a.json", scratch.at("x/b.json"));
    std::filesystem::create_directory_symlink("x", scratch.at("y"));
    CHECK(labels(expand({scratch.at("x"), scratch.at("y/a.json")})) == Labels{"x/a"});
}

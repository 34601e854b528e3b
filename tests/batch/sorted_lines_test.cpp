#include "batch/sorted_lines.hpp"

#include "core/error.hpp"
#include "tests/batch/scratch.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::batch;

namespace {

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("every line is found by its hash, and nothing by another, whatever the lengths of the lines") {
    const test::ScratchTree scratch;
    // Lines around the size of the blocks that are read, two lines of one hash, an empty text.
    const Texts texts = {"",
                         std::string(4078, 'a'),
                         std::string(4079, 'b'),
                         std::string(4080, 'c'),
                         "d",
                         std::string(9000, 'e'),
                         "f",
                         "g",
                         "hi",
                         std::string(4096, 'j')};
    const std::vector<std::uint64_t> hashes = {0,
                                               5,
                                               6,
                                               6,
                                               9,
                                               std::uint64_t{1} << 40U,
                                               std::uint64_t{1} << 41U,
                                               ~std::uint64_t{0} - 2,
                                               ~std::uint64_t{0},
                                               ~std::uint64_t{0}};
    for (const bool ends_with_newline : {true, false}) {
        std::string file;
        for (std::size_t i = 0; i < texts.size(); ++i)
            file += (i == 0 ? "" : "\n") + line_with_hash(hashes[i], texts[i]);
        if (ends_with_newline) file += "\n";
        const SortedLines lines(scratch.put("lines", file));
        for (std::size_t i = 0; i < texts.size(); ++i) {
            Texts expected;
            for (std::size_t j = 0; j < texts.size(); ++j) {
                if (hashes[j] == hashes[i]) expected.push_back(texts[j]);
            }
            CHECK(lines.with_hash(hashes[i]) == expected);
        }
        for (const std::uint64_t none : {std::uint64_t{1}, std::uint64_t{7}, ~std::uint64_t{1}})
            CHECK(lines.with_hash(none).empty());
    }
}

TEST_CASE("an empty file has no lines, and a line without a hash is an error") {
    const test::ScratchTree scratch;
    CHECK(SortedLines(scratch.put("empty", "")).with_hash(1).empty());
    for (const char* text : {"\n", "abc\n", "0123456789abcdeg x\n", "-123456789abcdef x\n"}) {
        CHECK_THROWS_WITH_AS((void)SortedLines(scratch.put("bad", text)).with_hash(1),
                             doctest::Contains("--list-tasks"), InputError);
    }
    CHECK_THROWS_AS(SortedLines(scratch.at("none")), InputError);
}

TEST_CASE("lines are read from the file that was opened, also when another one takes its place") {
    const test::ScratchTree scratch;
    const SortedLines lines(scratch.put("lines", line_with_hash(1, "old") + "\n"));
    std::filesystem::rename(scratch.put("new", line_with_hash(1, "new") + "\n"), scratch.at("lines"));
    CHECK(lines.with_hash(1) == Texts{"old"});
}

#include "cli/file_kind.hpp"

#include <doctest/doctest.h>

using namespace tutti::cli;

TEST_CASE("an instance and a schedule are told apart by their first bytes") {
    CHECK(kind_of_beginning("{\"tutti\": 1") == FileKind::Instance);
    CHECK(kind_of_beginning(" \n{ \"name\" : ") == FileKind::Instance);
    CHECK(kind_of_beginning("{\"tutti_schedule\": 1") == FileKind::Schedule);
    CHECK(kind_of_beginning("{\"sends\":[") == FileKind::Schedule);
    CHECK(kind_of_beginning("TUTTISCH\x01") == FileKind::Schedule);
}

TEST_CASE("a file that does not tell is unclear") {
    for (const char* text : {"", "{", "{\"", "{\"tut", "[", "{}", "{\"x\": \"tutti\"}", "tutti"}) {
        CHECK(kind_of_beginning(text) == FileKind::Unclear);
    }
}

TEST_CASE("files that do not tell take the part that is left") {
    const auto parts = [](std::vector<std::string> files) { return sorted_out({.files = std::move(files)}); };
    CHECK(parts({"-", "no-such-file"}).instance == "-");
    CHECK(parts({"no-such-file", "-"}).schedules == std::vector<std::string>{"-"});
    CHECK(sorted_out({.files = {"a", "b"}, .instance = "c"}).instance == "c");
}

#include "app/file_kind.hpp"

#include "core/error.hpp"
#include "tests/io/scratch.hpp"

#include <doctest/doctest.h>

using namespace tutti::app;

TEST_CASE("an instance and a schedule are distinguished by their first bytes") {
    CHECK(kind_of_bytes("{\"tutti\": 1") == FileKind::Instance);
    CHECK(kind_of_bytes(" \n{ \"name\" : ") == FileKind::Instance);
    CHECK(kind_of_bytes("{\"tutti_schedule\": 1") == FileKind::Schedule);
    CHECK(kind_of_bytes("{\"sends\":[") == FileKind::Schedule);
    CHECK(kind_of_bytes("TUTTISCH\x01") == FileKind::Schedule);
}

TEST_CASE("tensor programs and their schedules are recognised, schedules as text too") {
    CHECK(kind_of_bytes(R"({"tutti_tensor": 1, "name": "p")") == FileKind::TensorProgram);
    CHECK(kind_of_bytes(R"({"name": "p", "mesh": {"axes": []}, "values": [)") == FileKind::TensorProgram);
    CHECK(kind_of_bytes(R"({"program": "p", "tutti_tensor_schedule": 1)") == FileKind::TensorSchedule);
    CHECK(kind_of_bytes("split sum rs_ag\nreorder sum.ag past all") == FileKind::TensorSchedule);
    CHECK(kind_of_bytes("splitting hairs") == FileKind::Unclear);
}

TEST_CASE("a file whose kind cannot be told from its first bytes is unclear") {
    for (const char* text : {"", "{", "{\"", "{\"tut", "[", "{}", "{\"x\": \"tutti\"}", "tutti"}) {
        CHECK(kind_of_bytes(text) == FileKind::Unclear);
    }
}

TEST_CASE("plans of other tools are recognised by their content") {
    for (const char* text : {"<algo ", "<?xml version=\"1.0\"?>\n<!-- a plan -->\n<algo>",
                             "\xEF\xBB\xBF<algo/>", "\xFF\xFE<", "<topo/>", "<", "stray words <algo"}) {
        CAPTURE(text);
        CHECK(kind_of_bytes(text) == FileKind::Plan);
    }
}

TEST_CASE("a topology of NCCL is no plan") {
    CHECK(kind_of_bytes("<system version=\"1\">") == FileKind::Unclear);
}

TEST_CASE("sniffing a JSON text finds the fields of its outermost object") {
    const auto fields = [](const char* text) { return sniff(text).fields; };
    CHECK(fields(R"({"a": {"b": [1, {"c": 2}]}, "d": "e, \"f\": ", "g": [], "h)") ==
          std::vector<std::string>{"a", "d", "g"});
    CHECK(fields(R"([{"a": 1}])").empty());
    CHECK(fields("{").empty());
    CHECK(sniff("<!-- <b> --><?p <c>?>\n<root x").root == "root");
    CHECK(sniff("<!-- without end").root.empty());
    CHECK(sniff(" \n").shape == Sniffed::Shape::Empty);
    CHECK(sniff("SrcID,DestID\r\n0,1").line == "SrcID,DestID");
}

TEST_CASE("files of unclear kind take the role that is left") {
    const auto parts = [](std::vector<std::string> files) {
        return sorted_files({.files = std::move(files)}).ours.value();
    };
    CHECK(parts({"-", "no-such-file"}).instance == "-");
    CHECK(parts({"no-such-file", "-"}).schedules == std::vector<std::string>{"-"});
    CHECK(sorted_files({.files = {"a", "b"}, .instance = "c"}).ours.value().instance == "c");
}

TEST_CASE("one file of unclear kind among plans is taken for a plan, in its place") {
    const tutti::test::Scratch scratch;
    const std::string plan = scratch.file("plan", "<algo/>"), folder = scratch.path(".");
    const auto files = sorted_files({.files = {"-", plan, folder}});
    CHECK_FALSE(files.ours);
    CHECK(files.plans == std::vector<std::string>{"-", plan});
    CHECK(files.folders == std::vector<std::string>{folder});
    CHECK_THROWS_AS((void)sorted_files({.files = {scratch.file("i", "{\"tutti\": 1}")}}), tutti::InputError);
    CHECK_THROWS_AS((void)sorted_files({.files = {scratch.file("s", "{\"sends\": []}"), plan}}),
                    tutti::InputError);
}

#include "io/symmetric_json.hpp"

#include "scratch.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

symmetry::SymmetricSchedule parsed(const std::string& text) {
    Source source = Source::of_text(text, "s.json");
    return read_symmetric_json(source);
}
InputError refused(const std::string& text) {
    const auto error = refusal([&] { (void)parsed(text); });
    CHECK(error.file() == "s.json");
    return error;
}
std::string with(const std::string& symmetry, const std::string& sends = "") {
    return R"({"tutti_symmetric_schedule": 1, "instance": "x", "makespan": 3, "symmetry": [)" + symmetry +
           R"(], "sends": [)" + sends + "]}";
}

}  // namespace

TEST_CASE("a symmetric schedule is written for people and reads back") {
    const Scratch scratch;
    const symmetry::SymmetricSchedule schedule{
        "a \"b\"",
        Ticks(9),
        {{{NodeId(1), NodeId(0), NodeId(3), NodeId(2)}, 2},
         {{NodeId(2), NodeId(3), NodeId(0), NodeId(1)}, 2}},
        {{ChunkId(0), LinkId(2), Ticks(0), Op::Copy}, {ChunkId(1), LinkId(4), Ticks(5), Op::Reduce}}};
    write_symmetric_json(scratch.path("s.json"), schedule);
    CHECK(content_of(scratch.path("s.json")) ==
          "{\n  \"tutti_symmetric_schedule\": 1,\n  \"instance\": \"a \\\"b\\\"\",\n  \"makespan\": 9,\n  "
          "\"symmetry\": [\n"
          "    {\"order\": 2, \"images\": [1, 0, 3, 2]},\n    {\"order\": 2, \"images\": [2, 3, 0, 1]}\n  "
          "],\n  \"sends\": [\n"
          "    {\"chunk\": 0, \"link\": 2, \"start\": 0, \"op\": \"copy\"},\n"
          "    {\"chunk\": 1, \"link\": 4, \"start\": 5, \"op\": \"reduce\"}\n  ]\n}\n");
    Source source(scratch.path("s.json"));
    CHECK(looks_symmetric(source));
    const symmetry::SymmetricSchedule back = read_symmetric_json(source);
    CHECK(back.instance == schedule.instance);
    CHECK(back.makespan == schedule.makespan);
    CHECK(back.generators == schedule.generators);
    CHECK(back.sends == schedule.sends);
}

TEST_CASE("a symmetric schedule of nothing is written and read") {
    const Scratch scratch;
    write_symmetric_json(scratch.path("s.json"), {"x", Ticks(0), {}, {}});
    Source source(scratch.path("s.json"));
    const symmetry::SymmetricSchedule back = read_symmetric_json(source);
    CHECK(back.sends.empty());
    CHECK(back.generators.empty());
}

TEST_CASE("errors in a symmetric schedule name the place") {
    CHECK(refused(with(R"({"order": 1, "images": []})")).place() == "/symmetry/0/order");
    CHECK(refused(with(R"({"order": 2, "images": [1, -1]})")).place() == "/symmetry/0/images/1");
    CHECK(refused(with(R"({"order": 2, "images": [4294967296]})")).place() == "/symmetry/0/images/0");
    CHECK(refused(with(R"({"order": 2})")).message() == "expected a field 'images', found none");
    CHECK(refused(with(R"({"ordre": 2, "images": []})")).message() ==
          "unknown field 'ordre'; did you mean 'order'?");
    CHECK(refused(with("", R"({"chunk": 0, "link": 0, "start": 0}, {"chunk": 0, "link": 0, "start": 0.5})"))
              .place() == "/sends/1/start");
    CHECK(refused(with("", R"({"chunk": 0, "link": 0, "start": 0, "op": "move"})")).place() == "/sends/0/op");
    CHECK(refused("[]").message() ==
          "expected a symmetric schedule, which is an object, found an array of 0");
    CHECK(refused(R"({"tutti_schedule": 1})").message() ==
          "this is a schedule written out, expected a symmetric one");
    CHECK(refused(R"({"tutti_symmetric_schedule": 2, "instance": "x"})").message() ==
          "this schedule is format 2, this tutti reads 1");
    CHECK(refused(R"({"tutti_symmetric_schedule": 1, "instance": "x"})").message() ==
          "expected a field 'makespan', found none");
    CHECK(refused(with("") + "x").place().find(':') != std::string::npos);
}

TEST_CASE("a schedule written out does not look symmetric") {
    Source source = Source::of_text(R"({"tutti_schedule": 1})", "s.json");
    CHECK_FALSE(looks_symmetric(source));
    Source empty = Source::of_text("", "s.json");
    CHECK_FALSE(looks_symmetric(empty));
}

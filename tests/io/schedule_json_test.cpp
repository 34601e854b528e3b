#include "io/schedule_json.hpp"

#include "core/rng.hpp"
#include "io/schedule_stream.hpp"
#include "scratch.hpp"

#include <algorithm>
#include <limits>

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

Schedule parsed(const std::string& text) {
    Source source = Source::of_text(text, "schedule.json");
    return read_schedule_json(source);
}
InputError refused(const std::string& text) {
    const auto error = refusal([&] { (void)parsed(text); });
    CHECK(error.file() == "schedule.json");
    return error;
}
std::string with_sends(const std::string& sends) {
    return R"({"tutti_schedule": 1, "instance": "x", "makespan": 3, "sends": [)" + sends + "]}";
}

}  // namespace

TEST_CASE("a schedule is written for people, a send per line in order, and reads back") {
    const Scratch scratch;
    const Schedule schedule{
        "a \"b\" é",
        Ticks(9),
        {{ChunkId(1), LinkId(4), Ticks(5), Op::Reduce}, {ChunkId(0), LinkId(2), Ticks(0), Op::Copy}}};
    write_schedule_json(scratch.path("s.json"), schedule);
    CHECK(content_of(scratch.path("s.json")) ==
          "{\n  \"tutti_schedule\": 1,\n  \"instance\": \"a \\\"b\\\" é\",\n  \"makespan\": 9,\n  \"sends\": "
          "[\n"
          "    {\"chunk\": 0, \"link\": 2, \"start\": 0, \"op\": \"copy\"},\n"
          "    {\"chunk\": 1, \"link\": 4, \"start\": 5, \"op\": \"reduce\"}\n  ]\n}\n");
    const Schedule back = read_schedule(scratch.path("s.json"));
    CHECK(back.instance == schedule.instance);
    CHECK(back.makespan == schedule.makespan);
    CHECK(back.sends == std::vector<Send>{schedule.sends[1], schedule.sends[0]});
    CHECK(scratch.count() == 1);
}

TEST_CASE("a schedule without sends is written and read") {
    const Scratch scratch;
    write_schedule_json(scratch.path("s.json"), {"x", Ticks(0), {}});
    CHECK(read_schedule(scratch.path("s.json")).sends.empty());
}

TEST_CASE("fields come in any order, and op is copy where not given") {
    const Schedule schedule = parsed(
        R"({"sends": [{"op": "reduce", "start": 4, "link": 3, "chunk": 2}, {"start": 1, "chunk": 0, "link": 7}],
            "makespan": 8, "instance": "x", "tutti_schedule": 1})");
    REQUIRE(schedule.sends.size() == 2);
    CHECK(schedule.sends[0] == Send{ChunkId(2), LinkId(3), Ticks(4), Op::Reduce});
    CHECK(schedule.sends[1] == Send{ChunkId(0), LinkId(7), Ticks(1), Op::Copy});
}

TEST_CASE("values that only the verifier can judge are read unchanged") {
    const Schedule schedule = parsed(with_sends(
        R"({"chunk": 4294967295, "link": 4294967295, "start": 9223372036854775807},
           {"chunk": 0, "link": 0, "start": -9223372036854775808}, {"chunk": 1.0, "link": 2e0, "start": -3.0})"));
    REQUIRE(schedule.sends.size() == 3);
    CHECK(schedule.sends[0].chunk.value() == 4294967295U);
    CHECK(schedule.sends[0].start == Ticks::max());
    CHECK(schedule.sends[1].start == Ticks(std::numeric_limits<std::int64_t>::min()));
    CHECK(schedule.sends[2] == Send{ChunkId(1), LinkId(2), Ticks(-3), Op::Copy});
    CHECK(parsed(R"({"tutti_schedule": 1, "instance": "", "makespan": -1, "sends": []})").makespan ==
          Ticks(-1));
}

TEST_CASE("errors in a schedule name the send and the field") {
    const std::string good = R"({"chunk": 0, "link": 0, "start": 0},)";
    const auto error = refused(with_sends(good + good + R"({"chunk": 0, "link": 0, "start": "soon"})"));
    CHECK(error.place() == "/sends/2/start");
    CHECK(contains(error.message(), "found \"soon\""));
    CHECK(refused(with_sends(good + R"({"chunk": 4294967296, "link": 0, "start": 0})")).place() ==
          "/sends/1/chunk");
    CHECK(refused(with_sends(good + R"({"chunk": 0, "start": 0})")).message() ==
          "expected a field 'link', found none");
    CHECK(refused(with_sends(good + R"({"chunk": 0, "start": 0})")).place() == "/sends/1");
    CHECK(refused(with_sends(good + "7")).place() == "/sends/1");
    CHECK(refused(with_sends(R"({"chunk": 0, "link": 0, "strat": 0})")).message() ==
          "unknown field 'strat'; did you mean 'start'?");
    CHECK(refused(with_sends(R"({"chunk": 0, "link": {"src": 0}, "start": 0})")).message() ==
          "expected an integer, found an object");
    CHECK(refused(with_sends(R"({"chunk": [], "link": 0, "start": 0})")).message() ==
          "expected an integer, found an array");
    CHECK(refused(with_sends(R"({"chunk": 0, "chunk": 0, "link": 0, "start": 0})")).place() ==
          "/sends/0/chunk");
    CHECK(refused(with_sends(good)).place().find(':') !=
          std::string::npos);  // trailing comma: line and column
}

TEST_CASE("errors at the top of a schedule say what was expected") {
    CHECK(refused("[]").message() == "expected a schedule, which is an object, found an array");
    CHECK(refused("3").message() == "expected a schedule, which is an object, found 3");
    CHECK(refused(R"({"tutti": 1})").message() == "this is an instance, expected a schedule");
    CHECK(refused(R"({"tutti_schedule": 2})").message() == "this schedule is format 2, this tutti reads 1");
    CHECK(refused(R"({"tutti_schedule": 1, "instance": "x", "makespan": 1, "sends": {}})").message() ==
          "expected an array of sends, found an object");
    CHECK(refused(R"({"tutti_schedule": 1, "instance": "x", "makespan": 1, "sends": null})").place() ==
          "/sends");
    CHECK(refused(R"({"tutti_schedule": 1, "instance": "x", "makespan": 1})").message() ==
          "expected a field 'sends', found none");
    CHECK(refused(R"({"tutti_schedule": 1, "instance": ["x"]})").message() ==
          "expected a string, found an array");
    CHECK(refused(R"({"sends": [], "sends": []})").place() == "/sends");
    CHECK(contains(refused(with_sends("") + "x").message(), "expected end of input"));
}

TEST_CASE("a large schedule survives writing and reading as text") {
    const Scratch scratch;
    Rng rng(7);
    Schedule schedule{"large", Ticks(1000), {}};
    for (int i = 0; i < 50000; ++i) {
        schedule.sends.push_back({ChunkId(rng.below(1000)), LinkId(rng.below(4000)),
                                  Ticks(static_cast<std::int64_t>(rng.below(1000))),
                                  rng.below(2) == 0 ? Op::Copy : Op::Reduce});
    }
    write_schedule_json(scratch.path("s.json"), schedule);
    std::ranges::stable_sort(schedule.sends, starts_before);
    CHECK(read_schedule(scratch.path("s.json")).sends == schedule.sends);
}

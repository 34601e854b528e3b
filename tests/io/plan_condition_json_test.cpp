#include "io/plan_condition_json.hpp"

#include "scratch.hpp"

using namespace tutti;
using namespace tutti::io;
using namespace tutti::test;

namespace {

plan::Condition parsed(const std::string& text) {
    Source source = Source::of_text(text, "x.json");
    return read_plan_condition(source);
}
std::string place_of(const std::string& fields) {
    const auto error = refusal([&] { (void)parsed(R"({"tutti_condition": 1, )" + fields + "}"); });
    CHECK(error.file() == "x.json");
    return error.place();
}

/// The JSON that a page of docs/ shows.
std::string example_in(const std::string& page) {
    const std::string text = content_of(std::string(TUTTI_SOURCE_DIR) + "/docs/" + page);
    const auto start = text.find("```json\n") + 8;
    return text.substr(start, text.find("```", start) - start);
}

}  // namespace

TEST_CASE("a condition gives the inputs at the start and the required outputs") {
    const auto condition = parsed(R"({"tutti_condition": 1, "comment": "a sum",
        "inputs": {"0": [3, "0-1", 5], "4": []},
        "outputs": {"3": {"0": [[1, 0], [0, 5]], "4-6": [[2, 7], [2, 7]]}, "1": {}}})");
    plan::Condition expected;
    expected.inputs = {{Rank(0), {0, 1, 3, 5}}, {Rank(4), {}}};
    expected.outputs[Rank(3)] = {{0, {{Rank(0), 5}, {Rank(1), 0}}},
                                 {4, {{Rank(2), 7}, {Rank(2), 7}}},
                                 {5, {{Rank(2), 8}, {Rank(2), 8}}},
                                 {6, {{Rank(2), 9}, {Rank(2), 9}}}};
    expected.outputs[Rank(1)] = {};
    CHECK(condition == expected);
}

TEST_CASE("the condition that docs/plan-conditions.md shows is the one it describes") {
    plan::Condition expected;
    for (std::size_t rank = 1; rank < 4; ++rank)
        expected.outputs[Rank(rank)] = {{0, {{Rank(rank - 1), 0}}}, {1, {{Rank(rank - 1), 1}}}};
    CHECK(parsed(example_in("plan-conditions.md")) == expected);
}

TEST_CASE("a file that is no condition is refused with the JSON path") {
    CHECK(place_of(R"("outputs": {"x": {}})") == "/outputs");
    CHECK(place_of(R"("outputs": {"-1": {}})") == "/outputs");
    CHECK(place_of(R"("outputs": {"1": {}, "01": {}})") == "/outputs");
    CHECK(place_of(R"("outputs": {"1048576": {}})") == "/outputs");
    CHECK(place_of(R"("outputs": {"0": {"4-2": [[0, 0]]}})") == "/outputs/0");
    CHECK(place_of(R"("outputs": {"0": {"4-": [[0, 0]]}})") == "/outputs/0");
    CHECK(place_of(R"("outputs": {"0": {"1": [[0, 0]], "0-2": [[0, 0]]}})") == "/outputs/0/0-2");
    CHECK(place_of(R"("outputs": {"0": {"1": []}})") == "/outputs/0/1");
    CHECK(place_of(R"("outputs": {"0": {"1": [[0]]}})") == "/outputs/0/1/0");
    CHECK(place_of(R"("outputs": {"0": {"1": [[0, -1]]}})") == "/outputs/0/1/0/1");
    CHECK(place_of(R"("inputs": {"0": [1, "0-2"]}, "outputs": {})") == "/inputs/0");
    CHECK(place_of(R"("inputs": {"0": ["many"]}, "outputs": {})") == "/inputs/0/0");
    CHECK(place_of(R"("outputs": {}, "output": {})") == "/");
    CHECK(place_of(R"("outputs": {})") == "/outputs");
    CHECK(place_of(R"("outputs": {"0": {}})") == "/outputs");
    CHECK(place_of(R"("inputs": {"0": [1]}, "outputs": {"1": {"0": [[0, 0]]}})") == "/outputs");
    CHECK_THROWS_AS(parsed("[]"), InputError);
    CHECK_THROWS_AS(parsed("{}"), InputError);
    CHECK_THROWS_AS(parsed(R"({"tutti_condition": 2, "outputs": {}})"), InputError);
}

TEST_CASE("a few bytes of condition do not become gigabytes") {
    CHECK(place_of(R"("inputs": {"0": ["0-2147483647"]}, "outputs": {})") == "/inputs/0/0");
    CHECK(place_of(R"("outputs": {"0": {"0-2147483647": [[0, 0]]}})") == "/outputs/0/0-2147483647");
}

TEST_CASE("a condition that is written reads back as it was") {
    plan::Condition condition;
    condition.inputs = {{Rank(0), {0, 1, 2, 5, 6, 7, 14}}, {Rank(3), {}}, {Rank(12), {3}}};
    condition.outputs[Rank(2)] = {{0, {{Rank(0), 5}, {Rank(1), 0}}},
                                  {1, {{Rank(0), 6}, {Rank(1), 1}}},
                                  {2, {{Rank(0), 7}}},
                                  {9, {{Rank(0), 14}}}};
    condition.outputs[Rank(1)] = {};
    const std::string text = plan_condition_text(condition);
    CHECK(parsed(text) == condition);
    CHECK(text.find("\"0-2\"") != text.npos);
    CHECK(text.find("\"0-1\"") != text.npos);
}

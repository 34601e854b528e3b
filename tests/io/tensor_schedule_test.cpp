#include "io/json_text.hpp"
#include "io/tensor_schedule_json.hpp"
#include "io/tensor_schedule_text.hpp"
#include "tensor/refusal.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

template <class Read>
std::pair<std::string, std::string> code_and_place(Read&& read) {
    try {
        (void)read();
    } catch (const tensor::Refusal& refusal) {
        return {refusal.code(), refusal.place()};
    }
    return {"accepted", ""};
}

}  // namespace

TEST_CASE("every step of the set is the same in JSON and in text, there and back") {
    std::size_t steps = 0;
    for (const io::Json& line : test::tensor_lines("legal.jsonl")) {
        tensor::Schedule schedule{.program = line.at("program").get<std::string>()};
        for (const io::Json& step : line.at("steps")) {
            ++steps;
            schedule.steps.push_back(io::parse_tensor_step(step));
            const io::Json written = io::write_tensor_step(schedule.steps.back());
            CHECK(nlohmann::json::parse(written.dump()) == nlohmann::json::parse(step.dump()));
        }
        CHECK(io::parse_tensor_schedule(io::write_tensor_schedule(schedule)) == schedule);
        CHECK(io::parse_tensor_schedule_text(io::tensor_schedule_text(schedule)) == schedule);
    }
    CHECK(steps > 100);
}

TEST_CASE("text says each step on a line") {
    const tensor::Schedule schedule = io::parse_tensor_schedule_text(
        "program adam  # a comment\n\nsplit sum rs_ag\nsplit sum rs_ag dim 2\nsplit s reduce_broadcast root "
        "1\nsplit s axes a b\n"
        "reorder sum.ag past all\nreorder sum.ag past x y\ndistribute w dim 1 axes a\nas_slice m v\n"
        "fuse k: x y\nfuse x y\ncoalesce x y\noverlap mm k pieces 8\n");
    CHECK(schedule.program == "adam");
    using namespace tensor;
    const std::vector<Step> expected{Split{.op = "sum"},
                                     Split{.op = "sum", .dim = 2},
                                     Split{.op = "s", .into = Split::Into::ReduceBroadcast, .root = 1},
                                     Split{.op = "s", .into = Split::Into::Axes, .axes = {"a", "b"}},
                                     Reorder{"sum.ag", {}},
                                     Reorder{"sum.ag", std::vector<std::string>{"x", "y"}},
                                     Distribute{"w", 1, {"a"}},
                                     AsSlice{.tensor = "m"},
                                     AsSlice{.tensor = "v"},
                                     Fuse{{"x", "y"}, "k"},
                                     Fuse{{"x", "y"}, ""},
                                     Coalesce{{"x", "y"}, ""},
                                     OverlapStep{{"mm", "k"}, 8}};
    CHECK(schedule.steps == expected);
}

TEST_CASE("schedules that cannot be read say where") {
    for (const auto& [text, code, place] : std::vector<std::tuple<std::string, std::string, std::string>>{
             {"split sum", "malformed", "1:1"},
             {"\nturn sum", "transformation", "2:1"},
             {"overlap a b", "malformed", "1:1"},
             {"overlap a b pieces many", "malformed", "1:1"},
             {"split sum rs_ag dim 0 1", "malformed", "1:1"},
             {"reorder g behind f", "malformed", "1:1"}}) {
        INFO(text);
        CHECK(code_and_place([&] { return io::parse_tensor_schedule_text(text); }) == std::pair(code, place));
    }
    const auto json = [](const std::string& step) {
        return code_and_place([&] {
            return io::parse_tensor_schedule(
                io::Json::parse(R"({"tutti_tensor_schedule": 1, "program": "p", "steps": [)" + step + "]}"));
        });
    };
    CHECK(json(R"({"do": "turn"})") == std::pair<std::string, std::string>("transformation", "/steps/0"));
    CHECK(json(R"({"do": "split"})") == std::pair<std::string, std::string>("malformed", "/steps/0"));
    CHECK(json(R"({"do": "split", "op": 1})") ==
          std::pair<std::string, std::string>("malformed", "/steps/0/op"));
    CHECK(json(R"({"do": "fuse", "ops": ["a"], "hue": 1})").first == "malformed");
    CHECK(json("7").first == "malformed");
}

#include "io/tensor_json.hpp"

#include "core/error.hpp"
#include "io/json_text.hpp"
#include "tensor/refusal.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

using namespace tutti;

namespace {

/// The refusal of a program, or one without a code where it is accepted.
tensor::Refusal tensor_refusal(const std::string& text) {
    try {
        (void)test::tensor_program_of(text);
    } catch (const tensor::Refusal& refusal) {
        return refusal;
    }
    return {"", "accepted"};
}

std::string tensor_text(const std::string& values, const std::string& output = "z") {
    return R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 3]]}, "sizes": {"N": 7}, "values": [)" +
           values + R"(], "outputs": [")" + output + R"("]})";
}

}  // namespace

TEST_CASE("the programs of the set are read, and written as they were") {
    const std::vector<std::string> names = test::tensor_program_names();
    CHECK(names.size() == 7);
    for (const std::string& name : names) {
        INFO(name);
        const tensor::Program program = test::tensor_program(name);
        const io::Json written = io::write_tensor_program(program);
        const io::Json original = test::tensor_json("programs/" + name + ".json");
        // Fields may come in another order.
        CHECK(nlohmann::json::parse(written.dump()) == nlohmann::json::parse(original.dump()));
        CHECK(io::write_tensor_program(io::parse_tensor_program(written)) == written);
    }
}

TEST_CASE("ill-typed programs are refused with the code of the set, and the value at fault") {
    std::size_t lines = 0;
    for (const io::Json& line : test::tensor_lines("ill-typed.jsonl")) {
        ++lines;
        INFO(line.at("why").get<std::string>());
        const tensor::Refusal refusal = tensor_refusal(line.at("program").dump());
        CHECK(refusal.code() == line.at("code").get<std::string>());
        CHECK(refusal.value() != "");
        CHECK(refusal.place().starts_with("/values/"));
    }
    CHECK(lines == 17);
}

TEST_CASE("malformed programs are refused with code, value and place") {
    const std::string x = R"({"id": "x", "op": "input", "dtype": "f32", "shape": ["N"]})";
    struct Case {
        std::string values, code, value, place;
    };
    for (
        const auto& [values, code, value, place] : std::vector<Case>{
            {x + R"(, {"id": "z", "op": "neg", "args": ["z"]})", "order", "z", "/values/1"},
            {R"({"id": "z", "op": "neg", "args": ["y"]}, {"id": "y", "op": "neg", "args": ["z"]})", "order",
             "z", "/values/0"},
            {x + R"(, {"id": "z", "op": "neg", "args": ["nothing"]})", "name", "z", "/values/1/args/0"},
            {x + ", " + x, "name", "", "/values/1/id"},
            {x + R"(, {"id": "z", "op": "negg", "args": ["x"]})", "op", "z", "/values/1/op"},
            {x + R"(, {"id": "z", "op": "neg", "args": ["x", "x"]})", "arguments", "z", "/values/1"},
            {x + R"(, {"id": "z", "op": "neg", "args": ["x"], "dim": 1})", "attribute", "z", "/values/1"},
            {x + R"(, {"id": "z", "op": "neg", "args": ["x"], "hue": 1})", "malformed", "z", "/values/1"},
            {x + R"(, {"id": "z", "op": "all_reduce", "args": ["x"], "axes": ["a"]})", "attribute", "z",
             "/values/1"},
            {x + R"(, {"id": "z", "op": "all_reduce", "args": ["x"], "axes": [], "reduce": "sum"})", "axis",
             "z", "/values/1"},
            {x + R"(, {"id": "z", "op": "all_reduce", "args": ["x"], "axes": ["a"], "reduce": "mean"})",
             "reduction", "z", "/values/1"},
            {x + R"(, {"id": "z", "op": "reduce", "args": ["x"], "dims": ["0"], "reduce": "sum"})",
             "malformed", "z", "/values/1/dims/0"},
            {R"({"id": "z", "op": "input", "dtype": "f33", "shape": []})", "dtype", "z", "/values/0"},
            {R"({"id": "z", "op": "input", "dtype": "f32", "shape": ["M"]})", "size", "z",
             "/values/0/shape/0"},
            {R"({"id": "z", "op": "input", "dtype": "f32", "shape": [0]})", "malformed", "z",
             "/values/0/shape/0"},
            {R"({"id": "z", "op": "input", "dtype": "f32", "shape": [4294967296, 4294967296]})", "size", "z",
             "/values/0"},
            {R"({"id": "z", "op": "input", "dtype": "f32", "shape": [1e30]})", "malformed", "z",
             "/values/0/shape/0"},
            {R"({"id": "x", "op": "input", "dtype": "f32", "shape": [200000000000000000], "layout": {"a": "local"}},
                 {"id": "z", "op": "stack", "args": ["x"], "axis": "a", "dim": 0})",
             "size", "z", "/values/1"},
            {R"(7)", "malformed", "", "/values/0"},
        }) {
        const std::string text = tensor_text(values);
        INFO(text);
        const tensor::Refusal refusal = tensor_refusal(text);
        CHECK(refusal.code() == code);
        CHECK(refusal.value() == value);
        CHECK(refusal.place() == place);
    }
    CHECK(tensor_refusal(tensor_text(x)).code() == "name");  // an output that is not there
    CHECK(tensor_refusal(R"({"tutti_tensor": 2})").code() == "malformed");
    CHECK(tensor_refusal("[]").code() == "malformed");
    const std::string huge =
        R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 65536], ["b", 65536]]},
        "values": [], "outputs": ["z"]})";
    CHECK(tensor_refusal(huge).code() == "axis");
}

TEST_CASE("a transformed program is read back with kernels, overlaps and stored slices") {
    const std::string values =
        R"({"id": "g", "op": "input", "dtype": "f32", "shape": ["N"], "layout": {"a": "local"}},
           {"id": "m", "op": "input", "dtype": "f32", "shape": ["N"], "state": true, "layout": {"a": {"sliced": 0}}},
           {"id": "rs", "op": "reduce_scatter", "args": ["g"], "axes": ["a"], "reduce": "sum", "dim": 0},
           {"id": "p", "op": "mul", "args": ["rs", "m"]}, {"id": "q", "op": "add", "args": ["p", "m"]},
           {"id": "z", "op": "update", "args": ["m", "q"]})";
    const std::string rest =
        R"("fused": [{"name": "k", "values": ["p", "q", "z"]}], "overlaps": [{"chain": ["rs", "k"], "pieces": 4}],
           "resharded": {"m": {"a": {"sliced": 0}}}})";
    const std::string base = tensor_text(values);
    const std::string text = base.substr(0, base.size() - 1) + ", " + rest;
    const tensor::Program program = test::tensor_program_of(text);
    CHECK(program.fused().size() == 1);
    CHECK(program.overlaps().front().pieces == 4);
    CHECK(program.resharded().size() == 1);
    const io::Json written = io::write_tensor_program(program);
    CHECK(nlohmann::json::parse(written.dump()) == nlohmann::json::parse(text));
    // The layout that is named is the state's.
    std::string wrong = text;
    wrong.replace(wrong.rfind(R"({"sliced": 0})"), 13, R"("local")");
    CHECK(tensor_refusal(wrong).code() == "resharded");
}

TEST_CASE("a file's refusal names the file") {
    const std::string path = std::string("/nonexistent/program.json");
    CHECK_THROWS_AS((void)io::read_tensor_program(path), InputError);
}

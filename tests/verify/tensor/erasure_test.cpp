// The proof: its laws, the words it has for programs that differ, and mutants on which it and the field run
// must agree.

#include "verify/tensor/erasure.hpp"

#include "io/tensor_json.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/tensor_runs.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/equivalence.hpp"
#include "verify/tensor/field_numbers.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::test;
using tensor::Program;

namespace {

/// A program on a mesh of a (2) and b (3): x is local on both, y sliced on a, z replicated, s a state.
Program program(const std::string& values, const std::string& output = "out") {
    return tensor_program_of(R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 2], ["b", 3]]},
        "sizes": {"N": 12}, "values": [
        {"id": "x", "op": "input", "dtype": "f32", "shape": ["N", 6], "layout": {"a": "local", "b": "local"}},
        {"id": "y", "op": "input", "dtype": "f32", "shape": ["N", 6], "layout": {"a": {"sliced": 0}}},
        {"id": "z", "op": "input", "dtype": "f32", "shape": ["N", 6]},
        {"id": "s", "op": "input", "dtype": "f32", "shape": ["N", 6], "state": true},)" +
                             values + R"(], "outputs": [")" + output + R"("]})");
}

/// Both must be equal by the proof, or differ by it; the field run must see the same.
std::string code(const Program& original, const Program& changed) {
    const auto found = verify::parting(original, changed);
    INFO((found ? found->words : ""));
    const verify::RunReport report = verify::field_run(original, changed);
    CHECK(report.runs > 0);
    if (!found) CHECK_FALSE(report.difference.has_value());
    return found ? found->code : "";
}

std::string total(const char* op, const char* arg, const char* axes, const char* id, const char* more = "") {
    return fmt::format(R"({{"id": "{}", "op": "{}", "args": ["{}"], "axes": [{}]{}}})", id, op, arg, axes,
                       more);
}

const char* const kSum = R"(, "reduce": "sum")";

}  // namespace

TEST_CASE("placement vanishes: a gather of slices is nothing, and a scatter with a gather an all_reduce") {
    const Program whole = program(total("all_reduce", "x", R"("a", "b")", "out", kSum));
    CHECK(code(whole,
               program(total("reduce_scatter", "x", R"("a", "b")", "r", R"(, "reduce": "sum", "dim": 0)") +
                       "," + total("all_gather", "r", R"("a", "b")", "out"))) == "");
    CHECK(code(whole, program(total("reduce_to", "x", R"("a", "b")", "r", R"(, "reduce": "sum", "root": 0)") +
                              "," + total("broadcast_from", "r", R"("a", "b")", "out", R"(, "root": 0)"))) ==
          "");
    CHECK(code(whole, program(total("all_reduce", "x", R"("b")", "r", kSum) + "," +
                              total("all_reduce", "r", R"("a")", "out", kSum))) == "");
    CHECK(code(whole, program(total("all_reduce", "x", R"("a", "b")", "out", R"(, "reduce": "max")"))) ==
          "output");
    CHECK(code(whole, program(total("broadcast_from", "x", R"("a", "b")", "out", R"(, "root": 0)"))) ==
          "output");
    CHECK(code(whole, program(total("all_reduce", "x", R"("a")", "r", kSum) + "," +
                              total("broadcast_from", "r", R"("b")", "out", R"(, "root": 0)"))) == "output");
}

TEST_CASE("a total of partial results is the whole reduction, for the same reduction and all axes that cut") {
    const auto reduced = [](const std::string& arg, const std::string& id, const std::string& reduction) {
        return fmt::format(R"({{"id": "{}", "op": "reduce", "args": ["{}"], "dims": [0], "reduce": "{}"}})",
                           id, arg, reduction);
    };
    const std::string gathered = total("all_gather", "y", R"("a")", "g");
    const Program whole = program(gathered + "," + reduced("g", "out", "sum"));
    CHECK(code(whole, program(reduced("y", "r", "sum") + "," +
                              total("all_reduce", "r", R"("a")", "out", kSum))) == "");
    CHECK(code(whole, program(reduced("y", "r", "max") + "," +
                              total("all_reduce", "r", R"("a")", "out", kSum))) == "output");
    // The norm's all_reduce is forgotten: what is left is another value on every rank.
    const auto forgotten = verify::parting(whole, program(reduced("y", "out", "sum")));
    REQUIRE(forgotten.has_value());
    CHECK(forgotten->words.find("partial results") != std::string::npos);
    // Cut twice, added up from the finest on, or in one go.
    const std::string both = R"({"id": "c", "op": "slice", "args": ["y"], "axes": ["b"], "dim": 0})";
    const std::string partial = both + "," + reduced("c", "r", "sum");
    CHECK(code(whole, program(partial + "," + total("all_reduce", "r", R"("a", "b")", "out", kSum))) == "");
    CHECK(code(whole, program(partial + "," + total("all_reduce", "r", R"("b")", "q", kSum) + "," +
                              total("all_reduce", "q", R"("a")", "out", kSum))) == "");
    CHECK(code(whole, program(partial + "," + total("all_reduce", "r", R"("a")", "q", kSum) + "," +
                              total("all_reduce", "q", R"("b")", "out", kSum))) == "");
    // Added up over the coarse axis only, it is no partial result of the fine one.
    const Program by_b = program(R"({"id": "c", "op": "slice", "args": ["z"], "axes": ["b"], "dim": 0},)" +
                                 reduced("c", "out", "sum"));
    CHECK(code(by_b, program(partial + "," + total("all_reduce", "r", R"("a")", "out", kSum))) == "output");
    const Program by_a = program(reduced("y", "out", "sum"));
    CHECK(code(by_a, program(partial + "," + total("all_reduce", "r", R"("b")", "out", kSum))) == "");
}

TEST_CASE("a total over other axes than those that cut waits for its turn") {
    // x is local on a and b; in parts along b it is partial there and still local on a.
    const std::string sum = total("all_reduce", "x", R"("b")", "e", kSum);
    const auto reduced = [](const char* arg, const char* id) {
        return fmt::format(R"({{"id": "{}", "op": "reduce", "args": ["{}"], "dims": [0], "reduce": "sum"}})",
                           id, arg);
    };
    const std::string cut = sum + R"(,{"id": "c", "op": "slice", "args": ["e"], "axes": ["b"], "dim": 0},)" +
                            reduced("c", "r") + ",";
    const Program whole =
        program(sum + "," + reduced("e", "r") + "," + total("all_reduce", "r", R"("a")", "out", kSum));
    CHECK(code(whole, program(cut + total("all_reduce", "r", R"("a")", "q", kSum) + "," +
                              total("all_reduce", "q", R"("b")", "out", kSum))) == "");
    CHECK(code(whole, program(cut + total("all_reduce", "r", R"("a", "b")", "out", kSum))) == "");
    CHECK(code(whole, program(cut + total("all_reduce", "r", R"("a")", "out", kSum))) == "output");
}

TEST_CASE("a shift moves inside totals over other axes, and operands of a sum have no order") {
    const auto shifted = [](const char* arg, const char* id, int by) {
        return fmt::format(R"({{"id": "{}", "op": "shift", "args": ["{}"], "axis": "a", "by": {}}})", id, arg,
                           by);
    };
    const Program first =
        program(total("all_reduce", "x", R"("b")", "r", kSum) + "," + shifted("r", "out", 1));
    CHECK(code(first,
               program(shifted("x", "r", 1) + "," + total("all_reduce", "r", R"("b")", "out", kSum))) == "");
    CHECK(code(first, program(shifted("x", "r", -1) + "," +
                              total("all_reduce", "r", R"("b")", "out", kSum))) == "output");
    const auto binary = [](const char* op, const char* a, const char* b) {
        return program(fmt::format(R"({{"id": "out", "op": "{}", "args": ["{}", "{}"]}})", op, a, b));
    };
    CHECK(code(binary("add", "x", "z"), binary("add", "z", "x")) == "");
    CHECK(code(binary("sub", "x", "z"), binary("sub", "z", "x")) == "output");
    const auto product = [](const char* spec, const char* a, const char* b) {
        return program(fmt::format(R"({{"id": "out", "op": "einsum", "args": ["{}", "{}"], "spec": "{}"}})",
                                   a, b, spec));
    };
    CHECK(code(product("bk,ck->bc", "y", "z"), product("dk,bk->bd", "z", "y")) == "");
    CHECK(code(product("bk,ck->bc", "y", "z"), product("bk,ck->cb", "z", "z")) == "output");
}

TEST_CASE("shapes of constants and the numbers of named sizes count, broadcasts that happen anyway do not") {
    const auto summed = [](const std::string& shape) {
        return program(fmt::format(
            R"({{"id": "c", "op": "constant", "dtype": "f32", "value": 2, "shape": {}}},
               {{"id": "out", "op": "reduce", "args": ["c"], "dims": [0], "reduce": "sum"}})",
            shape));
    };
    CHECK(code(summed("[4]"), summed("[5]")) == "output");
    CHECK(code(summed(R"(["N"])"), summed("[12]")) == "output");  // only now are they equal
    tensor::ProgramParts parts = summed(R"(["N"])").parts();
    parts.sizes.at("N") = 24;
    for (tensor::Value& value : parts.values) {
        for (tensor::Size& size : value.shape) size.size = size.name.empty() ? size.size : 24;
    }
    const auto other = verify::parting(summed(R"(["N"])"), Program(parts));
    REQUIRE(other.has_value());
    CHECK(other->code == "size");
    // mul broadcasts by itself, from the right; what gives the result its shape stays.
    const auto product = [](const std::string& values, const char* arg) {
        return program(values + fmt::format(R"(,{{"id": "out", "op": "mul", "args": ["{}", "z"]}})", arg));
    };
    const std::string scalar = R"({"id": "c", "op": "constant", "dtype": "f32", "value": 2})";
    const std::string shaped =
        R"({"id": "c", "op": "constant", "dtype": "f32", "value": 2, "shape": ["N", 6]})";
    const std::string wide = scalar + R"(,{"id": "b", "op": "broadcast", "args": ["c"], "shape": ["N", 6]})";
    const std::string wider =
        scalar + R"(,{"id": "b", "op": "broadcast", "args": ["c"], "shape": [2, "N", 6]})";
    CHECK(code(product(scalar, "c"), product(shaped, "c")) == "");
    CHECK(code(product(scalar, "c"), product(wide, "b")) == "");
    CHECK(code(product(shaped, "c"),
               product(wide + R"(,{"id": "p", "op": "slice", "args": ["b"], "axes": ["a"], "dim": 0})" + "," +
                           total("all_gather", "p", R"("a")", "g"),
                       "g")) == "");
    CHECK(code(product(scalar, "c"), product(wider, "b")) == "output");
    const std::string row = R"({"id": "r", "op": "reduce", "args": ["z"], "dims": [0], "reduce": "sum"})";
    CHECK(code(product(row, "r"),
               product(row + R"(,{"id": "b", "op": "broadcast", "args": ["r"], "shape": ["N", 6]})", "b")) ==
          "");
}

TEST_CASE("inputs, layouts and states must stay what they are") {
    const std::string update = R"({"id": "n", "op": "neg", "args": ["s"]},
                                  {"id": "out", "op": "update", "args": ["s", "n"]})";
    const Program updates = program(update);
    CHECK(code(updates, program(R"({"id": "out", "op": "neg", "args": ["s"]})")) == "state");
    CHECK(code(program(R"({"id": "out", "op": "neg", "args": ["s"]})"), updates) == "state");
    const std::string side = R"({"id": "n", "op": "neg", "args": ["s"]},)";
    CHECK(code(program(side + R"({"id": "u", "op": "update", "args": ["s", "n"]},
                                 {"id": "out", "op": "abs", "args": ["z"]})"),
               program(R"({"id": "out", "op": "abs", "args": ["z"]})")) == "state");
    CHECK(code(program(R"({"id": "out", "op": "neg", "args": ["z"]})"),
               program(R"({"id": "c", "op": "slice", "args": ["z"], "axes": ["a"], "dim": 0},
                          {"id": "out", "op": "neg", "args": ["c"]})")) == "layout");
}

TEST_CASE("where two programs part, output, value and both sides are named") {
    const Program adam = tensor_program("adam");
    tensor::ProgramParts parts = adam.parts();
    for (tensor::Value& value : parts.values) {
        if (value.name == "mul5") value.op = tensor::Op::Add;
    }
    const verify::Equivalence verdict = verify::equivalence(adam, Program(parts));
    CHECK_FALSE(verdict.equivalent);
    REQUIRE(verdict.parting.has_value());
    CHECK(verdict.parting->output == "w_out");
    CHECK(verdict.parting->subterm == "mul5");
    CHECK(verdict.parting->words ==
          "where the original has 'mul5' (mul of 'c5' and 'mul4'), this has 'mul5' (add of "
          "'c5' and 'mul4')");
    REQUIRE(verdict.example.has_value());
    CHECK(verdict.example->difference.has_value());
}

TEST_CASE("of mutants none is accepted wrongly and next to none refused wrongly") {
    std::vector<Program> programs;
    for (const std::string& name : tensor_program_names()) programs.push_back(tensor_program(name));
    std::size_t judged = 0, accepted = 0, refused_wrongly = 0;
    for_seeds(cases(3000), [&](Rng& rng, std::uint64_t) {
        const Program& original = programs[rng.below(programs.size())];
        const auto mutant = random_mutant(original, rng);
        if (!mutant) return;
        const bool proven = !verify::parting(original, *mutant);
        verify::RunReport report;
        try {
            report = verify::field_run(original, *mutant);
        } catch (const InputError&) {
            CHECK_FALSE(proven);  // an input of another shape
            return;
        }
        if (report.runs == 0) return;
        ++judged;
        const bool equal = !report.difference;
        INFO(original.name());
        INFO(io::json_line(io::write_tensor_program(*mutant)));
        if (proven) CHECK(equal);
        accepted += proven ? 1 : 0;
        if (proven || !equal) return;
        // Another layout of an input or output changes no number, but is not what the caller asked for.
        const auto why = verify::parting(original, *mutant);
        if (why->code == "layout" || why->code == "input") return;
        ++refused_wrongly;
        MESSAGE(original.name(), ": ", why->subterm, ": ", why->words);
    });
    MESSAGE(judged, " mutants judged, ", accepted, " equal, ", refused_wrongly, " equal and refused");
    CHECK(judged > 0);
    CHECK(refused_wrongly <= 1 + judged / 1000);
}

TEST_CASE("a program of ten thousand values is proven equal to itself, whatever its names") {
    tensor::ProgramParts parts = tensor_program("adam").parts();
    const std::size_t base = parts.values.size();
    for (std::size_t i = base; i < 10'000; ++i) {
        tensor::Value value = parts.values[10 + i % 3];
        value = {};
        value.op = tensor::Op::Mul;
        value.name = fmt::format("v{}", i);
        value.args = {tensor::ValueId(i == base ? 0 : i - 1), tensor::ValueId(i == base ? 0 : i - 1)};
        parts.values.push_back(value);
    }
    parts.outputs.push_back(tensor::ValueId(parts.values.size() - 1));
    const Program one(parts);
    parts.values[base + 5'000].name = "another";
    CHECK(verify::equivalence(one, Program(parts)).equivalent);
    parts.values[base + 5'000].op = tensor::Op::Add;
    const auto found = verify::parting(one, Program(parts));
    REQUIRE(found.has_value());
    CHECK(found->subterm == "another");
}

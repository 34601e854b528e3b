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

TEST_CASE("an operation on broadcasts is a broadcast of the operation, with the shape that it has") {
    // q is of rank 0, n of rank 1; whatever way c is broadcast, so is what is made of it.
    const std::string base = R"({"id": "q", "op": "reduce", "args": ["z"], "dims": [0, 1], "reduce": "sum"},
        {"id": "n", "op": "reduce", "args": ["z"], "dims": [0], "reduce": "sum"},
        {"id": "c", "op": "constant", "dtype": "f32", "value": 2, "shape": )";
    const auto made = [&](const char* shape, const std::string& values) {
        return program(base + shape + "}," + values);
    };
    const std::string power = R"({"id": "p", "op": "pow", "args": ["c", "q"]},
                                 {"id": "e", "op": "exp", "args": ["p"]},)";
    const std::string times_z = power + R"({"id": "out", "op": "mul", "args": ["e", "z"]})";
    const Program scalars = made("[]", times_z);
    for (const char* shape : {"[1]", "[6]", "[1, 1]", R"(["N", 6])", R"(["N", 1])"})
        CHECK(code(scalars, made(shape, times_z)) == "");
    for (const char* shape : {R"([1, "N", 6])", R"([2, "N", 6])"})
        CHECK(code(scalars, made(shape, times_z)) == "output");
    // Where the result's own shape hangs on it, it counts.
    const std::vector<std::string> ends{
        R"({"id": "out", "op": "add", "args": ["e", "q"]})",
        R"({"id": "out", "op": "reduce", "args": ["e"], "dims": [0], "reduce": "sum"})",
        R"({"id": "out", "op": "einsum", "args": ["e", "n"], "spec": "a,b->b"})",
        R"({"id": "f", "op": "add", "args": ["e", "n"]},
           {"id": "out", "op": "reduce", "args": ["f"], "dims": [0], "reduce": "sum"})",
    };
    CHECK(code(made("[]", power + ends[0]), made("[1]", power + ends[0])) == "output");
    CHECK(code(made("[1]", power + ends[0]), made("[1]", power + ends[0])) == "");
    for (const std::string& end : {ends[1], ends[2]}) {
        CHECK(code(made("[4]", power + end), made("[5]", power + end)) == "output");
        CHECK(code(made("[4]", power + end), made("[1]", power + end)) == "output");
    }
    CHECK(code(made("[1]", power + ends[3]), made("[6]", power + ends[3])) == "");
    // A sum over what is broadcast counts it as often as it is there.
    CHECK(code(made("[6]", power + ends[3]), made("[2, 6]", power + ends[3])) == "output");
    // A product of a column and a row is no product of the row.
    const std::string outer = R"({"id": "o", "op": "mul", "args": ["c", "n"]},
                                 {"id": "out", "op": "reduce", "args": ["o"], "dims": [0], "reduce": "sum"})";
    CHECK(code(made("[4, 1]", outer), made("[5, 1]", outer)) == "output");
    CHECK(code(made("[4, 1]", outer), made("[4, 6]", outer)) == "");
}

TEST_CASE("slices that are exchanged keep their sizes, values of each rank's own do not") {
    const auto made = [](const char* arg, const char* split_and_concat, const char* shape) {
        return program(fmt::format(
            R"({{"id": "t", "op": "all_to_all", "args": ["{}"], "axis": "a", {}}},
               {{"id": "c", "op": "constant", "dtype": "f32", "value": 2, "shape": {}}},
               {{"id": "out", "op": "mul", "args": ["t", "c"]}})",
            arg, split_and_concat, shape));
    };
    const char* const slices = R"("split": 1, "concat": 0)";
    CHECK(code(made("y", slices, "[]"), made("y", slices, "[1]")) == "");
    CHECK(code(made("y", slices, "[]"), made("y", slices, "[6]")) == "");
    CHECK(code(made("y", slices, "[]"), made("y", slices, R"([2, "N", 6])")) == "output");
    // 12 x 6 become 6 x 12 on two ranks: a constant of the old shape would not even do.
    const char* const own = R"("split": 0, "concat": 1)";
    CHECK(code(made("x", own, "[]"), made("x", own, "[]")) == "");
    CHECK(code(made("x", own, "[]"), made("x", own, "[2, 6, 12]")) == "output");
}

TEST_CASE("dimensions of size 1 in front are a broadcast, others are not") {
    const auto normed = [](const std::string& reduce, const std::string& more = "") {
        return program(R"({"id": "r", "op": "reduce", "args": ["z"], "reduce": "sum", )" + reduce + "}," +
                       more + R"({"id": "out", "op": "div", "args": ["z", ")" + (more.empty() ? "r" : "m") +
                       R"("]})");
    };
    const auto reshaped = [&](const char* shape) {
        return normed(R"("dims": [0])",
                      fmt::format(R"({{"id": "m", "op": "reshape", "args": ["r"], "shape": {}}},)", shape));
    };
    const Program rows = normed(R"("dims": [0])");
    CHECK(code(rows, normed(R"("dims": [0], "keepdims": true)")) == "");
    CHECK(code(rows, reshaped("[1, 6]")) == "");
    CHECK(code(rows, reshaped("[6]")) == "");
    const Program all = normed(R"("dims": [0, 1])");
    CHECK(code(all, normed(R"("dims": [1, 0], "keepdims": true)")) == "");
    CHECK(code(all, normed(R"("dims": [0], "keepdims": true)")) == "output");
    CHECK(code(all, normed(R"("dims": [1], "keepdims": true)")) == "output");
    // A kept column is not a row, though both have as many elements where N is 6.
    const auto square = [](const std::string& reduce) {
        return tensor_program_of(
            R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 2]]}, "values": [
                {"id": "z", "op": "input", "dtype": "f32", "shape": [6, 6]},
                {"id": "r", "op": "reduce", "args": ["z"], "reduce": "sum", )" +
            reduce + R"(}, {"id": "out", "op": "div", "args": ["z", "r"]}], "outputs": ["out"]})");
    };
    CHECK(code(square(R"("dims": [1])"), square(R"("dims": [1], "keepdims": true)")) == "output");
    CHECK(code(square(R"("dims": [0])"), square(R"("dims": [0], "keepdims": true)")) == "");
    // What the caller gets has the shape that it had.
    const auto kept = [](const char* keeps) {
        return program(fmt::format(
            R"({{"id": "out", "op": "reduce", "args": ["z"], "dims": [0], "reduce": "sum", "keepdims": {}}})",
            keeps));
    };
    CHECK(code(kept("false"), kept("true")) == "output");
}

TEST_CASE("ranks may exchange what is broadcast before it is") {
    const std::string wide = R"("shape": ["N", 6])";
    const auto broadcast = [&](const char* arg, const char* id) {
        return fmt::format(R"({{"id": "{}", "op": "broadcast", "args": ["{}"], {}}})", id, arg, wide);
    };
    const auto row = [](const char* arg) {
        return fmt::format(R"({{"id": "r", "op": "reduce", "args": ["{}"], "dims": [0], "reduce": "sum"}},)",
                           arg);
    };
    const std::string more[] = {R"(, "reduce": "sum")", R"(, "root": 1)"};
    const char* const ops[] = {"all_reduce", "broadcast_from"};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto call = [&](const char* arg, const char* id) {
            return total(ops[i], arg, R"("b")", id, more[i].c_str());
        };
        CHECK(code(program(row("x") + broadcast("r", "w") + "," + call("w", "out")),
                   program(row("x") + call("r", "e") + "," + broadcast("e", "out"))) == "");
        CHECK(code(program(row("x") + broadcast("r", "w") + "," + call("w", "out")),
                   program(row("x") + call("r", "out"))) == "output");
    }
    const auto shift = [](const char* arg, const char* id) {
        return fmt::format(R"({{"id": "{}", "op": "shift", "args": ["{}"], "axis": "a", "by": 1}})", id, arg);
    };
    CHECK(code(program(row("x") + broadcast("r", "w") + "," + shift("w", "out")),
               program(row("x") + shift("r", "e") + "," + broadcast("e", "out"))) == "");
    // Partial results that are broadcast are still partial.
    const Program whole =
        program(total("all_gather", "y", R"("a")", "g") + "," + row("g") + broadcast("r", "out"));
    CHECK(code(whole, program(row("y") + broadcast("r", "w") + "," +
                              total("all_reduce", "w", R"("a")", "out", kSum))) == "");
    CHECK(code(whole, program(row("y") + broadcast("r", "out"))) == "output");
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

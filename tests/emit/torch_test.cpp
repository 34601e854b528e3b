#include "emit/torch.hpp"
#include "emit/pieces.hpp"
#include "emit/python_text.hpp"
#include "tensor/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

// What the text does is held by tests/torch, where there is PyTorch; here: what is in it and what is not.

namespace tutti::tensor {
namespace {

/// mm, its all_reduce, and a pointwise value behind it, all of them in an overlap.
Program overlapped(std::int64_t rows, std::int64_t columns, std::int64_t pieces) {
    Builder b("block", {{"tensor", 3}});
    const Expr x = b.input("x", {rows, 6}, DType::F32, {{"tensor", Layout::sliced(1)}});
    const Expr w = b.input("w", {6, columns}, DType::F32, {{"tensor", Layout::sliced(0)}});
    const Expr mm = b.einsum("bk,kh->bh", {x, w}).named("mm");
    const Expr sum = mm.all_reduce("tensor").named("sum");
    b.output((sum * 2.0).named("out"));
    ProgramParts parts = b.program().parts();
    parts.overlaps = {{{"mm", "sum", "out"}, pieces}};
    return Program(parts);
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("an overlap becomes a loop in which a collective is used a turn after it was issued") {
    const Program program = overlapped(8, 12, 4);
    const Kernels kernels(program);
    const auto plan = emit::piece_plan(program, kernels, program.overlaps().front());
    REQUIRE(plan);
    CHECK(plan->pieces == 4);
    CHECK(plan->piece == 2);
    CHECK(plan->axes.empty());
    REQUIRE(plan->levels.size() == 2);
    CHECK(plan->level.at(*program.find("mm")) == 0);
    CHECK(plan->level.at(*program.find("sum")) == 0);
    CHECK(plan->level.at(*program.find("out")) == 1);
    CHECK(plan->dim.at(*program.find("mm")) == 0);
    const std::string text = emit::torch_module(program);
    CHECK(has(text, "for turn in range(5):"));
    CHECK(has(text, "if turn < 4:"));
    CHECK(has(text, "if 1 <= turn < 5:"));
}

TEST_CASE("pieces that do not divide: the last is shorter, and there are no empty ones") {
    const Program program = overlapped(9, 12, 4);
    const auto plan = emit::piece_plan(program, Kernels(program), program.overlaps().front());
    REQUIRE(plan);
    CHECK(plan->piece == 3);
    CHECK(plan->pieces == 3);
}

TEST_CASE("a dimension of one element that a reshape adds is not the one that is cut") {
    ProgramParts parts = overlapped(8, 12, 4).parts();
    Value row;
    row.name = "row";
    row.op = Op::Reshape;
    row.args = parts.outputs;
    row.shape = {{1, {}}, {8, {}}, {12, {}}};
    parts.outputs = {ValueId(parts.values.size())};
    parts.values.push_back(row);
    parts.overlaps = {{{"mm", "sum", "out", "row"}, 4}};
    const Program program(parts);
    const auto plan = emit::piece_plan(program, Kernels(program), program.overlaps().front());
    REQUIRE(plan);
    CHECK(plan->pieces == 4);
    CHECK(plan->dim.at(*program.find("mm")) == 0);
    CHECK(plan->dim.at(*program.find("row")) == 1);
}

TEST_CASE("an all_to_all has no pieces along the dimensions that it exchanges") {
    const auto plan = [](std::int64_t size) {
        Builder b("exchange", {{"expert", 2}});
        const Expr x = b.input("x", {4, 6, size}, DType::F32, {{"expert", Layout::local()}});
        b.output((x.all_to_all("expert", 0, 1).named("here") * 2.0).named("out"));
        ProgramParts parts = b.program().parts();
        parts.overlaps = {{{"here", "out"}, 2}};
        const Program program(parts);
        return emit::piece_plan(program, Kernels(program), program.overlaps().front());
    };
    REQUIRE(plan(8));
    CHECK(plan(8)->pieces == 2);
    CHECK(plan(8)->dim.begin()->second == 2);
    CHECK(plan(1)->pieces == 1);  // along the one that is left
}

TEST_CASE("nothing is padded where sizes divide, and everything is where they do not") {
    const auto module = [](std::int64_t size) {
        Builder b("gathered", {{"data", 4}});
        const Expr g = b.input("g", {size}, DType::F32, {{"data", Layout::local()}});
        b.output(g.reduce_scatter({"data"}, 0).all_gather({"data"}));
        return emit::torch_module(b.program());
    };
    CHECK_FALSE(has(module(1000), "_spread("));
    CHECK_FALSE(has(module(1000), "narrow(0, 0, "));
    CHECK(has(module(1003), "_spread(g, 0, ((4, 251),))"));
    CHECK(has(module(1003), "_unspread("));
}

TEST_CASE("an output that is made where it is read is made before the results are listed") {
    Builder b("ones", {{"data", 2}});
    Value ones;
    ones.name = "ones";
    ones.op = Op::Constant;
    ones.shape = {{3, {}}};
    ones.number = 1;
    b.output(b.add(ones));
    const std::string text = emit::torch_module(b.program());
    CHECK(has(text,
              "    ones = torch.full((3,), 1, dtype=f32, device=device)\n    return {\n        \"ones\": "
              "_done(ones),\n"));
}

TEST_CASE("truth values and words are computed as their types are, which PyTorch does otherwise") {
    Builder b("types", {{"data", 2}});
    const Expr x = b.input("x", {4}, DType::Bool, {{"data", Layout::local()}});
    const Expr w = b.input("w", {4}, DType::U32, {{"data", Layout::local()}});
    const Expr i = b.input("i", {4}, DType::I32);
    b.output((-x - x).named("other").all_reduce("data").named("any"));
    b.output(w.all_reduce("data").named("sum"));
    b.output((i / i).named("one"));
    const std::string text = emit::torch_module(b.program());
    CHECK(has(text, " ^ x\n"));
    CHECK(has(text, "funcol.all_reduce(other.to(torch.uint8), \"max\", groups[\"data\"]).to(torch.bool)"));
    CHECK(has(text, "sum = (funcol.all_reduce(w, \"sum\", groups[\"data\"])) & 0xFFFFFFFF"));
    CHECK(has(text, "one = _quotient(i, i)"));
}

TEST_CASE("names are what Python takes, each its own, and nothing in them is code") {
    Builder b("name\"\"\"\nimport os", {{"a\"b", 2}});
    const Expr x = b.input("lambda", {2}), y = b.input("x.1", {2}), z = b.input("x-1", {2});
    b.output((x + y).named("out\nput\\"));
    b.output(y + z);
    const std::string text = emit::torch_module(b.program());
    CHECK(has(text, "lambda_2 = _input(inputs, \"lambda\""));
    CHECK(has(text, "x_1 = _input(inputs, \"x.1\""));
    CHECK(has(text, "x_1_2 = _input(inputs, \"x-1\""));
    CHECK(has(text, "NAME = \"name\\\"\\\"\\\"\\x0aimport os\""));
    CHECK(has(text, "\"out\\x0aput\\\\\": _done(out_put_)"));
    CHECK(emit::python_string("\x7f") == "\"\\x7f\"");
    CHECK(emit::python_number(std::numeric_limits<double>::infinity()) == "float(\"inf\")");
}

}  // namespace tutti::tensor

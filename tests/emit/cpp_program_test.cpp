#include "emit/cpp_program.hpp"
#include "emit/cpp_names.hpp"
#include "tensor/builder.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

// What the programs compute is held by tests/emit/cpp, where a compiler is; here: what is in the text and
// what is not.

namespace tutti::tensor {
namespace {

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("pointwise values of a kernel are one loop, and what only it reads is never in memory") {
    Builder b("step", {{"data", 2}});
    const Expr x = b.input("x", {8}, DType::F32, {{"data", Layout::sliced(0)}});
    const Expr twice = (x * 2.0).named("twice");
    b.output((twice + x).named("out"));
    const Program plain = b.program();
    ProgramParts parts = plain.parts();
    parts.fused = {{"both", {*plain.find("twice"), *plain.find("out")}}};
    const std::string text = emit::cpp_program(Program(parts));
    CHECK(has(text, "// one kernel: both"));
    CHECK(has(text, "Array<f32> out_2(rank.local(Type{{8}, {0}}));"));  // `out` is what a step returns
    CHECK_FALSE(has(text, "Array<f32> twice("));
    CHECK(has(text, "const f32 twice = f32(x0_[j_ * s0_] * f32(2.0));"));
    CHECK(text.find("for (Rows") == text.rfind("for (Rows"));
}

TEST_CASE("names are what C++ takes, each its own, and nothing in them is code") {
    Builder b("name\nint evil;\\", {{"a\"b", 2}});
    const Expr x = b.input("template", {2}), y = b.input("x.1", {2}), z = b.input("x-1", {2}),
               w = b.input("__w__", {2});
    b.output((x + y).named("ou\"t\n\\"));
    b.output(z + w);
    const std::string text = emit::cpp_program(b.program());
    CHECK(has(text, "// A tensor program: name?int evil;?. Written"));
    CHECK(has(text, "{\"a\\\"b\", 2}"));
    CHECK(has(text, "Array<f32> template_2;"));
    CHECK(has(text, "Array<f32> x_1;"));
    CHECK(has(text, "Array<f32> x_1_2;"));
    CHECK(has(text, "Array<f32> v_w;"));
    CHECK(has(text, "files.output(rank, \"ou\\\"t\\012\\\\\","));
    CHECK(emit::cpp_number(std::numeric_limits<double>::infinity()) == "HUGE_VAL");
    CHECK(emit::cpp_number(3) == "3.0");
}

TEST_CASE("a state that is not read is no name in the step") {
    Builder b("states", {{"data", 2}});
    const Expr x = b.input("x", {2});
    b.update(b.state("s", {2}), x * 2.0);
    const std::string text = emit::cpp_program(b.program());
    CHECK(has(text, "const auto& x = in.x;"));
    CHECK_FALSE(has(text, "const auto& s = in.s;"));
    CHECK(has(text, "Array<f32> s;"));
}

TEST_CASE("a value that is two outputs is returned once") {
    Builder b("twice", {{"data", 2}});
    const Expr y = (b.input("x", {2}) * 2.0).named("y");
    b.output(y);
    ProgramParts parts = b.program().parts();
    parts.outputs.push_back(parts.outputs.front());
    const std::string text = emit::cpp_program(Program(parts));
    CHECK(has(text, "struct Outputs {\n    Array<f32> y;\n};"));
}

TEST_CASE("truth values, whole numbers and casts to halves are what their types say") {
    Builder b("types", {{"data", 2}});
    const Expr x = b.input("x", {2}, DType::Bool), i = b.input("i", {2}, DType::I32);
    const Expr w = b.input("w", {2}, DType::U32), d = b.input("d", {2}, DType::F64);
    b.output((-x + x).named("either"));
    b.output((i / i).named("one"));
    b.output(b.apply(Op::Pow, {i, i}).named("power"));
    b.output(b.apply(Op::Abs, {w}).named("same"));
    b.output(d.cast(DType::BF16).named("rounded"));
    const std::string text = emit::cpp_program(b.program());
    CHECK(has(text, " = truth(x0_[j_ * s0_]);"));
    CHECK(has(text, "const truth either = truth(x0_[j_ * s0_] || x1_[j_ * s1_]);"));
    CHECK(has(text, "const i32 one = i32(quotient(x0_[j_ * s0_], x0_[j_ * s0_]));"));
    CHECK(has(text, "const i32 power_2 = i32(power(x0_[j_ * s0_], x0_[j_ * s0_]));"));
    CHECK(has(text, "const u32 same = u32(x0_[j_ * s0_]);"));
    CHECK(has(text, "const bf16 rounded = rounded_bf16(bf16(x0_[j_ * s0_]));"));
}

TEST_CASE("what the text itself names is no value's name, and a constant can be an output") {
    Builder b("names", {{"data", 2}});
    const Expr x = b.input("x", {2}), y = (x * x).named("x0"), z = (y + x).named("j"), c = b.constant(0.25);
    b.output((z * y).named("s0"));
    b.output(c.named("c"));
    ProgramParts parts = b.program().parts();
    parts.fused = {{"all", {}}};
    for (std::size_t i = 0; i < parts.values.size(); ++i)
        if (is_pointwise(parts.values[i].op)) parts.fused.front().values.emplace_back(i);
    const std::string text = emit::cpp_program(Program(parts));
    CHECK(has(text, "const f32* const x0_ = "));
    CHECK(has(text, "const f32 x0 = f32(x0_[j_ * s0_] * x0_[j_ * s0_]);"));
    CHECK(has(text, "const f32 j = f32(x0 + x0_[j_ * s0_]);"));
    CHECK(has(text, "to_s0_[j_] = s0;"));
    CHECK(has(text, "out.c = Array<f32>(rank.local(Type{{}, {kReplicated}}), f32(0.25));"));
}

}  // namespace tutti::tensor

#include "emit/cuda_program.hpp"
#include "core/error.hpp"
#include "tensor/builder.hpp"

#include <doctest/doctest.h>

#include <string>

// What the programs compute is held by tests/emit/cuda, where a compiler is; here: what is in the text and
// what is refused.

namespace tutti::tensor {
namespace {

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& words) {
    std::size_t times = 0;
    for (std::size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
    return times;
}

}  // namespace

TEST_CASE("a fused kernel is one kernel of the GPU, with its random numbers and its reductions") {
    Builder b("step", {{"data", 2}});
    const Expr x = b.input("x", {8, 4}, DType::F16, {{"data", Layout::sliced(0)}});
    const Expr mask = b.uniform({8, 4}, 7, DType::F16).named("mask");
    const Expr kept = (x * mask).named("kept");
    b.output((kept + x).named("y"));
    b.output(kept.reduce(Reduction::Sum, {1}).named("rows"));
    const Program plain = b.program();
    ProgramParts parts = plain.parts();
    parts.fused = {{"both", {*plain.find("kept"), *plain.find("y"), *plain.find("rows")}}};
    const std::string text = emit::cuda_program(Program(parts));
    CHECK(count(text, "__global__") == 1);
    CHECK(has(text,
              "__global__ void both_kernel(const Sweep sweep_, const View<const stored_f16> in_0_, const "
              "Numbering in_1_, stored_f16* const to_y_, f16* const all_rows_)"));
    CHECK(
        has(text, "const f16 x_1_ = rounded_f16(f16(philox(static_cast<std::uint64_t>(in_1_[i_]), 7ULL)));"));
    CHECK(has(text,
              "rank.sweep(both_kernel, rank.local(Type{{8, 4}, {0}}), {1}, x, "
              "rank.numbering(Type{{8, 4}, {0}}), Made{y}, Total{rows, Reduction::sum});"));
    CHECK_FALSE(has(text, "to_kept_"));
    CHECK_FALSE(has(text, "rank.uniform"));
}

TEST_CASE("an overlap is a loop over pieces in which a later kernel works on an earlier piece") {
    Builder b("step", {{"data", 2}});
    const Expr x = b.input("x", {24, 4}, DType::F32, {{"data", Layout::local()}});
    const Expr sum = (x * 2.0).named("twice").all_reduce("data").named("sum");
    b.output((sum + 1.0).named("y"));
    ProgramParts parts = b.program().parts();
    parts.overlaps = {{{"twice", "sum", "y"}, 3}};
    const std::string text = emit::cuda_program(Program(parts));
    CHECK(has(text, "const Pieces cut_{{}, 24, 8, 3};"));
    CHECK(has(text, "for (Size turn_ = 0; turn_ < 4; ++turn_) {"));
    CHECK(has(text, "if (const Size p_ = turn_; p_ < 3) {"));
    CHECK(has(text, "rank.piece(kCompute, x, Type{{24, 4}, {kLocal}}, 0, cut_, p_)"));
    CHECK(has(text, "sum_pieces_[p_] = rank.all_reduce(twice_pieces_[p_], {0}, Reduction::sum);"));
    CHECK(has(text, "if (const Size p_ = turn_ - 1; p_ >= 0 && p_ < 3) {"));
    CHECK(has(text, "rank.put(y, y_pieces_[p_], Type{{24, 4}, {kReplicated}}, 0, cut_, p_);"));
}

TEST_CASE("random numbers of a fused kernel are there before its pieces") {
    Builder b("step", {{"data", 2}});
    const Expr drawn = b.uniform({8}, 7).named("drawn");
    const Expr x = b.input("x", {8}, DType::F32, {{"data", Layout::local()}});
    b.output((drawn * x).named("y").all_reduce("data").named("sum"));
    ProgramParts parts = b.program().parts();
    parts.fused = {{"both", {*b.program().find("drawn"), *b.program().find("y")}}};
    parts.overlaps = {{{"both", "sum"}, 2}};
    const std::string text = emit::cuda_program(Program(parts));
    CHECK(has(text, "const auto drawn = rank.uniform<f32>(Type{{8}, {kReplicated}}, 7ULL);"));
    CHECK(text.find("const auto drawn") < text.find("for (Size turn_"));
}

TEST_CASE("a collective that needs another is not in one call with it") {
    Builder b("step", {{"data", 2}});
    const Expr x = b.input("x", {4}, DType::F32, {{"data", Layout::local()}});
    const Expr y = b.input("y", {4}, DType::F32, {{"data", Layout::local()}});
    const Expr mine = x.reduce_scatter({"data"}, 0).named("mine"), sum = y.all_reduce("data").named("sum");
    b.output(mine.all_gather({"data"}).named("all"));
    b.output(sum);
    ProgramParts parts = b.program().parts();
    parts.fused = {{"both", {}}};
    for (const char* name : {"mine", "sum", "all"})
        parts.fused.front().values.push_back(*b.program().find(name));
    const std::string text = emit::cuda_program(Program(parts));
    const auto at = [&](const char* words) { return text.find(words); };
    CHECK(at("rank.begin_group();") < at("rank.reduce_scatter("));
    CHECK(at("rank.reduce_scatter(") < at("rank.all_reduce("));
    CHECK(at("rank.all_reduce(") < at("rank.end_group();"));
    CHECK(at("rank.end_group();") < at("rank.all_gather("));
    CHECK(at("rank.all_gather(") != std::string::npos);
}

TEST_CASE("what CUDA programs cannot express is refused by name") {
    Builder wide("wide", {{"data", 1}});
    wide.output((wide.input("x", {1, 1, 1, 1, 1, 1, 1, 1, 2}) * 2.0).named("nine"));
    CHECK_THROWS_WITH_AS((void)emit::cuda_program(wide.program()),
                         "x has 9 dimensions: --to cuda writes tensors of at most 8", InputError);
    Builder many("many", {{"data", 1}});
    const Expr x = many.input("x", {2});
    many.output(many.einsum("a,b,c,d,e->ab", {x, x, x, x, x}).named("five"));
    CHECK_THROWS_WITH_AS((void)emit::cuda_program(many.program()),
                         "five is an einsum of 5 operands: --to cuda writes at most 4", InputError);
}

}  // namespace tutti::tensor

// Single cases of the rules; verify/tensor has the test that runs every operation with every layout.

#include "tensor/infer.hpp"

#include "tensor/builder.hpp"
#include "tensor/kernels.hpp"
#include "tensor/parts.hpp"
#include "tensor/philox.hpp"
#include "tensor/refusal.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::tensor;

namespace {

/// A mesh of two axes, a and b, of 2 and 3 ranks.
class Rules {
  public:
    Expr input(const std::vector<std::int64_t>& shape, Layout a, Layout b = {}) {
        Builder::Shape extents;
        for (const std::int64_t size : shape) extents.emplace_back(size);
        return builder_.input("x" + std::to_string(++inputs_), extents, DType::F32, {{"a", a}, {"b", b}});
    }
    Builder& builder() { return builder_; }

  private:
    Builder builder_{"rules", {{"a", 2}, {"b", 3}}};
    int inputs_ = 0;
};

template <class Make>
std::string code_of(Make&& make) {
    try {
        (void)make();
    } catch (const Refusal& refusal) {
        return refusal.code();
    }
    return "";
}

const Layout kR, kL = Layout::local(), kS0 = Layout::sliced(0), kS1 = Layout::sliced(1);

}  // namespace

TEST_CASE("a contraction of slices leaves partial sums, a kept letter its slices") {
    Rules rules;
    const Expr x = rules.input({6, 8}, kS1, kS0), w = rules.input({8, 4}, kS0);
    CHECK(rules.builder().einsum("bk,kh->bh", {x, w}).type().layout == Layouts{kL, kS0});
    const Expr whole = rules.input({8, 4}, kR);
    CHECK(rules.builder().einsum("bk,kh->bh", {x, whole}).type().layout == Layouts{kL, kS0});
    CHECK(x.reduce(Reduction::Max, {1}).type().layout == Layouts{kL, kS0});
    CHECK(x.reduce(Reduction::Max, {0}, true).type().layout == Layouts{kS1, kL});
    CHECK(x.reduce(Reduction::Max, {0}).type().layout == Layouts{kS0, kL});
    CHECK(x.transpose({1, 0}).type().layout == Layouts{kS0, kS1});
    CHECK(code_of([&] {
              return rules.builder().einsum("bk,kh->bh", {x, rules.input({8, 4}, kS1)});
          }) == "sliced-differently");
    CHECK(code_of([&] { return rules.builder().einsum("bb->b", {x}); }) == "spec");
}

TEST_CASE("the axes that slice a dimension nest in the order of the mesh") {
    Rules rules;
    const Expr both = rules.input({12}, kS0, kS0), coarse = rules.input({12}, kS0),
               fine = rules.input({12}, kR, kS0);
    CHECK((both + coarse).type().layout == Layouts{kS0, kS0});
    CHECK(code_of([&] { return both + fine; }) == "slicing-order");
    CHECK(both.all_gather({"b"}).type().layout == Layouts{kS0, kR});
    CHECK(both.all_gather({"b", "a"}).type().layout == Layouts{kR, kR});
    CHECK(code_of([&] { return both.all_gather({"a"}); }) == "slicing-order");
    CHECK(coarse.slice("b", 0).type().layout == Layouts{kS0, kS0});
    CHECK(code_of([&] { return fine.slice("a", 0); }) == "slicing-order");
    const Expr partial = rules.input({12}, kL, kS0);
    CHECK(code_of([&] { return partial.reduce_scatter({"a"}, 0); }) == "slicing-order");
}

TEST_CASE("an all-to-all moves slices to another dimension, or blocks of local values") {
    Rules rules;
    const Expr slices = rules.input({6, 8}, kS0), local = rules.input({6, 8}, kL);
    CHECK(slices.all_to_all("a", 1, 0).type().layout == Layouts{kS1, kR});
    CHECK(slices.all_to_all("a", 1, 0).type().shape == std::vector<std::int64_t>{6, 8});
    CHECK(local.all_to_all("a", 1, 0).type().shape == std::vector<std::int64_t>{12, 4});
    CHECK(code_of([&] { return slices.all_to_all("a", 0, 1); }) == "not-sliced");
    CHECK(code_of([&] { return rules.input({6, 7}, kL).all_to_all("a", 1, 0); }) == "not-divisible");
    CHECK(code_of([&] { return rules.input({6, 8}, kL, kS1).all_to_all("a", 1, 0); }) == "sliced-elsewhere");
}

TEST_CASE("roots join with what everybody has, and with nothing else") {
    Rules rules;
    const Expr root = rules.input({6}, Layout::root(1)), all = rules.input({6}, kR);
    CHECK((root * all).type().layout == Layouts{Layout::root(1), kR});
    CHECK(code_of([&] { return root * rules.input({6}, Layout::root(0)); }) == "root-mixed");
    CHECK(code_of([&] { return root * rules.input({6}, kL); }) == "root-mixed");
    CHECK(code_of([&] { return rules.input({6}, Layout::root(2)); }) == "root");
    CHECK(code_of([&] { return root.shift("a", 1); }) == "not-local");
    CHECK(root.shift("b", 1).type().layout == Layouts{Layout::root(1), kL});
}

TEST_CASE("parts nest: the coarsest axis cuts first, and each cut is of the nominal part") {
    const Mesh mesh({{"a", 2}, {"b", 3}});
    const Type type{DType::F16, {10, 4}, {kS0, kS0}};
    std::vector<Interval> parts;
    for (std::int64_t rank = 0; rank < mesh.ranks(); ++rank)
        parts.push_back(part(mesh, type, 0, mesh.coordinates(rank)));
    CHECK(parts == std::vector<Interval>{{0, 2}, {2, 4}, {4, 5}, {5, 7}, {7, 9}, {9, 10}});
    CHECK(part_size(mesh, type, 0) == 2);
    CHECK(part_bytes(mesh, type) == 16);
    const Type small{DType::F32, {2}, {kR, kS0}};
    CHECK(part(mesh, small, 0, std::vector<std::int64_t>{0, 2}).size() == 0);
}

TEST_CASE("uniform numbers are those of Philox4x32-10") {
    CHECK(philox(0, 0) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(uniform_number(0, 1) == static_cast<double>(0xe169c58dU >> 8U) / 16777216.0);
}

TEST_CASE("the builder makes the program that its file has") {
    Builder b("adam", {{"data", 8}}, {{"N", 340'000'000}});
    const Expr g = b.input("g", {"N"}, DType::F32, {{"data", Layout::local()}});
    const Expr w = b.state("w", {"N"}, DType::F32, Builder::Fixed), m = b.state("m", {"N"}),
               v = b.state("v", {"N"});
    const Expr a = g.all_reduce("data") / 8;
    const Expr m1 = 0.9 * m + 0.1 * a, v1 = 0.999 * v + 0.001 * a * a;
    b.update(w, w - 1e-3 * m1 / (sqrt(v1) + 1e-8));
    b.update(m, m1);
    b.update(v, v1);
    const Program program = b.program();
    CHECK(program.outputs().size() == 3);
    CHECK(program[program.outputs()[0]].type.shape == std::vector<std::int64_t>{340'000'000});
    CHECK(Kernels(program).working(program) == 14);
}

TEST_CASE("every reader of a state comes before its update, or there is no order") {
    const auto program = [](const std::string& last) {
        return test::tensor_program_of(
            R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 2]]}, "values": [
                {"id": "s", "op": "input", "dtype": "f32", "shape": [4], "state": true},
                {"id": "n", "op": "neg", "args": ["s"]}, {"id": "u", "op": "update", "args": ["s", "n"]},)" +
            last + R"(], "outputs": ["z"]})");
    };
    const Program reads_both = program(R"({"id": "y", "op": "abs", "args": ["s"]},
                                          {"id": "z", "op": "add", "args": ["y", "n"]})");
    const Kernels kernels(reads_both);
    const auto place = [&](const char* name) { return kernels.of(*reads_both.find(name)); };
    CHECK(place("y") < place("u"));
    CHECK(code_of([&] { return program(R"({"id": "z", "op": "add", "args": ["u", "s"]})"); }) == "cycle");
    // A slice is the state's own memory.
    CHECK(code_of([&] {
              return program(R"({"id": "p", "op": "slice", "args": ["s"], "axes": ["a"], "dim": 0},
                                {"id": "q", "op": "slice", "args": ["u"], "axes": ["a"], "dim": 0},
                                {"id": "z", "op": "add", "args": ["p", "q"]})");
          }) == "cycle");
    CHECK(code_of([&] { return program(R"({"id": "z", "op": "update", "args": ["s", "n"]})"); }) ==
          "updated-twice");
}

TEST_CASE("a program is typed anew at other sizes") {
    const Program program = test::tensor_program("matmul_block");
    const std::vector<std::int64_t> axes{3};
    const Program other = at_sizes(program, axes, {{"H", 7}});
    CHECK(other[other.outputs()[0]].type.shape == std::vector<std::int64_t>{6, 7});
    CHECK(other.mesh().ranks() == 3);
    CHECK(code_of([&] { return at_sizes(program, {}, {{"Q", 7}}); }) == "size");
}

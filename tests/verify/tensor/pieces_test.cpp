// The rule for pieces: where a chain may be cut along a dimension, changing what its first kernel makes at
// every second index must not change what the last makes at the others.

#include "verify/tensor/pieces.hpp"

#include "core/rng.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/refusal.hpp"
#include "tensor/schedule.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/tensor_set.hpp"
#include "verify/tensor/field_numbers.hpp"
#include "verify/tensor/meaning.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::test;
using tensor::Op;
using tensor::Program;
using tensor::Value;
using tensor::ValueId;

namespace {

std::string code(const Program& program, const std::vector<std::string>& chain, std::int64_t pieces = 4) {
    return verify::judge_pieces(program, {chain, pieces}).code;
}

/// The program from the first kernel's value on: that value is an input, and the last is the output.
Program from_value(const Program& program, ValueId first, ValueId last) {
    tensor::ProgramParts parts = program.parts();
    std::vector<ValueId> number(program.slots());
    for (std::size_t i = 0; i < program.order().size(); ++i) number[program.order()[i].index()] = ValueId(i);
    Value& value = parts.values[number[first.index()].index()];
    Value input;
    input.name = value.name;
    input.op = Op::Input;
    input.dtype = program[first].type.dtype;
    for (const std::int64_t size : program[first].type.shape) input.shape.push_back({size, ""});
    input.layout = program[first].type.layout;
    value = input;
    parts.outputs = {number[last.index()]};
    parts.fused.clear();
    parts.overlaps.clear();
    return Program(parts);
}

/// Index of an element along a dimension of the shape, behind the mesh's dimensions.
std::int64_t index_at(const verify::Array& array, std::size_t axes, std::size_t dim, std::size_t element) {
    auto rest = static_cast<std::int64_t>(element);
    for (std::size_t d = array.shape.size(); d > axes + dim + 1; --d) rest /= array.shape[d - 1];
    return rest % array.shape[axes + dim];
}

/// Whether elements of the last value at even indices hang together with those of the first at odd ones.
bool leaks(const Program& program, std::pair<ValueId, std::size_t> first,
           std::pair<ValueId, std::size_t> last) {
    const Program rest = from_value(program, first.first, last.first);
    const verify::FieldNumbers numbers(7), other(8);
    const std::size_t axes = program.mesh().axes().size();
    verify::Arrays inputs = verify::drawn_inputs(rest, numbers);
    const verify::Array before = verify::meaning_of(rest, inputs, numbers).outputs[0];
    verify::Array& changed = inputs.at(program[first.first].name);
    for (std::size_t i = 0; i < changed.elements.size(); ++i) {
        if (index_at(changed, axes, first.second, i) % 2 == 1)
            changed.elements[i] =
                other.drawn("other", static_cast<std::int64_t>(i), tensor::DType::F32, false);
    }
    const verify::Array after = verify::meaning_of(rest, inputs, numbers).outputs[0];
    for (std::size_t i = 0; i < before.elements.size(); ++i) {
        if (index_at(before, axes, last.second, i) % 2 == 0 && before.elements[i] != after.elements[i])
            return true;
    }
    return false;
}

}  // namespace

TEST_CASE("chains of the set: which may be cut, and why others may not") {
    const Program block = tensor_program("matmul_block");
    CHECK(code(block, {"mm", "sum"}) == "");
    CHECK(code(block, {"mm", "sum", "add1", "div1", "drop", "out"}) == "");
    CHECK(code(block, {"mm", "sum"}, 1) == "pieces");
    CHECK(code(block, {"mm"}) == "nothing");
    CHECK(code(block, {"mm", "nowhere"}) == "name");
    CHECK(code(block, {"mm", "out"}) == "no-producer");
    CHECK(code(block, {"mm", "mm"}) == "overlapped-twice");
    const Program lamb = tensor_program("lamb");
    CHECK(code(lamb, {"sum", "div1"}) == "");
    CHECK(code(lamb, {"direction", "mul10"}) == "path-between");  // through the norm
    CHECK(code(lamb, {"mul8", "u_square"}) == "needs-all");
    CHECK(code(lamb, {"w_square", "w_norm"}) == "scalar");
    const Program moe = tensor_program("moe");
    CHECK(code(moe, {"dispatch", "mm1", "relu", "mm2", "combine"}) == "");
}

TEST_CASE(
    "a reduction at the end of a kernel adds up what the pieces bring, if nobody in the chain needs it") {
    const auto norm = [](const char* fused, const char* last) {
        return tensor_program_of(fmt::format(
            R"({{"tutti_tensor": 1, "name": "p", "mesh": {{"axes": [["a", 2]]}}, "values": [
            {{"id": "x", "op": "input", "dtype": "f32", "shape": [8], "layout": {{"a": "local"}}}},
            {{"id": "sum", "op": "all_reduce", "args": ["x"], "axes": ["a"], "reduce": "sum"}},
            {{"id": "sq", "op": "mul", "args": ["sum", "sum"]}},
            {{"id": "norm", "op": "reduce", "args": ["sq"], "dims": [0], "reduce": "sum"}},
            {{"id": "out", "op": "mul", "args": ["sq", "{}"]}}],
            "outputs": ["out", "norm"], "fused": [{{"name": "k", "values": [{}]}}]}})",
            last, fused));
    };
    CHECK(code(norm(R"("sq", "norm")", "sq"), {"sum", "k"}) == "");
    CHECK(code(norm(R"("sq", "norm")", "sq"), {"sum", "k", "out"}) == "");
    CHECK(code(norm(R"("sq", "norm")", "norm"), {"sum", "k", "out"}) == "needs-all");
    CHECK(code(norm(R"("sq", "out")", "sq"), {"sum", "k", "norm"}) == "needs-all");  // no work for a piece
}

TEST_CASE("what is made of nothing is there before the first piece, whatever its shape") {
    const Program program = tensor_program_of(R"({"tutti_tensor": 1, "name": "rows",
        "mesh": {"axes": [["a", 3]]}, "sizes": {"N": 6, "K": 4}, "values": [
        {"id": "x", "op": "input", "dtype": "f32", "shape": ["N", "K"], "layout": {"a": {"sliced": 1}}},
        {"id": "all", "op": "all_gather", "args": ["x"], "axes": ["a"]},
        {"id": "row", "op": "iota", "dtype": "f32", "shape": ["N", 1], "dim": 0},
        {"id": "less", "op": "lt", "args": ["all", "row"]}],
        "outputs": ["less"], "fused": [{"name": "compare", "values": ["row", "less"]}]})");
    CHECK(code(program, {"all", "compare"}) == "");
}

TEST_CASE("a state that is updated in pieces is read in the same pieces, and by nobody between") {
    const auto step = [](const char* spec, const char* more = "") {
        return tensor_program_of(fmt::format(
            R"({{"tutti_tensor": 1, "name": "p", "mesh": {{"axes": [["a", 2]]}}, "values": [
            {{"id": "x", "op": "input", "dtype": "f32", "shape": [6, 6], "layout": {{"a": "local"}}}},
            {{"id": "w", "op": "input", "dtype": "f32", "shape": [6, 6], "state": true}},
            {{"id": "v", "op": "einsum", "args": ["x", "w"], "spec": "{}"}},
            {{"id": "sum", "op": "all_reduce", "args": ["v"], "axes": ["a"], "reduce": "sum"}},{}
            {{"id": "new", "op": "sub", "args": ["w", "sum"]}},
            {{"id": "u", "op": "update", "args": ["w", "new"]}}],
            "outputs": ["u"{}], "fused": [{{"name": "k", "values": ["new", "u"]}}]}})",
            spec, more, *more == 0 ? "" : R"(, "old")"));
    };
    const auto both = [](const Program& program) {
        std::string refused;
        try {
            (void)rewrite::apply_step(program, tensor::OverlapStep{{"v", "sum", "k"}, 2});
        } catch (const tensor::Refusal& refusal) {
            refused = refusal.code();
        }
        CHECK(code(program, {"v", "sum", "k"}) == refused);
        return refused;
    };
    CHECK(both(step("ij,jk->ik")) == "");  // by columns, of w as of the result
    // A piece of the product needs rows of w, which the update of columns has changed by then.
    CHECK(both(step("ij,kj->ik")) == "needs-all");
    // The update waits for a reader of the old state, which waits for the sum.
    CHECK(both(step("ij,jk->ik", R"({"id": "old", "op": "mul", "args": ["w", "sum"]},)")) == "path-between");
}

TEST_CASE("random chains of the set: no element of a piece comes from another piece") {
    std::vector<Program> programs;
    for (const std::string& name : tensor_program_names()) {
        const Program program = tensor_program(name);
        std::map<std::string, std::int64_t> sizes;
        for (const auto& [size, number] : program.sizes()) sizes[size] = std::min<std::int64_t>(number, 8);
        programs.push_back(tensor::at_sizes(program, {}, sizes));
    }
    std::size_t judged = 0;
    for_seeds(cases(1500), [&](Rng& rng, std::uint64_t) {
        const Program& program = programs[rng.below(programs.size())];
        const tensor::Users users(program);
        // Along users, from a random value on.
        std::vector<ValueId> chain{program.order()[rng.below(program.order().size())]};
        for (std::size_t length = 2 + rng.below(5); chain.size() < length;) {
            const auto next = users[chain.back()];
            if (next.empty()) break;
            chain.push_back(next[rng.below(next.size())]);
        }
        std::vector<std::string> names;
        for (const ValueId id : chain) names.push_back(program[id].name);
        const verify::PieceVerdict verdict = verify::judge_pieces(program, {names, 2});
        if (!verdict.code.empty() || program[chain[0]].op == Op::Input) return;
        const auto cut = [&](ValueId id) {
            return *std::ranges::find(verdict.cuts, id, [](const auto& c) { return c.first; });
        };
        INFO(program.name());
        for (const std::string& name : names) INFO(name);
        ++judged;
        CHECK_FALSE(leaks(program, cut(chain.front()), cut(chain.back())));
    });
    CHECK(judged > cases(1500) / 20);
}

TEST_CASE("the test sees a leak where there is one") {
    const Program block = tensor_program("matmul_block");
    const ValueId mm = *block.find("mm"), out = *block.find("out");
    CHECK_FALSE(leaks(block, {mm, 0}, {out, 0}));
    CHECK(leaks(block, {mm, 0}, {out, 1}));
}

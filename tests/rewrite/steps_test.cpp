// Steps that the set has not: meshes of two axes, roots, broadcasts, and every refusal that it leaves out.

#include "io/tensor_schedule_text.hpp"
#include "rewrite/regions.hpp"
#include "rewrite/schedule.hpp"
#include "tensor/builder.hpp"
#include "tensor/kernels.hpp"
#include "tensor/refusal.hpp"
#include "tensor/terms.hpp"
#include "tests/support/tensor_set.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::tensor;

namespace {

Program after_text(const Program& program, const std::string& text) {
    return rewrite::replay(program, io::parse_tensor_schedule_text(text).steps);
}

/// The code with which the last line is refused; those before are accepted.
std::string refused_text(const Program& program, const std::string& before, const std::string& step) {
    const Program at = after_text(program, before);
    try {
        (void)after_text(at, step);
    } catch (const Refusal& refusal) {
        return refusal.code();
    }
    return "accepted";
}

std::string op_text(const Program& program, const std::string& name) {
    const auto id = program.find(name);
    if (!id) return "none";
    std::string text(name_of(program[*id].op));
    for (const ValueId arg : program[*id].args) text += " " + program[arg].name;
    return text;
}

const Layout kWhole, kOwn = Layout::local(), kRows = Layout::sliced(0), kColumns = Layout::sliced(1);

/// g is summed over two axes; its square and its norm are outputs.
Program two_axes() {
    Builder b("two", {{"node", 2}, {"gpu", 3}});
    const Expr g = b.input("g", {7, 5}, DType::F32, {{"node", kOwn}, {"gpu", kOwn}});
    const Expr sum = g.all_reduce(std::vector<std::string>{"node", "gpu"}).named("sum");
    const Expr square = (sum * sum).named("square");
    b.output(square.named("square"));
    b.output(square.reduce(Reduction::Sum, {0, 1}).named("norm"));
    return b.program();
}

}  // namespace

TEST_CASE("a sum over two axes is split by axes, and each part again") {
    const Program inner = after_text(two_axes(), "split sum axes gpu");
    CHECK(op_text(inner, "sum.inner") == "all_reduce g");
    CHECK(op_text(inner, "sum") == "all_reduce sum.inner");
    CHECK(inner[*inner.find("sum.inner")].type.layout == Layouts{kOwn, kWhole});
    const Program scattered =
        after_text(inner, "split sum rs_ag dim 1\nsplit sum.inner reduce_broadcast root 2");
    CHECK(op_text(scattered, "sum.rs") == "reduce_scatter sum.inner.broadcast");
    CHECK(scattered[*scattered.find("sum.inner.reduce")].type.layout == Layouts{kOwn, Layout::root(2)});
    CHECK(refused_text(two_axes(), "", "split sum axes node gpu") == "axis");
    CHECK(refused_text(two_axes(), "", "split sum axes rack") == "axis");
    CHECK(refused_text(two_axes(), "", "split sum reduce_broadcast root 2") == "root");
}

TEST_CASE("a gather moves past what is pointwise and past a norm, which gets an all_reduce") {
    const Program moved = after_text(two_axes(), "split sum rs_ag\nreorder sum.ag past all");
    CHECK(op_text(moved, "square") == "mul sum.rs sum.rs");
    CHECK(op_text(moved, "square.ag") == "all_gather square");
    CHECK(op_text(moved, "norm") == "reduce square");
    CHECK(op_text(moved, "norm.ar") == "all_reduce norm");
    CHECK(op_text(moved, "sum.ag") == "none");
    CHECK(moved[moved.outputs()[1]].name == "norm.ar");
    CHECK(moved[moved.outputs()[0]].type == two_axes()[two_axes().outputs()[0]].type);
}

TEST_CASE("other users of a gather keep it, and of what moves they read the gather") {
    Builder b("users", {{"a", 4}});
    const Expr x = b.input("x", {10}, DType::F32, {{"a", kRows}});
    const Expr whole = x.all_gather({"a"}).named("whole");
    const Expr twice = (whole + whole).named("twice"), product = (twice * whole).named("product");
    b.output(product);
    const Program moved = after_text(b.program(), "reorder whole past twice");
    CHECK(op_text(moved, "twice") == "add x x");
    CHECK(op_text(moved, "product") == "mul twice.ag whole");
    // And when the product moves as well, it takes slices of both: the gathers cancel.
    const Program all = after_text(moved, "reorder whole past product");
    CHECK(op_text(all, "product") == "mul twice x");
    CHECK(op_text(all, "twice.ag") == "none");
}

TEST_CASE("a product moves by its rows, and along what it sums it leaves partial sums") {
    Builder b("product", {{"a", 4}});
    const Expr x = b.input("x", {6, 8}, DType::F32, {{"a", kRows}});
    const Expr y = b.input("y", {8, 6}, DType::F32, {{"a", kColumns}});
    const Expr w = b.input("w", {8, 3}), v = b.input("v", {6, 3});
    const Expr x_all = x.all_gather({"a"}).named("x_all"), y_all = y.all_gather({"a"}).named("y_all");
    b.output(b.einsum("bk,kh->bh", {x_all, w}).named("rows"));
    b.output(b.einsum("bk,kh->bh", {y_all, v}).named("sums"));
    const Program moved = after_text(b.program(), "reorder x_all past rows\nreorder y_all past sums");
    CHECK(op_text(moved, "rows.ag") == "all_gather rows");
    CHECK(op_text(moved, "sums") == "einsum y v");
    CHECK(op_text(moved, "sums.ar") == "all_reduce sums");
}

TEST_CASE("a broadcast moves: what is behind it is computed by the root") {
    const Program moved =
        after_text(two_axes(), "split sum reduce_broadcast root 1\nreorder sum.broadcast past square norm");
    CHECK(moved[*moved.find("square")].type.layout == Layouts{Layout::root(1), Layout::root(1)});
    CHECK(op_text(moved, "square.broadcast") == "broadcast_from square");
    CHECK(op_text(moved, "norm.broadcast") == "broadcast_from norm");
}

TEST_CASE("what is not movable says why") {
    Builder b("refused", {{"a", 4}, {"b", 2}});
    const Expr x = b.input("x", {8, 4}, DType::F32, {{"a", kRows}});
    const Expr own = b.input("own", {8, 4}, DType::F32, {{"a", kOwn}});
    const Expr columns = b.input("columns", {8, 4}, DType::F32, {{"a", kColumns}});
    const Expr whole = x.all_gather({"a"}).named("whole");
    b.output((whole + own).named("with_own"));
    b.output((whole + columns).named("with_columns"));
    b.output(whole.shift("a", 1).named("along"));
    b.output(whole.shift("b", 1).named("across"));
    Value reshape;
    reshape.op = Op::Reshape;
    reshape.args = {whole.id()};
    reshape.shape = {{32, {}}};
    b.output(b.add(reshape).named("flat"));
    const Program program = b.program();
    CHECK(refused_text(program, "", "reorder whole past with_own") == "local-operand");
    CHECK(refused_text(program, "", "reorder whole past with_columns") == "sliced-differently");
    CHECK(refused_text(program, "", "reorder whole past along") == "same-axis");
    CHECK(refused_text(program, "", "reorder whole past flat") == "not-movable");
    CHECK(refused_text(program, "", "reorder x past flat") == "wrong-op");
    const Program moved = after_text(program, "reorder whole past across");
    CHECK(op_text(moved, "across.ag") == "all_gather across");
    // "all" takes what can be moved and leaves the rest.
    const Program all = after_text(program, "reorder whole past all");
    CHECK(op_text(all, "across") == "shift x");
    CHECK(op_text(all, "flat") == "reshape whole");
}

TEST_CASE("a gather that is cut again goes, where the cut is an operation and where it is not") {
    Builder b("cancel", {{"a", 4}});
    const Expr x = b.input("x", {10}, DType::F32, {{"a", kRows}}),
               y = b.input("y", {10}, DType::F32, {{"a", kRows}});
    const Expr sum = b.input("g", {10}, DType::F32, {{"a", kOwn}}).all_reduce("a").named("sum");
    const Expr whole = x.all_gather({"a"}).named("whole");
    b.output(whole.slice("a", 0).named("part") * y);
    b.output((whole + y).named("implicit"));
    b.output(sum);
    // Any step cleans up.
    const Program cleaned = after_text(b.program(), "split sum rs_ag");
    CHECK(op_text(cleaned, "whole") == "none");
    CHECK(op_text(cleaned, "part") == "none");
    CHECK(op_text(cleaned, "implicit") == "add x y");
}

TEST_CASE("a state that is read whole is not stored as slices") {
    Builder b("state", {{"a", 4}});
    const Expr g = b.input("g", {8}, DType::F32, {{"a", kOwn}});
    const Expr m = b.state("m", {8});
    const Expr next = (m + g.all_reduce("a").named("sum")).named("next");
    b.update(m, next);
    const std::string moved = "split sum rs_ag\nreorder sum.ag past next";
    CHECK(after_text(b.program(), moved + "\nas_slice m").resharded().size() == 1);
    CHECK(refused_text(b.program(), moved, "as_slice m dim 1") == "not-gathered");
    CHECK(refused_text(b.program(), "", "as_slice m") == "not-gathered");
    const Program reading = test::tensor_program_of(
        R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 4]]}, "values": [
            {"id": "s", "op": "input", "dtype": "f32", "shape": [8], "state": true},
            {"id": "x", "op": "input", "dtype": "f32", "shape": [8], "layout": {"a": {"sliced": 0}}},
            {"id": "next", "op": "add", "args": ["s", "x"]},
            {"id": "next.ag", "op": "all_gather", "args": ["next"], "axes": ["a"]},
            {"id": "half", "op": "neg", "args": ["s"]},
            {"id": "norm", "op": "reduce", "args": ["half"], "dims": [0], "reduce": "sum"},
            {"id": "u", "op": "update", "args": ["s", "next.ag"]}], "outputs": ["u", "norm"]})");
    CHECK(refused_text(reading, "", "as_slice s") == "read-whole");
    // So is one whose next value is.
    Builder c("next", {{"a", 4}});
    const Expr t = c.state("t", {8});
    const Expr slices = c.input("x", {8}, DType::F32, {{"a", kRows}});
    const Expr updated = c.update(t, (t + slices).named("next").all_gather({"a"}));
    CHECK(refused_text(c.program(), "", "as_slice t") == "accepted");
    c.output(sqrt(updated.reduce(Reduction::Sum, {0})));
    CHECK(refused_text(c.program(), "", "as_slice t") == "read-whole");
}

TEST_CASE("kernels keep to one pass over the same elements") {
    const Program adam = test::tensor_program("adam"), lamb = test::tensor_program("lamb");
    const std::string moved = "split sum rs_ag\nreorder sum.ag past all";
    CHECK(refused_text(adam, moved, "fuse mul1 m_new") == "iteration-space");
    CHECK(refused_text(adam, moved, "fuse m_new m_new.ag v_new.ag v_new w_new w_new.ag div2") ==
          "not-connected");
    CHECK(refused_text(adam, "", "fuse div1 sum g") == "wrong-op");
    CHECK(refused_text(adam, "fuse k: div1 mul2", "fuse k: mul4 mul5") == "name");
    CHECK(refused_text(adam, "", "fuse v_new: div1 mul2") == "name");
    CHECK(refused_text(lamb, "", "fuse mul7 mul7") == "name");
    Builder b("calls", {{"a", 4}});
    const Expr x = b.input("x", {8}, DType::F32, {{"a", kOwn}}),
               y = b.input("y", {8}, DType::F32, {{"a", kOwn}});
    const Expr twice = (x + x).named("twice");
    b.output((twice.all_reduce("a").named("s") + y.all_reduce("a").named("t")).named("both"));
    CHECK(refused_text(b.program(), "", "fuse s t both") == "two-collectives");
    CHECK(refused_text(b.program(), "", "fuse twice s") == "feeds-collective");
    const Program called = after_text(b.program(), "coalesce s t");
    CHECK(called.fused().front().name == "call.s");
    CHECK(Kernels(called).working(called) == 3);
    CHECK(refused_text(b.program(), "", "coalesce s both") == "wrong-op");
    CHECK(refused_text(b.program(), "coalesce s t", "split s rs_ag") == "already-fused");
}

TEST_CASE("an overlap needs a dimension that no kernel of the chain sums over") {
    Builder b("overlap", {{"a", 4}});
    const Expr x = b.input("x", {8, 6}, DType::F32, {{"a", kOwn}}), w = b.input("w", {8, 5});
    const Expr sum = x.all_reduce("a").named("sum");
    b.output(sum.reduce(Reduction::Sum, {0, 1}).named("norm"));
    b.output(sum.reduce(Reduction::Sum, {0}).named("columns"));
    b.output(b.einsum("kb,kh->bh", {sum, w}).named("mm"));
    const Expr scalar = b.input("t", {}, DType::F32, {{"a", kOwn}}).all_reduce("a").named("s");
    b.output((scalar + scalar).named("twice"));
    const Program program = b.program();
    CHECK(refused_text(program, "", "overlap sum norm pieces 4") == "needs-all");
    CHECK(refused_text(program, "", "overlap sum columns pieces 4") == "accepted");
    CHECK(refused_text(program, "", "overlap sum mm pieces 4") == "accepted");
    CHECK(refused_text(program, "", "overlap s twice pieces 4") == "scalar");
    CHECK(refused_text(program, "overlap sum mm pieces 4", "split sum rs_ag") == "already-overlapped");
    CHECK(refused_text(program, "", "overlap x sum pieces 4") == "name");
}

TEST_CASE("regions hold what is computed in one place, whatever it is called") {
    const Program adam = after_text(test::tensor_program("adam"), "split sum rs_ag");
    const auto regions = rewrite::regions(adam);
    CHECK(regions.size() == 2);  // scalars of the step count, and all else
    const auto units = rewrite::units(adam, *adam.find("sum.ag"), regions);
    REQUIRE(units.size() == 1);
    CHECK(units.front().size() == 13);
    CHECK(adam[units.front().front()].name == "div1");
}

TEST_CASE("the structure of a program does not depend on names, and depends on all else") {
    const auto hash = [](const std::string& values) {
        return structure_hash(test::tensor_program_of(
            R"({"tutti_tensor": 1, "name": "p", "mesh": {"axes": [["a", 2]]}, "values": [
                {"id": "x", "op": "input", "dtype": "f32", "shape": [4, 4]},)" +
            values + R"(], "outputs": ["z"]})"));
    };
    const StructureHash base =
        hash(R"({"id": "y", "op": "neg", "args": ["x"]}, {"id": "z", "op": "sub", "args": ["x", "y"]})");
    CHECK(base ==
          hash(R"({"id": "q", "op": "neg", "args": ["x"]}, {"id": "z", "op": "sub", "args": ["x", "q"]})"));
    CHECK(base !=
          hash(R"({"id": "y", "op": "neg", "args": ["x"]}, {"id": "z", "op": "sub", "args": ["y", "x"]})"));
    CHECK(base !=
          hash(R"({"id": "y", "op": "abs", "args": ["x"]}, {"id": "z", "op": "sub", "args": ["x", "y"]})"));
    CHECK(
        base !=
        hash(
            R"({"id": "y", "op": "transpose", "perm": [1, 0], "args": ["x"]}, {"id": "z", "op": "sub", "args": ["x", "y"]})"));
}

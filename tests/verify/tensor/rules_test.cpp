// The layout rules, by exhaustion: every operation, every layout of its operands on two axes of 2 and 3
// ranks, sizes that do not divide. Whatever the rules accept is run on the simulated ranks and on the
// oracle's, in the field, and compared with the meaning.

#include "tensor/refusal.hpp"
#include "tests/support/tensor_runs.hpp"
#include "verify/tensor/field_numbers.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace tutti;
using namespace tutti::tensor;
using namespace tutti::test;

namespace {

using Shape = std::vector<std::int64_t>;

/// All that is tried of one group of operations.
class Trial {
  public:
    /// A value of this operation on inputs of these shapes and layouts, if the rules accept it.
    void operator()(Value value, const std::vector<std::pair<Shape, Layouts>>& operands,
                    DType dtype = DType::F32, bool state = false) {
        ProgramParts parts;
        parts.name = "trial";
        parts.mesh = Mesh({{"a", 2}, {"b", 3}});
        for (const auto& [shape, layouts] : operands) {
            Value input;
            input.name = fmt::format("x{}", parts.values.size());
            for (const std::int64_t size : shape) input.shape.push_back({size, ""});
            input.layout = layouts;
            input.dtype = value.op == Op::Select && parts.values.empty() ? DType::Bool : dtype;
            input.state = state && parts.values.empty();
            value.args.emplace_back(parts.values.size());
            parts.values.push_back(input);
        }
        value.name = "y";
        parts.values.push_back(value);
        parts.outputs = {ValueId(parts.values.size() - 1)};
        try {
            check(Program(parts), operands);
        } catch (const Refusal& refusal) {
            codes.insert(refusal.code());
            ++refused;
        }
    }

    std::set<std::string> codes{};
    std::size_t accepted = 0, refused = 0;

  private:
    void check(const Program& program, const std::vector<std::pair<Shape, Layouts>>& operands) {
        ++accepted;
        const verify::FieldNumbers numbers(accepted);
        const std::string machine = machine_difference(program, program, numbers);
        const std::string oracle = oracle_difference(program, program, numbers);
        if (machine.empty() && oracle.empty()) return;
        std::string words(name_of(program[program.outputs()[0]].op));
        for (const auto& [shape, layouts] : operands) {
            words += " (";
            for (const std::int64_t size : shape) words += fmt::format("{} ", size);
            for (const Layout layout : layouts) words += text_of(layout) + " ";
            words += ")";
        }
        FAIL_CHECK(words, ": ", machine, " / oracle: ", oracle);
    }
};

/// Every layout on two axes of a value with so many dimensions.
std::vector<Layouts> layouts_of(std::size_t dims) {
    std::vector<Layout> kinds{Layout(), Layout::local(), Layout::root(0), Layout::root(1)};
    for (std::size_t d = 0; d < dims; ++d) kinds.push_back(Layout::sliced(d));
    std::vector<Layouts> all;
    for (const Layout a : kinds) {
        for (const Layout b : kinds) all.push_back({a, b});
    }
    return all;
}

void for_each_pair(const Shape& x, const Shape& y,
                   const std::function<void(const Layouts&, const Layouts&)>& body) {
    for (const Layouts& a : layouts_of(x.size())) {
        for (const Layouts& b : layouts_of(y.size())) body(a, b);
    }
}

Value of(Op op) {
    Value value;
    value.op = op;
    return value;
}

const std::vector<std::vector<AxisId>> kAxes{{AxisId(0)}, {AxisId(1)}, {AxisId(0), AxisId(1)}};
const std::vector<Shape> kShapes{{5, 7}, {2, 12}, {1, 4}};

}  // namespace

TEST_CASE("pointwise operations and updates: what the rules accept is right on every rank") {
    Trial trial;
    const std::vector<std::pair<Shape, Shape>> shapes{
        {{5, 7}, {5, 7}}, {{5, 7}, {7}}, {{5, 1}, {5, 7}}, {{2, 1}, {1, 4}}, {{1}, {1}}};
    for (const auto& [x, y] : shapes) {
        for_each_pair(x, y, [&, &x = x, &y = y](const Layouts& a, const Layouts& b) {
            trial(of(Op::Sub), {{x, a}, {y, b}});
        });
    }
    for (const Layouts& a : layouts_of(1)) {
        for_each_pair({5}, {2, 5}, [&](const Layouts& b, const Layouts& c) {
            if (b[0].is_root() || c[1].is_root()) return;
            trial(of(Op::Select), {{{1}, a}, {{5}, b}, {{2, 5}, c}});
        });
    }
    for_each_pair({4, 5}, {4, 5}, [&](const Layouts& a, const Layouts& b) {
        trial(of(Op::Update), {{{4, 5}, a}, {{4, 5}, b}}, DType::F32, true);
    });
    trial(of(Op::Update), {{{4}, {}}, {{4}, {}}});
    trial(of(Op::Sub), {{{4}, {}}, {{5}, {}}});
    CHECK(trial.accepted > 300);
    for (const char* code : {"local-with-sliced", "sliced-differently", "root-mixed", "sliced-broadcast",
                             "update-layout", "update-target", "slicing-order", "shape"}) {
        INFO(code);
        CHECK(trial.codes.contains(code));
    }
}

TEST_CASE("einsum and reduce: what the rules accept is right on every rank") {
    Trial trial;
    struct Case {
        const char* spec;
        Shape x, y;
    };
    const std::vector<Case> cases{{"bk,kh->bh", {4, 5}, {5, 2}}, {"bk,bk->b", {2, 5}, {2, 5}},
                                  {"bk,bh->kh", {3, 2}, {3, 2}}, {"bk,k->b", {2, 5}, {5}},
                                  {"b,h->bh", {4}, {2}},         {"b,b->", {5}, {5}}};
    for (const Case& one : cases) {
        Value value = of(Op::Einsum);
        value.spec = one.spec;
        for_each_pair(one.x, one.y, [&](const Layouts& a, const Layouts& b) {
            trial(value, {{one.x, a}, {one.y, b}});
        });
    }
    for (const Shape& shape : kShapes) {
        for (const Layouts& layouts : layouts_of(2)) {
            for (const std::vector<std::int64_t>& dims :
                 std::vector<std::vector<std::int64_t>>{{0}, {1}, {0, 1}, {1, 1}, {2}}) {
                for (const Reduction reduction :
                     {Reduction::Sum, Reduction::Max, Reduction::Min, Reduction::Prod}) {
                    Value value = of(Op::Reduce);
                    value.dims = dims;
                    value.reduction = reduction;
                    value.keepdims = reduction == Reduction::Max;
                    trial(value, {{shape, layouts}});
                }
            }
        }
    }
    CHECK(trial.accepted > 1000);
    CHECK(trial.codes.contains("slicing-order"));
    CHECK(trial.codes.contains("no-dimension"));
}

TEST_CASE("what moves elements within a rank: what the rules accept is right on every rank") {
    Trial trial;
    for (const Shape& shape : kShapes) {
        for (const Layouts& layouts : layouts_of(2)) {
            for (const std::vector<std::int64_t>& perm :
                 std::vector<std::vector<std::int64_t>>{{0, 1}, {1, 0}, {0, 0}}) {
                Value value = of(Op::Transpose);
                value.perm = perm;
                trial(value, {{shape, layouts}});
            }
            Value broadcast = of(Op::Broadcast);
            broadcast.shape = {{3, ""}, {shape[0], ""}, {4, ""}};
            trial(broadcast, {{shape, layouts}});
            broadcast.dims = {1, 2};
            trial(broadcast, {{shape, layouts}});
            broadcast.shape = {{shape[0], ""}, {2, ""}, {shape[1], ""}};
            broadcast.dims = {0, 2};
            trial(broadcast, {{shape, layouts}});
            broadcast.dims.clear();
            broadcast.shape = {{6, ""}, {shape[1], ""}};
            trial(broadcast, {{shape, layouts}});
            for (const Shape& to : {Shape{shape[0], 1, shape[1]}, Shape{shape[0] * shape[1]},
                                    Shape{1, shape[0], shape[1], 1}, Shape{shape[1], shape[0]}}) {
                Value reshape = of(Op::Reshape);
                for (const std::int64_t size : to) reshape.shape.push_back({size, ""});
                trial(reshape, {{shape, layouts}});
            }
        }
    }
    CHECK(trial.accepted > 300);
    CHECK(trial.codes.contains("not-replicated"));
    CHECK(trial.codes.contains("sliced-broadcast"));
}

TEST_CASE("placement and collectives: what the rules accept is right on every rank") {
    Trial trial;
    for (const Shape& shape : kShapes) {
        for (const Layouts& layouts : layouts_of(2)) {
            for (const auto& axes : kAxes) {
                for (const Op op : {Op::AllReduce, Op::AllGather, Op::Slice, Op::ReduceScatter, Op::ReduceTo,
                                    Op::BroadcastFrom}) {
                    for (const std::int64_t dim : {0, 1, 2}) {
                        Value value = of(op);
                        value.axes = axes;
                        value.dim = dim;
                        value.root = dim;
                        value.reduction = dim == 0 ? Reduction::Sum : Reduction::Max;
                        trial(value, {{shape, layouts}});
                    }
                }
            }
            for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
                for (const std::int64_t one : {0, 1}) {
                    for (const std::int64_t other : {0, 1}) {
                        Value exchange = of(Op::AllToAll);
                        exchange.axes = {AxisId(axis)};
                        exchange.split = one;
                        exchange.concat = other;
                        trial(exchange, {{shape, layouts}});
                    }
                    Value stack = of(Op::Stack);
                    stack.axes = {AxisId(axis)};
                    stack.dim = one;
                    trial(stack, {{shape, layouts}});
                    stack.op = Op::Unstack;
                    trial(stack, {{shape, layouts}});
                }
                for (const std::int64_t by : {-1, 0, 1, 2}) {
                    Value shift = of(Op::Shift);
                    shift.axes = {AxisId(axis)};
                    shift.by = by;
                    trial(shift, {{shape, layouts}});
                }
            }
        }
    }
    CHECK(trial.accepted > 700);
    for (const char* code : {"not-local", "not-sliced", "not-root", "not-divisible", "sliced-elsewhere",
                             "slicing-order", "not-replicated", "no-dimension", "root"}) {
        INFO(code);
        CHECK(trial.codes.contains(code));
    }
}

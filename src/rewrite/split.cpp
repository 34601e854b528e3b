#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::rewrite {
namespace {

using tensor::Editor;
using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Value;
using tensor::ValueId;

/// The two halves, with all users behind the second.
Program halved(const Program& program, ValueId x, Value first, Value second, const char* first_suffix,
               const char* second_suffix) {
    Editor editor(program);
    first.name = editor.free_name(program[x].name + first_suffix);
    const ValueId half = editor.add(std::move(first));
    second.name = editor.free_name(program[x].name + second_suffix);
    second.args = {half};
    const ValueId whole = editor.add(std::move(second));
    const tensor::Users users(program);
    redirect(editor, users[x], x, whole);
    return finished(std::move(editor), program);
}

Program scattered_and_gathered(const Program& program, ValueId x, std::int64_t dim) {
    const Value& all_reduce = program[x];
    if (dim < 0 || dim >= static_cast<std::int64_t>(all_reduce.type.rank())) {
        throw Refusal("no-dimension",
                      fmt::format("it has {} dimensions, and none of number {}", all_reduce.type.rank(), dim),
                      all_reduce.name);
    }
    Value first = all_reduce, second = all_reduce;
    first.op = Op::ReduceScatter;
    first.dim = dim;
    second.op = Op::AllGather;
    second.reduction = {};
    return halved(program, x, std::move(first), std::move(second), ".rs", ".ag");
}

Program reduced_and_broadcast(const Program& program, ValueId x, std::int64_t root) {
    const Value& all_reduce = program[x];
    Value first = all_reduce, second = all_reduce;
    first.op = Op::ReduceTo;
    first.root = second.root = root;
    second.op = Op::BroadcastFrom;
    second.reduction = {};
    for (const tensor::AxisId axis : all_reduce.axes) {
        if (root >= 0 && root < program.mesh().size(axis)) continue;
        throw Refusal("root",
                      fmt::format("ranks of axis '{}' are 0 to {}, and {} is none of them",
                                  program.mesh().name(axis), program.mesh().size(axis) - 1, root),
                      all_reduce.name);
    }
    return halved(program, x, std::move(first), std::move(second), ".reduce", ".broadcast");
}

Program by_axes(const Program& program, ValueId x, const std::vector<std::string>& names) {
    const Value& all_reduce = program[x];
    const std::vector<tensor::AxisId> inner = axes_named(program, names, all_reduce.name);
    std::vector<tensor::AxisId> rest;
    for (const tensor::AxisId axis : all_reduce.axes) {
        if (std::ranges::find(inner, axis) == inner.end()) rest.push_back(axis);
    }
    if (rest.empty() || rest.size() + inner.size() != all_reduce.axes.size())
        throw Refusal("axis", "expected some of its axes, and not all of them", all_reduce.name);
    Editor editor(program);
    Value first = all_reduce;
    first.name = editor.free_name(all_reduce.name + ".inner");
    first.axes = inner;
    const ValueId half = editor.add(std::move(first));
    Value& second = editor.change(x);
    second.args = {half};
    second.axes = rest;
    return finished(std::move(editor), program);
}

}  // namespace

Program split(const Program& program, const tensor::Split& step) {
    const ValueId x = value_named(program, step.op);
    if (program[x].op != Op::AllReduce) {
        throw Refusal("wrong-op", fmt::format("only an all_reduce is split, not {}", name_of(program[x].op)),
                      step.op);
    }
    Grouping(program).check_free(x);
    switch (step.into) {
        case tensor::Split::Into::ReduceBroadcast:
            return reduced_and_broadcast(program, x, step.root);
        case tensor::Split::Into::Axes:
            return by_axes(program, x, step.axes);
        case tensor::Split::Into::ReduceScatterGather:
            break;
    }
    return scattered_and_gathered(program, x, step.dim);
}

}  // namespace tutti::rewrite

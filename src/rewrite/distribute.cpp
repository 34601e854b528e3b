#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"

#include <fmt/format.h>

namespace tutti::rewrite {

using tensor::Editor;
using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Value;
using tensor::ValueId;

Program distribute(const Program& program, const tensor::Distribute& step) {
    const ValueId x = value_named(program, step.value);
    const Value& value = program[x];
    const std::vector<tensor::AxisId> axes = axes_named(program, step.axes, value.name);
    if (step.dim < 0 || step.dim >= static_cast<std::int64_t>(value.type.rank())) {
        throw Refusal("no-dimension",
                      fmt::format("it has {} dimensions, and none of number {}", value.type.rank(), step.dim),
                      value.name);
    }
    for (const tensor::AxisId axis : axes) {
        if (value.type.on(axis).is_replicated()) continue;
        throw Refusal("not-replicated",
                      fmt::format("it is {} on axis '{}'; only what every rank has is distributed",
                                  text_of(value.type.on(axis)), program.mesh().name(axis)),
                      value.name);
    }
    if (value.op == Op::Update) {
        throw Refusal("update-layout", "a gather of a state's next value does not update the state",
                      value.name);
    }
    Grouping(program).check_not_overlapped(x);
    Editor editor(program);
    Value slice;
    slice.name = editor.free_name(value.name + ".slice");
    slice.op = Op::Slice;
    slice.args = {x};
    slice.axes = axes;
    slice.dim = step.dim;
    const ValueId part = editor.add(std::move(slice));
    Value gather;
    gather.name = editor.free_name(value.name + ".ag");
    gather.op = Op::AllGather;
    gather.args = {part};
    gather.axes = axes;
    const ValueId whole = editor.add(std::move(gather));
    const tensor::Users users(program);
    redirect(editor, users[x], x, whole);
    return finished(std::move(editor), program);
}

}  // namespace tutti::rewrite

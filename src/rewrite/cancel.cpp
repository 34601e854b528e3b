// A user of a gather takes only its part where its result is sliced on the gather's axes because of another
// operand: then the rules give it the same type with the slice in place of the gather, and only then. So they
// decide.

#include "rewrite/cancel.hpp"

#include "tensor/editor.hpp"
#include "tensor/infer.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tutti::rewrite {
namespace {

using tensor::AxisId;
using tensor::Op;
using tensor::Program;
using tensor::Value;
using tensor::ValueId;

bool same_axes(std::vector<AxisId> a, std::vector<AxisId> b) {
    std::ranges::sort(a);
    std::ranges::sort(b);
    return a == b;
}

/// Whether the slice takes the parts that the gather was made of.
bool undoes(const Program& program, const Value& slice, const Value& gather) {
    if (!same_axes(slice.axes, gather.axes)) return false;
    const tensor::Type& parts = program[gather.args[0]].type;
    return parts.on(gather.axes.front()).is_sliced(static_cast<std::size_t>(slice.dim));
}

/// Whether the user's type is the same when operand i is the slice instead of the gather.
bool takes_only_its_part(const Program& program, const Value& user, std::size_t i) {
    const Value& gather = program[user.args[i]];
    const bool is_cut =
        std::ranges::none_of(gather.axes, [&](AxisId axis) { return user.type.on(axis).is_replicated(); });
    if (!is_cut) return false;
    std::vector<const Value*> args;
    for (const ValueId arg : user.args) args.push_back(&program[arg]);
    args[i] = &program[gather.args[0]];
    try {
        return tensor::infer(program.mesh(), user, args) == user.type;
    } catch (const tensor::Refusal&) {
        return false;
    }
}

}  // namespace

Program cancelled(Program program) {
    std::vector<std::optional<ValueId>> instead(program.slots());
    std::optional<tensor::Editor> editor;
    const auto edit = [&]() -> tensor::Editor& { return editor ? *editor : editor.emplace(program); };
    for (const ValueId id : program.order()) {
        const Value& value = program[id];
        for (std::size_t i = value.op == Op::Update ? 1 : 0; i < value.args.size(); ++i) {
            const ValueId arg = value.args[i];
            if (instead[arg.index()]) edit().replace_operand(id, arg, *instead[arg.index()]);
            const Value& gather = program[arg];
            if (gather.op != Op::AllGather) continue;
            if (value.op == Op::Slice && undoes(program, value, gather)) {
                instead[id.index()] = gather.args[0];
                edit().replace_output(id, gather.args[0]);
            } else if ((is_pointwise(value.op) || value.op == Op::Einsum) &&
                       takes_only_its_part(program, value, i)) {
                edit().change(id).args[i] = gather.args[0];
            }
        }
    }
    // What was cut again may be gathered too.
    return editor ? cancelled(std::move(*editor).finish()) : program;
}

}  // namespace tutti::rewrite

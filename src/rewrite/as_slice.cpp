#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::rewrite {
namespace {

using tensor::AxisId;
using tensor::Editor;
using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Users;
using tensor::Value;
using tensor::ValueId;

/// The update of the state whose next value is a gather that nobody else reads.
ValueId update_of_gather(const Program& program, const Users& users, ValueId state,
                         const tensor::AsSlice& step) {
    for (const ValueId update : users[state]) {
        if (program[update].op != Op::Update || program[update].args[0] != state) continue;
        const ValueId next = program[update].args[1];
        const Value& gather = program[next];
        if (gather.op != Op::AllGather) break;
        const bool is_read =
            users[next].size() > 1 || std::ranges::find(program.outputs(), next) != program.outputs().end();
        if (is_read) {
            throw Refusal("not-gathered",
                          fmt::format("its next value '{}' is read elsewhere too", gather.name), step.tensor);
        }
        const std::size_t dim = program[gather.args[0]].type.on(gather.axes.front()).dim();
        std::vector<AxisId> axes = gather.axes;
        std::ranges::sort(axes);
        std::vector<AxisId> wanted = step.axes ? axes_named(program, *step.axes, step.tensor) : axes;
        std::ranges::sort(wanted);
        if (step.dim.value_or(static_cast<std::int64_t>(dim)) != static_cast<std::int64_t>(dim) ||
            wanted != axes) {
            throw Refusal("not-gathered", "its next value is gathered along another dimension or other axes",
                          step.tensor);
        }
        return update;
    }
    throw Refusal("not-gathered", "its next value is no gather of slices", step.tensor);
}

/// What reads the state, or what is now cut because of it, must be pointwise and read only so itself.
void check_readers(const Program& before, const Program& after, ValueId state, ValueId update) {
    const auto is_cut = [&](ValueId id) { return after[id].type != before[id].type; };
    const auto refuse = [&](ValueId reader) {
        throw Refusal("read-whole", fmt::format("'{}' needs more than a slice of it", after[reader].name),
                      after[state].name);
    };
    for (const ValueId id : after.outputs()) {
        if (id != update && is_cut(id)) refuse(id);
    }
    for (const ValueId id : after.order()) {
        const Value& value = after[id];
        if (id == update) continue;
        if (std::ranges::any_of(value.args, is_cut) && !is_pointwise(value.op)) refuse(id);
    }
}

}  // namespace

Program as_slice(const Program& program, const tensor::AsSlice& step) {
    const ValueId state = value_named(program, step.tensor);
    const Value& tensor = program[state];
    if (tensor.op != Op::Input || !tensor.state)
        throw Refusal("not-state", "only a state is stored as slices", step.tensor);
    if (tensor.fixed) throw Refusal("fixed-layout", "the caller wants it as it is", step.tensor);
    const Users users(program);
    const ValueId update = update_of_gather(program, users, state, step);
    const ValueId next = program[program[update].args[1]].args[0];
    Editor editor(program);
    editor.change(state).layout = program[next].type.layout;
    editor.change(update).args[1] = next;
    if (std::ranges::find(editor.resharded(), state) == editor.resharded().end())
        editor.resharded().push_back(state);
    Program after = settled(
        [&] {
            try {
                return std::move(editor).finish();
            } catch (const Refusal& refusal) {
                throw Refusal("read-whole", fmt::format("with slices: {}", refusal.what()), step.tensor);
            }
        }(),
        program);
    check_readers(program, after, state, update);
    return after;
}

}  // namespace tutti::rewrite

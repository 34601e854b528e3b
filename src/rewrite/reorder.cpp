// Values that are computed from a gathered value by every rank are computed on the slices instead, each
// element by one rank, and gathered then. What a moved value is, the layout rules say: its operands are typed
// anew, from the gather's operand on. Where its type differs from before,
//   - an axis that is local now has partial sums: an all_reduce (`r.ar`) makes them whole, for all users;
//   - an axis that is sliced (or held by a root) now has parts: users outside get a gather (`o.ag`,
//   `o.broadcast`).
// One pass over the program finds which values move, a second one moves them.

#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"
#include "tensor/infer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace tutti::rewrite {
namespace {

using tensor::AxisId;
using tensor::Editor;
using tensor::Layout;
using tensor::Op;
using tensor::Program;
using tensor::Refusal;
using tensor::Type;
using tensor::Users;
using tensor::Value;
using tensor::ValueId;

bool intersects(const std::vector<AxisId>& a, const std::vector<AxisId>& b) {
    return std::ranges::any_of(a, [&](AxisId axis) { return std::ranges::find(b, axis) != b.end(); });
}

class Reordering {
  public:
    Reordering(const Program& program, ValueId gather)
        : program_(program),
          gather_(gather),
          grouping_(program),
          depends_(program.slots()),
          moves_(program.slots()) {
        depends_[gather.index()] = true;
        for (const ValueId id : program.order()) {
            const auto& args = program[id].args;
            if (std::ranges::any_of(args, [&](ValueId arg) { return depends_[arg.index()]; }))
                depends_[id.index()] = true;
        }
        Value source = program[program[gather].args[0]];
        seen_.emplace(gather, std::move(source));
    }

    /// Throws Refusal for the first value that may not move.
    void take(const std::vector<ValueId>& values) {
        for (const ValueId id : values) moves_[id.index()] = true;
        for (const ValueId id : values) check_kind(id);
        for (const ValueId id : values) check_operands(id);
        for (const ValueId id : program_.order()) {
            if (moves_[id.index()]) type(id);
        }
    }

    /// All that may move.
    void take_all() {
        std::optional<Refusal> first;
        bool any = false;
        for (const ValueId id : program_.order()) {
            if (id == gather_ || !depends_[id.index()]) continue;
            try {
                check_kind(id);
                check_operands(id);
                type(id);
                check_gather(id);
                moves_[id.index()] = true;
                any = true;
            } catch (const Refusal& refusal) {
                seen_.erase(id);
                if (!first) first = refusal;
            }
        }
        if (any) return;
        if (first) throw *first;
        throw Refusal("nothing", "nothing depends on it", program_[gather_].name);
    }

    [[nodiscard]] Program moved() const {
        const Users users(program_);
        Editor editor(program_);
        for (const ValueId id : program_.order()) {
            if (moves_[id.index()]) editor.replace_operand(id, gather_, program_[gather_].args[0]);
        }
        for (const ValueId id : program_.order()) {
            if (moves_[id.index()]) restore(editor, users, id);
        }
        return finished(std::move(editor), program_);
    }

  private:
    [[noreturn]] void refuse(ValueId id, const char* code, const std::string& words) const {
        throw Refusal(code, words, program_[id].name);
    }

    void check_kind(ValueId id) const {
        const Value& value = program_[id];
        const std::string& gather = program_[gather_].name;
        grouping_.check_free(id);
        if (value.op == Op::Update)
            refuse(id, "update-layout", "an update needs the whole value of a state that is whole");
        if (id == gather_ || !depends_[id.index()])
            refuse(id, "not-a-user", fmt::format("it does not depend on '{}'", gather));
        switch (value.op) {
            case Op::Shift:
            case Op::AllReduce:
                if (intersects(value.axes, program_[gather_].axes))
                    refuse(id, "same-axis", fmt::format("it communicates along an axis of '{}'", gather));
                return;
            case Op::Reduce:
            case Op::Einsum:
            case Op::Transpose:
            case Op::Slice:
                return;
            default:
                if (!is_pointwise(value.op))
                    refuse(id, "not-movable", fmt::format("{} is not computed on slices", name_of(value.op)));
        }
    }

    void check_operands(ValueId id) const {
        for (const ValueId arg : program_[id].args) {
            if (depends_[arg.index()]) {
                if (arg == gather_ || moves_[arg.index()]) continue;
                refuse(id, "incomplete",
                       fmt::format("its operand '{}' depends on '{}' and does not move", program_[arg].name,
                                   program_[gather_].name));
            }
            for (const AxisId axis : program_[gather_].axes) {
                const Layout layout = program_[arg].type.on(axis);
                if (layout.is_replicated() || layout.is_sliced()) continue;
                refuse(id, "local-operand",
                       fmt::format("its operand '{}' is {} on axis '{}'", program_[arg].name, text_of(layout),
                                   program_.mesh().name(axis)));
            }
        }
    }

    /// What users see of a moved value: its own type, with partial sums made whole.
    void type(ValueId id) {
        Value value = program_[id];
        std::vector<const Value*> args;
        for (const ValueId arg : value.args) {
            const auto moved = seen_.find(arg);
            args.push_back(moved == seen_.end() ? &program_[arg] : &moved->second);
        }
        try {
            value.type = tensor::infer(program_.mesh(), value, args);
        } catch (const Refusal& refusal) {
            throw refusal.of_value(value.name);
        }
        for (const AxisId axis : partial_axes(id, value.type)) value.type.layout[axis.index()] = Layout();
        seen_.insert_or_assign(id, std::move(value));
    }

    /// Axes on which the value was whole and has partial sums with this type.
    [[nodiscard]] std::vector<AxisId> partial_axes(ValueId id, const Type& type) const {
        return axes_where(id, type, [](Layout layout) { return layout.is_local(); });
    }
    /// Axes on which it was whole and has parts.
    [[nodiscard]] std::vector<AxisId> part_axes(ValueId id, const Type& type) const {
        return axes_where(id, type, [](Layout layout) { return layout.is_sliced() || layout.is_root(); });
    }
    template <class Where>
    [[nodiscard]] std::vector<AxisId> axes_where(ValueId id, const Type& type, Where&& where) const {
        std::vector<AxisId> axes;
        for (const AxisId axis : program_[gather_].axes) {
            if (program_[id].type.on(axis).is_replicated() && where(type.on(axis))) axes.push_back(axis);
        }
        return axes;
    }

    [[nodiscard]] Value gather_of(const Value& parts, ValueId id, std::vector<AxisId> axes) const {
        Value gather;
        gather.op = program_[gather_].op;
        gather.args = {id};
        gather.axes = std::move(axes);
        gather.root = program_[gather_].root;
        gather.name = parts.name + (gather.op == Op::AllGather ? ".ag" : ".broadcast");
        return gather;
    }

    /// That what moves can be gathered again.
    void check_gather(ValueId id) const {
        const Value& parts = seen_.at(id);
        std::vector<AxisId> axes = part_axes(id, parts.type);
        if (axes.empty()) return;
        const Value* arg = &parts;
        const Value gather = gather_of(parts, id, std::move(axes));
        (void)tensor::infer(program_.mesh(), gather, std::span(&arg, 1));
    }

    /// Adds what makes users of a moved value see what they saw.
    void restore(Editor& editor, const Users& users, ValueId id) const {
        const Value& value = program_[id];
        const Type& seen = seen_.at(id).type;
        ValueId last = id;
        if (const std::vector<AxisId> axes = summed_axes(id); !axes.empty()) {
            Value sum;
            sum.name = editor.free_name(value.name + ".ar");
            sum.op = Op::AllReduce;
            sum.args = {id};
            sum.axes = axes;
            sum.reduction = value.op == Op::Reduce ? value.reduction : tensor::Reduction::Sum;
            last = editor.add(std::move(sum));
            for (const ValueId user : users[id]) {
                if (moves_[user.index()]) editor.replace_operand(user, id, last);
            }
        }
        std::vector<ValueId> outside;
        for (const ValueId user : users[id]) {
            if (!moves_[user.index()]) outside.push_back(user);
        }
        const bool is_output = std::ranges::find(program_.outputs(), id) != program_.outputs().end();
        if (outside.empty() && !is_output) return;
        if (std::vector<AxisId> axes = part_axes(id, seen); !axes.empty()) {
            Value gather = gather_of(value, last, std::move(axes));
            gather.name = editor.free_name(gather.name);
            last = editor.add(std::move(gather));
        }
        if (last != id) redirect(editor, outside, id, last);
    }

    /// The axes over which the moved value is partial: typed once more, because seen_ has it whole.
    [[nodiscard]] std::vector<AxisId> summed_axes(ValueId id) const {
        const Value& value = program_[id];
        if (value.op != Op::Reduce && value.op != Op::Einsum) return {};
        std::vector<const Value*> args;
        for (const ValueId arg : value.args) {
            const auto moved = seen_.find(arg);
            args.push_back(moved == seen_.end() ? &program_[arg] : &moved->second);
        }
        return partial_axes(id, tensor::infer(program_.mesh(), value, args));
    }

    const Program& program_;
    ValueId gather_;
    Grouping grouping_;
    std::vector<bool> depends_, moves_;        ///< on the gather; of the values
    std::unordered_map<ValueId, Value> seen_;  ///< of the gather and what moves: as moved users see it
};

}  // namespace

Program reorder(const Program& program, const tensor::Reorder& step) {
    const ValueId gather = value_named(program, step.gather);
    const Value& value = program[gather];
    const bool is_broadcast =
        value.op == Op::BroadcastFrom && std::ranges::all_of(value.axes, [&](AxisId axis) {
            return program[value.args[0]].type.on(axis).is_root();
        });
    if (value.op != Op::AllGather && !is_broadcast) {
        throw Refusal("wrong-op",
                      fmt::format("only what is behind an all_gather, or a broadcast from a root, is moved; "
                                  "this is {}",
                                  name_of(value.op)),
                      value.name);
    }
    std::vector<ValueId> ops;
    if (step.ops) ops = values_named(program, *step.ops);
    if (step.ops && ops.empty()) throw Refusal("nothing", "expected values that move", value.name);
    Grouping(program).check_free(gather);
    Reordering reordering(program, gather);
    if (step.ops) {
        reordering.take(ops);
    } else {
        reordering.take_all();
    }
    return reordering.moved();
}

}  // namespace tutti::rewrite

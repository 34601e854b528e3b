#include "tensor/loop.hpp"

#include "tensor/dimensions.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tutti::tensor {
namespace {

/// The index of an entry in a list, which is added if it is not there.
template <class Entry>
std::size_t place_of(std::vector<Entry>& list, Entry entry) {
    const auto found = std::ranges::find(list, entry);
    if (found != list.end()) return static_cast<std::size_t>(found - list.begin());
    list.push_back(std::move(entry));
    return list.size() - 1;
}

}  // namespace

Loop loop_of(const Program& program, std::span<const ValueId> values,
             const std::function<bool(ValueId)>& leaves) {
    using Kind = LoopOperand::Kind;
    Loop loop{.type = program[values.front()].type};
    std::map<ValueId, std::size_t> step_of;
    for (const ValueId id : values) {
        const Value& value = program[id];
        LoopStep step{.op = value.op, .from = program[value.args.back()].type.dtype, .to = value.type.dtype};
        for (std::size_t k = 0; k < value.args.size(); ++k) {
            const ValueId arg = value.args[k];
            const Value& operand = program[arg];
            if (const auto found = step_of.find(arg); found != step_of.end()) {
                step.operands.push_back({Kind::Earlier, found->second});
            } else if (operand.op == Op::Constant) {
                step.operands.push_back(
                    {Kind::Constant,
                     place_of(loop.constants, LoopConstant{operand.number, operand.type.dtype})});
            } else {
                step.operands.push_back(
                    {Kind::Tensor, place_of(loop.tensors, LoopTensor{arg, read_type(program, value, k)})});
            }
        }
        if (leaves(id)) {
            step.output = loop.outputs.size();
            loop.outputs.push_back({id, value.type.dtype});
        }
        step_of[id] = loop.steps.size();
        loop.steps.push_back(std::move(step));
    }
    return loop;
}

}  // namespace tutti::tensor

#include "rewrite/lookup.hpp"
#include "rewrite/transformations.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::rewrite {
namespace {

using tensor::Program;
using tensor::Refusal;
using tensor::Value;
using tensor::ValueId;

/// Whether one call can do both: each has its own buffer, shape and dimensions.
bool same_kind(const Value& a, const Value& b) {
    return a.op == b.op && a.axes == b.axes && a.reduction == b.reduction && a.root == b.root &&
           a.by == b.by && a.type.dtype == b.type.dtype;
}

void check_independent(const Program& program, const std::vector<ValueId>& values) {
    std::vector<bool> in_call(program.slots()), depends(program.slots());
    for (const ValueId id : values) in_call[id.index()] = true;
    for (const ValueId id : program.order()) {
        const bool needs = std::ranges::any_of(
            program[id].args, [&](ValueId arg) { return in_call[arg.index()] || depends[arg.index()]; });
        if (needs && in_call[id.index()])
            throw Refusal("depends", "it needs another of the call", program[id].name);
        depends[id.index()] = needs;
    }
}

}  // namespace

Program coalesce(const Program& original, const tensor::Coalesce& step) {
    const Program program = tidied(original);
    const std::vector<ValueId> values = values_named(program, step.ops);
    if (values.size() < 2) throw Refusal("nothing", "expected at least two collectives in a call");
    const Grouping grouping(program);
    for (const ValueId id : values) {
        if (!is_collective(program[id].op)) {
            throw Refusal("wrong-op",
                          fmt::format("only collectives are coalesced, not {}", name_of(program[id].op)),
                          program[id].name);
        }
    }
    for (const ValueId id : values) grouping.check_free(id);
    for (const ValueId id : values) {
        if (same_kind(program[id], program[values.front()])) continue;
        throw Refusal("kinds-differ",
                      fmt::format("it differs from '{}' in operation, axes, reduction, root or dtype",
                                  program[values.front()].name),
                      program[id].name);
    }
    check_independent(program, values);
    return with_kernel(program, step.name.empty() ? "call." + step.ops.front() : step.name, values);
}

}  // namespace tutti::rewrite

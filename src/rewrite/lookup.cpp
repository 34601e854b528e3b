#include "rewrite/lookup.hpp"

#include "rewrite/cancel.hpp"
#include "rewrite/transformations.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace tutti::rewrite {

using tensor::Editor;
using tensor::Fused;
using tensor::Program;
using tensor::Refusal;
using tensor::ValueId;

namespace {

[[noreturn]] void refuse_name(const std::string& name) {
    throw Refusal("name", fmt::format("there is no value '{}'", name));
}

/// Moving comes before fusing: kernels keep their values, and these their types.
void check_kernels_kept(const Program& before, const Program& after) {
    for (const Fused& fused : before.fused()) {
        for (const ValueId id : fused.values) {
            if (after.has(id) && after[id].type == before[id].type) continue;
            throw Refusal("already-fused",
                          fmt::format("it is in the kernel '{}'; moving comes before fusing", fused.name),
                          before[id].name);
        }
    }
    if (before.overlaps().empty()) return;
    const Grouping grouping(before);
    for (const ValueId id : before.order()) {
        if (!after.has(id) || after[id].type != before[id].type) grouping.check_not_overlapped(id);
    }
}

void check_kernel_name(const Program& program, const std::string& name, std::span<const ValueId> values) {
    for (const tensor::Fused& fused : program.fused()) {
        if (fused.name == name) throw Refusal("name", "a kernel has this name already", name);
    }
    const auto same = program.find(name);
    if (same && std::ranges::find(values, *same) == values.end())
        throw Refusal("name", "a value outside the kernel has this name", name);
}

}  // namespace

ValueId value_named(const Program& program, const std::string& name) {
    const auto found = program.find(name);
    if (!found) refuse_name(name);
    return *found;
}

std::vector<ValueId> values_named(const Program& program, std::span<const std::string> names) {
    std::unordered_map<std::string_view, ValueId> ids;
    for (const ValueId id : program.order()) ids.emplace(program[id].name, id);
    std::vector<ValueId> values;
    std::unordered_set<ValueId> seen;
    for (const std::string& name : names) {
        const auto found = ids.find(name);
        if (found == ids.end()) refuse_name(name);
        if (!seen.insert(found->second).second)
            throw Refusal("name", fmt::format("'{}' is named twice", name), name);
        values.push_back(found->second);
    }
    return values;
}

std::vector<tensor::AxisId> axes_named(const Program& program, std::span<const std::string> names,
                                       const std::string& value) {
    std::vector<tensor::AxisId> axes;
    for (const std::string& name : names) {
        const auto axis = program.mesh().find(name);
        if (!axis) throw Refusal("axis", fmt::format("the mesh has no axis '{}'", name), value);
        if (std::ranges::find(axes, *axis) != axes.end())
            throw Refusal("axis", fmt::format("axis '{}' is named twice", name), value);
        axes.push_back(*axis);
    }
    if (axes.empty()) throw Refusal("axis", "expected at least one axis", value);
    return axes;
}

Grouping::Grouping(const Program& program)
    : program_(program), kernel_of_(program.slots()), overlapped_(program.slots()) {
    for (const Fused& fused : program.fused()) {
        for (const ValueId id : fused.values) kernel_of_[id.index()] = &fused;
    }
    if (program.overlaps().empty()) return;
    std::unordered_set<std::string_view> chained;
    for (const tensor::Overlap& overlap : program.overlaps())
        chained.insert(overlap.chain.begin(), overlap.chain.end());
    for (const ValueId id : program.order()) {
        const Fused* fused = kernel_of_[id.index()];
        overlapped_[id.index()] = chained.contains(fused != nullptr ? fused->name : program[id].name);
    }
}

void Grouping::check_free(ValueId id) const {
    if (const Fused* fused = kernel_of(id)) {
        throw Refusal("already-fused",
                      fmt::format("it is in the kernel '{}'; what is fused does not move", fused->name),
                      program_[id].name);
    }
    check_not_overlapped(id);
}

void Grouping::check_not_overlapped(ValueId id) const {
    if (!overlapped_[id.index()]) return;
    throw Refusal("already-overlapped", "its kernel overlaps with others; moving and fusing come first",
                  program_[id].name);
}

void redirect(Editor& editor, std::span<const ValueId> users, ValueId from, ValueId to) {
    for (const ValueId user : users) {
        if (user != to) editor.replace_operand(user, from, to);
    }
    editor.replace_output(from, to);
}

Program with_kernel(const Program& program, std::string name, std::span<const ValueId> values) {
    check_kernel_name(program, name, values);
    std::unordered_set<ValueId> inside(values.begin(), values.end());
    std::vector<ValueId> in_order;
    for (const ValueId id : program.order()) {
        if (inside.contains(id)) in_order.push_back(id);
    }
    Editor editor(program);
    editor.fused().push_back({std::move(name), std::move(in_order)});
    return finished(std::move(editor), program);
}

Program settled(Program changed, const Program& before) {
    Program after = cancelled(std::move(changed));
    check_kernels_kept(before, after);
    tensor::check_kernel_order(after);
    return after;
}

Program finished(Editor&& editor, const Program& before) {
    return settled(std::move(editor).finish(), before);
}

Program tidied(const Program& program) { return finished(Editor(program), program); }

}  // namespace tutti::rewrite

#include "tensor/program.hpp"

#include "tensor/infer.hpp"
#include "tensor/kernels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tutti::tensor {
namespace {

void check_names(const ProgramParts& parts) {
    std::unordered_set<std::string_view> names;
    for (const Value& value : parts.values) {
        if (value.name.empty()) throw Refusal("name", "a value has no name");
        if (!names.insert(value.name).second) throw Refusal("name", "two values have this name", value.name);
    }
}

void resolve_sizes(const ProgramParts& parts, Value& value) {
    for (Size& size : value.shape) {
        if (size.name.empty()) continue;
        const auto found = parts.sizes.find(size.name);
        if (found == parts.sizes.end())
            throw Refusal("size", fmt::format("there is no size '{}'", size.name), value.name);
        size.size = found->second;
    }
}

/// Precondition: operands come first.
Type typed(const Mesh& mesh, const std::vector<std::shared_ptr<const Value>>& values, const Value& value) {
    std::vector<const Value*> args;
    for (const ValueId arg : value.args) args.push_back(values[arg.index()].get());
    try {
        return infer(mesh, value, args);
    } catch (const Refusal& refusal) {
        throw refusal.of_value(value.name);
    }
}

void check_updates(const ProgramParts& parts) {
    std::unordered_map<ValueId, std::size_t> updates;
    for (std::size_t i = 0; i < parts.values.size(); ++i) {
        const Value& value = parts.values[i];
        if (value.op != Op::Update) continue;
        const auto [first, is_new] = updates.emplace(value.args[0], i);
        if (is_new) continue;
        throw Refusal("updated-twice",
                      fmt::format("state '{}' is updated by '{}' already",
                                  parts.values[value.args[0].index()].name, parts.values[first->second].name),
                      value.name);
    }
}

void check_fused(const ProgramParts& parts) {
    std::unordered_map<std::string_view, const Fused*> by_name;
    std::unordered_map<ValueId, const Fused*> inside;
    for (const Fused& fused : parts.fused) {
        if (!by_name.emplace(fused.name, &fused).second)
            throw Refusal("fused", "two kernels have this name", fused.name);
        if (fused.values.size() < 2)
            throw Refusal("fused", "expected at least two values in a kernel", fused.name);
        for (const ValueId id : fused.values) {
            const Value& value = parts.values[id.index()];
            if (!inside.emplace(id, &fused).second)
                throw Refusal("fused", fmt::format("value '{}' is in a kernel twice", value.name),
                              fused.name);
            if (value.op == Op::Input || value.op == Op::Constant)
                throw Refusal("fused", fmt::format("'{}' is no operation", value.name), fused.name);
        }
    }
    for (std::size_t i = 0; i < parts.values.size(); ++i) {
        const auto same = by_name.find(parts.values[i].name);
        if (same == by_name.end()) continue;
        const auto own = inside.find(ValueId(i));
        if (own == inside.end() || own->second != same->second)
            throw Refusal("fused", "a kernel and a value outside it have this name", parts.values[i].name);
    }
}

void check_overlaps(const ProgramParts& parts, const Kernels& kernels) {
    std::unordered_set<std::string_view> names, overlapped;
    for (const Kernel& kernel : kernels.all()) names.insert(kernel.name);
    for (const Overlap& overlap : parts.overlaps) {
        if (overlap.pieces < 2) throw Refusal("pieces", "expected at least two pieces");
        if (overlap.chain.size() < 2) throw Refusal("nothing", "expected at least two kernels in a chain");
        for (const std::string& name : overlap.chain) {
            if (!names.contains(name)) throw Refusal("name", "there is no such kernel", name);
            if (!overlapped.insert(name).second)
                throw Refusal("overlapped-twice", "the kernel overlaps already", name);
        }
    }
}

}  // namespace

Program::Program(ProgramParts parts)
    : header_(std::make_shared<Header>(
          Header{std::move(parts.name), std::move(parts.about), std::move(parts.mesh), parts.sizes})) {
    check_names(parts);
    values_.reserve(parts.values.size());
    order_.reserve(parts.values.size());
    for (std::size_t i = 0; i < parts.values.size(); ++i) {
        Value& value = parts.values[i];
        for (const ValueId arg : value.args) {
            if (arg.index() < i) continue;
            const bool itself = arg.index() == i;
            throw Refusal(
                "order",
                itself ? "it needs itself"
                       : fmt::format("it needs '{}', which is made later", parts.values[arg.index()].name),
                value.name);
        }
        resolve_sizes(parts, value);
        value.type = typed(header_->mesh, values_, value);
        values_.push_back(std::make_shared<const Value>(value));
        order_.emplace_back(i);
    }
    if (parts.outputs.empty()) throw Refusal("outputs", "expected at least one output");
    check_updates(parts);
    check_fused(parts);
    for (const ValueId id : parts.resharded) {
        if (!parts.values[id.index()].state)
            throw Refusal("resharded", "only states are resharded", parts.values[id.index()].name);
    }
    outputs_ = std::move(parts.outputs);
    fused_ = parts.fused;
    for (Fused& fused : fused_) std::ranges::sort(fused.values);
    overlaps_ = parts.overlaps;
    resharded_ = std::move(parts.resharded);
    const Kernels kernels(*this);
    check_overlaps(parts, kernels);
}

std::optional<ValueId> Program::find(std::string_view name) const {
    for (const ValueId id : order_) {
        if (values_[id.index()]->name == name) return id;
    }
    return std::nullopt;
}

ProgramParts Program::parts() const {
    std::vector<ValueId> place(slots());
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i].index()] = ValueId(i);
    const auto moved = [&](std::vector<ValueId> ids) {
        for (ValueId& id : ids) id = place[id.index()];
        return ids;
    };
    ProgramParts parts{name(),          about(), mesh(),    sizes(),          {},
                       moved(outputs_), fused_,  overlaps_, moved(resharded_)};
    parts.values.reserve(order_.size());
    for (const ValueId id : order_) {
        Value& value = parts.values.emplace_back(*values_[id.index()]);
        value.args = moved(std::move(value.args));
    }
    for (Fused& fused : parts.fused) fused.values = moved(std::move(fused.values));
    return parts;
}

Users::Users(const Program& program) : begin_(program.slots() + 1) {
    for (const ValueId id : program.order()) {
        for (const ValueId arg : program[id].args) ++begin_[arg.index() + 1];
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    users_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (const ValueId id : program.order()) {
        for (const ValueId arg : program[id].args) users_[next[arg.index()]++] = id;
    }
}

Program at_sizes(const Program& program, std::span<const std::int64_t> axes,
                 const std::map<std::string, std::int64_t>& sizes) {
    ProgramParts parts = program.parts();
    if (!axes.empty()) {
        if (axes.size() != parts.mesh.axes().size()) throw Refusal("axis", "expected a size for each axis");
        parts.mesh = parts.mesh.resized(axes);
    }
    for (const auto& [name, size] : sizes) {
        const auto found = parts.sizes.find(name);
        if (found == parts.sizes.end()) throw Refusal("size", fmt::format("there is no size '{}'", name));
        found->second = size;
    }
    return Program(std::move(parts));
}

}  // namespace tutti::tensor

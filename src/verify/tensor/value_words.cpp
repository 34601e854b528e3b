#include "verify/tensor/value_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

namespace tutti::verify {
namespace {

using tensor::Op;

std::string shape_text(const tensor::Value& value) {
    std::vector<std::string> sizes;
    for (const tensor::Size& size : value.shape)
        sizes.push_back(size.name.empty() ? fmt::format("{}", size.size) : size.name);
    return fmt::format("[{}]", fmt::join(sizes, ", "));
}

std::string axes_text(const tensor::Value& value, const tensor::Mesh& mesh) {
    std::vector<std::string> names;
    for (const tensor::AxisId axis : value.axes) names.push_back(mesh.name(axis));
    return fmt::format("{}", fmt::join(names, ", "));
}

/// What stands behind the name of the operation; empty if nothing does.
std::string attributes_text(const tensor::Value& value, const tensor::Mesh& mesh) {
    switch (value.op) {
        case Op::Constant:
            return fmt::format("{}{}", value.number,
                               value.shape.empty() ? "" : " of shape " + shape_text(value));
        case Op::Uniform:
            return fmt::format("of shape {}, seed {}", shape_text(value), value.seed);
        case Op::Iota:
            return fmt::format("of shape {} along dimension {}", shape_text(value), value.dim);
        case Op::Cast:
            return fmt::format("to {}", name_of(value.dtype));
        case Op::Einsum:
            return value.spec;
        case Op::Reduce:
            return fmt::format("by {} over dimension{} {}{}", name_of(value.reduction),
                               value.dims.size() == 1 ? "" : "s", fmt::join(value.dims, ", "),
                               value.keepdims ? ", kept" : "");
        case Op::Transpose:
            return fmt::format("to [{}]", fmt::join(value.perm, ", "));
        case Op::Broadcast:
        case Op::Reshape:
            return "to " + shape_text(value);
        case Op::AllReduce:
        case Op::ReduceScatter:
        case Op::ReduceTo:
            return fmt::format("by {} over {}", name_of(value.reduction), axes_text(value, mesh));
        case Op::AllToAll:
            return fmt::format("over {}, split {}, concat {}", axes_text(value, mesh), value.split,
                               value.concat);
        case Op::BroadcastFrom:
            return fmt::format("rank {} of {}", value.root, axes_text(value, mesh));
        case Op::Shift:
            return fmt::format("by {} along {}", value.by, axes_text(value, mesh));
        case Op::Stack:
        case Op::Unstack:
            return fmt::format("over {} along dimension {}", axes_text(value, mesh), value.dim);
        default:
            return "";
    }
}

}  // namespace

std::string words_for(const tensor::Value& value, const tensor::Mesh& mesh) {
    const std::string attributes = attributes_text(value, mesh);
    return std::string(name_of(value.op)) + (attributes.empty() ? "" : " " + attributes);
}

}  // namespace tutti::verify

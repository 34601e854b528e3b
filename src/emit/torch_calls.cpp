// Collectives as calls of PyTorch's functional collectives. Parts that differ in size are padded to the size
// of the first before a call and cut behind it; where a dimension divides, no text is written for that.

#include "emit/torch_step.hpp"
#include "tensor/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::emit {

using tensor::AxisId, tensor::DType, tensor::Op, tensor::Type, tensor::Value, tensor::ValueId;

namespace {

std::string_view reduction_text(const Value& value) {
    using enum tensor::Reduction;
    if (value.type.dtype == DType::Bool)
        return value.reduction == Sum || value.reduction == Max ? "max" : "min";
    return value.reduction == tensor::Reduction::Prod ? "product" : name_of(value.reduction);
}

bool divides(const tensor::Mesh& mesh, const Type& type, std::size_t dim) {
    return type.shape[dim] % mesh.group_size(slicing_axes(type, dim)) == 0;
}

std::size_t index_of(std::int64_t dim) { return static_cast<std::size_t>(dim); }

}  // namespace

std::vector<AxisId> TorchStep::sorted_axes(const Value& value) const {
    std::vector<AxisId> axes = value.axes;
    std::ranges::sort(axes);
    return axes;
}

std::string TorchStep::group(const Value& value) {
    const std::vector<AxisId> axes = sorted_axes(value);
    groups_.insert(axes);
    std::vector<std::string> names;
    for (const AxisId axis : axes) names.push_back(python_string(program_.mesh().name(axis)));
    return fmt::format("groups[{}]", fmt::join(names, ", "));
}

std::string TorchStep::spread(ValueId id, const std::string& text, const Type& type, std::size_t dim,
                              std::span<const AxisId> axes) const {
    const std::int64_t ranks =
        program_.mesh().group_size(slicing_axes(type, dim)) * program_.mesh().group_size(axes);
    if (is_cut(id, dim) || type.shape[dim] % ranks == 0) return text;
    return fmt::format("_spread({}, {}, {})", text, dim, cuts(part_size(program_.mesh(), type, dim), axes));
}

/// `type`: of the result, which these axes no longer slice.
std::string TorchStep::unspread(ValueId id, const std::string& text, const Type& type, std::size_t dim,
                                std::span<const AxisId> axes) {
    const std::int64_t ranks =
        program_.mesh().group_size(slicing_axes(type, dim)) * program_.mesh().group_size(axes);
    if (is_cut(id, dim) || type.shape[dim] % ranks == 0) return text;
    const std::int64_t nominal = part_size(program_.mesh(), type, dim);
    return fmt::format("_unspread({}, {}, {}, {}, {})", text, dim, cuts(nominal, axes), nominal,
                       extent(type, dim).size);
}

std::string TorchStep::narrowed(ValueId id, const std::string& text, std::size_t dim) {
    const Type& type = program_[id].type;
    if (is_cut(id, dim) || divides(program_.mesh(), type, dim)) return text;
    return fmt::format("{}.narrow({}, 0, {})", text, dim, extent(type, dim).size);
}

std::string TorchStep::packed(ValueId id, bool together) {
    const Value& value = program_[id];
    const Type& operand = program_[value.args[0]].type;
    std::string text = read(id, 0);
    if (operand.dtype == DType::Bool) text += ".to(torch.uint8)";
    const auto padded = [&](std::size_t dim) {
        if (is_cut(id, dim) || divides(program_.mesh(), operand, dim)) return text;
        return fmt::format("_pad({}, {}, {})", text, dim, part_size(program_.mesh(), operand, dim));
    };
    switch (value.op) {
        case Op::ReduceScatter: {
            const std::size_t dim = index_of(value.dim);
            return fmt::format("_split({}, {}, {})", spread(id, text, operand, dim, sorted_axes(value)), dim,
                               program_.mesh().group_size(value.axes));
        }
        case Op::AllGather:
            return padded(operand.on(value.axes.front()).dim()) + ".contiguous()[None]";
        case Op::AllToAll: {
            const std::size_t split = index_of(value.split);
            if (!operand.on(value.axes.front()).is_local()) {
                text = padded(index_of(value.concat));
                text = spread(id, text, operand, split, value.axes);
            }
            return fmt::format("_split({}, {}, {})", text, split, program_.mesh().group_size(value.axes));
        }
        default:
            return together ? text + "[None]" : text;
    }
}

std::string TorchStep::called(const Value& value, const std::string& packed) {
    const std::string group_text = group(value);
    switch (value.op) {
        case Op::ReduceScatter:
            return fmt::format("_reduce_scatter({}, \"{}\", 0, {})", packed, reduction_text(value),
                               group_text);
        case Op::AllGather:
            return fmt::format("_all_gather({}, 0, {})", packed, group_text);
        case Op::AllToAll:
            return fmt::format("funcol.all_to_all_single({}, None, None, {})", packed, group_text);
        case Op::BroadcastFrom: {
            std::int64_t root = 0;
            for (const AxisId axis : sorted_axes(value))
                root = root * program_.mesh().size(axis) + value.root;
            return fmt::format("funcol.broadcast({}, {}, {})", packed, root, group_text);
        }
        case Op::Shift:
            return fmt::format("_shift({}, {}, {}, {}, {})", packed, value.by, place(value.axes.front()),
                               program_.mesh().size(value.axes.front()), group_text);
        default:  // also reduce_to: there is no functional reduction to one rank
            return fmt::format("funcol.all_reduce({}, \"{}\", {})", packed, reduction_text(value),
                               group_text);
    }
}

std::string TorchStep::finished(ValueId id, const std::string& raw, bool together) {
    const Value& value = program_[id];
    const Type& operand = program_[value.args[0]].type;
    std::string text = raw;
    switch (value.op) {
        case Op::ReduceScatter:
            text = narrowed(id, text + "[0]", index_of(value.dim));
            break;
        case Op::AllGather: {
            const std::size_t dim = operand.on(value.axes.front()).dim();
            text = unspread(id, fmt::format("_join({}, {})", text, dim), value.type, dim, sorted_axes(value));
            break;
        }
        case Op::AllToAll: {
            const std::size_t concat = index_of(value.concat);
            text = fmt::format("_join({}, {})", text, concat);
            if (!operand.on(value.axes.front()).is_local()) {
                text = unspread(id, text, value.type, concat, value.axes);
                text = narrowed(id, text, index_of(value.split));
            }
            break;
        }
        case Op::Shift:
            text = fmt::format("_arrived({}, {}, {}, {}, {})", text, local_shape(id), value.by,
                               place(value.axes.front()), program_.mesh().size(value.axes.front()));
            break;
        default:
            if (together) text += "[0]";
    }
    if (operand.dtype == DType::Bool) return text + ".to(torch.bool)";
    const bool adds_up =
        value.op == Op::ReduceScatter || value.op == Op::AllReduce || value.op == Op::ReduceTo;
    return adds_up ? word(value, text) : text;
}

}  // namespace tutti::emit

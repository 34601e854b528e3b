#include "emit/torch_step.hpp"

#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"
#include "tensor/parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::emit {

using tensor::AxisId, tensor::DType, tensor::Kernel, tensor::Op, tensor::Type, tensor::Value, tensor::ValueId;

namespace {

/// Made where it is read, as much as is read: random numbers, and constants of a shape.
bool is_made_anew(const Value& value) {
    return value.op == Op::Uniform || value.op == Op::Iota ||
           (value.op == Op::Constant && value.type.rank() > 0);
}

std::string number_text(const Value& constant) {
    if (constant.dtype == DType::Bool) return constant.number != 0 ? "True" : "False";
    if (!is_floating(constant.dtype)) return fmt::format("{:.0f}", constant.number);
    return python_number(constant.number);
}

std::string operator_text(Op op) {
    switch (op) {
        case Op::Add:
            return "+";
        case Op::Sub:
            return "-";
        case Op::Mul:
            return "*";
        case Op::Lt:
            return "<";
        case Op::Le:
            return "<=";
        case Op::Gt:
            return ">";
        case Op::Ge:
            return ">=";
        case Op::Eq:
            return "==";
        case Op::Ne:
            return "!=";
        default:
            return {};
    }
}

std::string function_text(Op op) {
    switch (op) {
        case Op::Neg:
            return "torch.neg";
        case Op::Max:
            return "torch.maximum";
        case Op::Min:
            return "torch.minimum";
        case Op::Not:
            return "torch.logical_not";
        case Op::And:
            return "torch.logical_and";
        case Op::Or:
            return "torch.logical_or";
        case Op::Select:
            return "torch.where";
        default:
            return fmt::format("torch.{}", name_of(op));
    }
}

/// Arithmetic with truth values: what is not 0 is true. Nothing for what is no arithmetic.
std::string truth_text(Op op, std::span<const std::string> args) {
    switch (op) {
        case Op::Add:
        case Op::Max:
            return fmt::format("{} | {}", args[0], args[1]);
        case Op::Mul:
        case Op::Min:
            return fmt::format("{} & {}", args[0], args[1]);
        case Op::Sub:
            return fmt::format("{} ^ {}", args[0], args[1]);
        case Op::Div:
        case Op::Pow:
            return fmt::format("{} | ~{}", args[0], args[1]);
        case Op::Neg:
        case Op::Abs:
            return args[0];
        default:
            return {};
    }
}

std::string list_text(std::span<const std::int64_t> numbers) {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
}

}  // namespace

std::string torch_dtype(DType dtype) {
    switch (dtype) {
        case DType::I64:
        case DType::U32:  // of which PyTorch has no arithmetic; results are cut to 32 bits
            return "torch.int64";
        case DType::I32:
            return "torch.int32";
        case DType::I8:
            return "torch.int8";
        case DType::U8:
            return "torch.uint8";
        case DType::Bool:
            return "torch.bool";
        default:
            return std::string(name_of(dtype));
    }
}

TorchStep::TorchStep(const tensor::Program& program) : StepWriter(program), names_(program.slots()) {
    for (const char* name :
         {"torch",  "dist", "funcol", "math",  "itertools", "inputs", "groups",     "coords", "floats",
          "device", "at",   "turn",   "piece", "length",    "f64",    "f32",        "bf16",   "f16",
          "range",  "min",  "float",  "next",  "dict",      "zip",    "isinstance", "AXES"}) {
        (void)python_.unique(name);
    }
    for (const ValueId id : program.order()) {
        if (!is_made_anew(program[id])) names_[id.index()] = python_.unique(program[id].name);
    }
}

void TorchStep::line(const std::string& text) {
    (pieces_ != nullptr ? loop_ : body_) += (pieces_ != nullptr ? "            " : "    ") + text + "\n";
}

std::string TorchStep::made_ahead(const std::string& expression, const std::string& name) {
    const auto [known, is_new] = made_ahead_.emplace(expression, "");
    if (is_new) {
        known->second = python_.unique(name);
        line_ahead(fmt::format("{} = {}", known->second, expression));
    }
    return known->second;
}

std::string TorchStep::text() {
    write_inputs();
    write_kernels();
    write_results();
    return parts_ + body_;
}

void TorchStep::write_inputs() {
    for (const ValueId id : program_.order()) {
        const Value& value = program_[id];
        if (value.op != Op::Input) continue;
        const std::string has = holder(value.type);
        line(fmt::format("{} = {}(inputs, {}, {}, {}{})", names_[id.index()],
                         has.empty() ? "_input" : "_rooted", python_string(value.name),
                         torch_dtype(value.dtype), local_shape(value.type),
                         has.empty() ? "" : fmt::format(", {}, device", has)));
    }
}

void TorchStep::write_results() {
    std::vector<std::string> items;  // complete before the first is written: some make lines of their own
    for (const ValueId id : results_of(program_)) {
        const Value& value = program_[id];
        const std::string has = holder(value.type);
        items.push_back(fmt::format("    {}: _done({}){},", python_string(value.name), whole(id, value.type),
                                    has.empty() ? "" : fmt::format(" if {} else None", has)));
    }
    line("return {");
    for (const std::string& item : items) line(item);
    line("}");
}

void TorchStep::write(const Kernel& kernel) {
    if (kernel.fused) line(fmt::format("# one kernel: {}", python_string(kernel.name)));
    if (is_coalesced(program_, kernel) && program_[kernel.values.front()].op != Op::Shift) {
        write_call(kernel.values);
        return;
    }
    for (const ValueId value : kernel.values) write_value(value);
}

void TorchStep::write_value(ValueId id) {
    const Value& value = program_[id];
    if (value.op == Op::Input || is_made_anew(value)) return;
    const std::string& name = pieces_ != nullptr ? piece_names_.at(id) : names_[id.index()];
    if (!is_collective(value.op)) {
        line(fmt::format("{} = {}", name, compute(id)));
    } else if (pieces_ != nullptr) {
        line(fmt::format("_calls_{}.append({})", name, called(value, packed(id, false))));
    } else {
        line(fmt::format("{} = {}", name, finished(id, called(value, packed(id, false)), false)));
    }
}

void TorchStep::write_call(std::span<const ValueId> values) {
    const std::string parts = python_.unique("parts");
    std::vector<std::string> packs;
    for (const ValueId id : values) packs.push_back(packed(id, true));
    line(fmt::format("{} = [{}]", parts, fmt::join(packs, ", ")));
    line(fmt::format("{0} = _apart({1}, {0})", parts,
                     called(program_[values.front()], fmt::format("_together({})", parts))));
    for (std::size_t i = 0; i < values.size(); ++i) {
        line(fmt::format("{} = {}", names_[values[i].index()],
                         finished(values[i], fmt::format("{}[{}]", parts, i), true)));
    }
}

std::string TorchStep::compute(ValueId id) {
    const Value& value = program_[id];
    if (value.op == Op::Constant) {
        return fmt::format("torch.full((), {}, dtype={}, device=device)", number_text(value),
                           torch_dtype(value.dtype));
    }
    if (value.op == Op::Update) return read(id, 1);
    std::vector<std::string> args;
    for (std::size_t k = 0; k < value.args.size(); ++k) args.push_back(read(id, k));
    switch (value.op) {
        case Op::Einsum:
            if (value.type.dtype == DType::Bool) {  // of which there is no product of matrices
                for (std::string& arg : args) arg += ".to(torch.int32)";
                return fmt::format("torch.einsum({}, {}) != 0", python_string(value.spec),
                                   fmt::join(args, ", "));
            }
            return word(
                value, fmt::format("torch.einsum({}, {})", python_string(value.spec), fmt::join(args, ", ")));
        case Op::Reduce:
            return word(value, fmt::format("_reduced({}, \"{}\", {}, {})", args[0], name_of(value.reduction),
                                           list_text(value.dims), value.keepdims ? "True" : "False"));
        case Op::Transpose:
            return fmt::format("{}.permute({})", args[0], list_text(value.perm));
        case Op::Broadcast:
            return broadcast(id, args[0]);
        case Op::Reshape:
            return fmt::format("{}.reshape({})", args[0], local_shape(id));
        case Op::Slice:
        case Op::Stack:
        case Op::Unstack:
            return args[0];
        default:
            return pointwise(value, args);
    }
}

std::string TorchStep::word(const Value& value, const std::string& text) {
    return value.type.dtype == DType::U32 ? fmt::format("({}) & 0xFFFFFFFF", text) : text;
}

std::string TorchStep::pointwise(const Value& value, std::span<const std::string> args) const {
    std::string text = value.type.dtype == DType::Bool ? truth_text(value.op, args) : std::string();
    if (!text.empty()) return text;
    if (value.op == Op::Cast) {
        text = fmt::format("{}.to({})", args[0], torch_dtype(value.dtype));
    } else if (value.op == Op::Div) {
        text = is_floating(value.type.dtype) ? fmt::format("{} / {}", args[0], args[1])
                                             : fmt::format("_quotient({}, {})", args[0], args[1]);
    } else if (const std::string symbol = operator_text(value.op); !symbol.empty()) {
        text = fmt::format("{} {} {}", args[0], symbol, args[1]);
    } else {
        text = fmt::format("{}({})", function_text(value.op), fmt::join(args, ", "));
    }
    return word(value, text);
}

std::string TorchStep::broadcast(ValueId id, const std::string& arg) {
    const Value& value = program_[id];
    const Type& operand = program_[value.args[0]].type;
    const std::vector<std::size_t> to = dims_after_broadcast(value, operand.rank());
    std::vector<std::size_t> order(to.size());
    for (std::size_t d = 0; d < order.size(); ++d) order[d] = d;
    std::ranges::sort(order, {}, [&](std::size_t d) { return to[d]; });
    std::vector<std::string> index(value.type.rank(), "None"), sizes;
    for (std::size_t d = 0; d < value.type.rank(); ++d) sizes.push_back(extent(value.type, d).size);
    for (std::size_t d = 0; d < to.size(); ++d) {
        index[to[d]] = ":";
        if (operand.shape[d] == value.type.shape[to[d]]) sizes[to[d]] = "-1";
    }
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (is_cut(id, d) && sizes[d] != "-1") sizes[d] = "length";
    }
    const std::string permuted =
        std::ranges::is_sorted(order) ? arg : fmt::format("{}.permute([{}])", arg, fmt::join(order, ", "));
    const std::string indexed =
        index.empty() ? permuted : fmt::format("{}[{}]", permuted, fmt::join(index, ", "));
    return fmt::format("{}.expand({})", indexed, python_tuple(sizes));
}

std::string TorchStep::read(ValueId id, std::size_t arg) {
    const Value& value = program_[id];
    const Type type = value.op == Op::Slice ? value.type : read_type(program_, value, arg);
    return pieces_ != nullptr ? read_piece(id, arg, type) : whole(value.args[arg], type);
}

std::string TorchStep::whole(ValueId id, const Type& type) {
    if (is_made_anew(program_[id])) return made_ahead(source(id, type), program_[id].name);
    return cut(names_[id.index()], program_[id].type, type, tensor::kNowhere);
}

std::string TorchStep::source(ValueId id, const Type& type) {
    const Value& value = program_[id];
    const std::string dtype = torch_dtype(value.dtype);
    if (value.op == Op::Constant) {
        return fmt::format("torch.full({}, {}, dtype={}, device=device)", local_shape(type),
                           number_text(value), dtype);
    }
    if (value.op == Op::Iota) {
        const auto dim = static_cast<std::size_t>(value.dim);
        const Extent own = extent(type, dim);
        std::vector<std::string> ones(type.rank(), "1");
        ones[dim] = "-1";
        return fmt::format("torch.arange({}, {}, device=device).to({}).reshape({}).expand({})", own.begin,
                           own.end, dtype, python_tuple(ones), local_shape(type));
    }
    std::vector<std::string> own, sizes;
    for (std::size_t d = 0; d < type.rank(); ++d) {
        const Extent part = extent(type, d);
        own.push_back(fmt::format("({}, {})", part.begin, part.end));
        sizes.push_back(fmt::format("{}", type.shape[d]));
    }
    return fmt::format("_uniform({}, {}, {}, {}, device)", value.seed, python_tuple(sizes), python_tuple(own),
                       dtype);
}

std::string TorchStep::cut(std::string text, const Type& from, const Type& to, std::size_t except) {
    for (std::size_t d = 0; d < from.rank(); ++d) {
        if (d == except || slicing_axes(from, d) == slicing_axes(to, d)) continue;
        const Extent has = extent(from, d), wants = extent(to, d);
        const std::string begin =
            has.begin == "0" ? wants.begin : fmt::format("{} - {}", wants.begin, has.begin);
        text = fmt::format("{}.narrow({}, {}, {})", text, d, begin, wants.size);
    }
    return text;
}

TorchStep::Extent TorchStep::extent(const Type& type, std::size_t dim) {
    const std::vector<AxisId> axes = slicing_axes(type, dim);
    const std::string size = fmt::format("{}", type.shape[dim]);
    if (axes.empty()) return {"0", size, size};
    const auto [known, is_new] = extents_.try_emplace({type.shape[dim], axes});
    Extent& extent = known->second;
    if (is_new) {
        std::vector<std::string> cuts;
        std::int64_t nominal = type.shape[dim];
        for (const AxisId axis : axes) {
            nominal = (nominal + program_.mesh().size(axis) - 1) / program_.mesh().size(axis);
            cuts.push_back(fmt::format("({}, {})", nominal, place(axis)));
        }
        extent.begin = python_.unique("begin");
        extent.end = python_.unique("end");
        extent.size = fmt::format("{} - {}", extent.end, extent.begin);
        parts_ +=
            fmt::format("    {}, {} = _part({}, {})\n", extent.begin, extent.end, size, python_tuple(cuts));
    }
    return extent;
}

std::string TorchStep::local_shape(const Type& type) {
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < type.rank(); ++d) sizes.push_back(extent(type, d).size);
    return python_tuple(sizes);
}

std::string TorchStep::local_shape(ValueId id) {
    const Type& type = program_[id].type;
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < type.rank(); ++d) {
        if (!is_cut(id, d)) {
            sizes.push_back(extent(type, d).size);
            continue;
        }
        const std::int64_t parts = program_.mesh().group_size(finer(slicing_axes(type, d)));
        sizes.push_back(parts == 1 ? "length" : fmt::format("{} * length", parts));
    }
    return python_tuple(sizes);
}

std::string TorchStep::cuts(std::int64_t nominal, std::span<const AxisId> axes) const {
    std::vector<std::string> texts;
    for (const AxisId axis : axes) {
        const std::int64_t ranks = program_.mesh().size(axis);
        nominal = (nominal + ranks - 1) / ranks;
        texts.push_back(fmt::format("({}, {})", ranks, nominal));
    }
    return python_tuple(texts);
}

std::string TorchStep::place(AxisId axis) const {
    return fmt::format("at[{}]", python_string(program_.mesh().name(axis)));
}

std::string TorchStep::holder(const Type& type) const {
    std::vector<std::string> conditions;
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        if (type.layout[a].is_root())
            conditions.push_back(fmt::format("{} == {}", place(AxisId(a)), type.layout[a].root()));
    }
    return fmt::format("{}", fmt::join(conditions, " and "));
}

}  // namespace tutti::emit

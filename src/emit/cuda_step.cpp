// The calls of a step. Values become arrays of the rank's part, which have the values' names; everything else
// has a name that ends with an underscore, as no value's does. What only rearranges (a transpose, a
// broadcast, a slice) is a view and costs nothing; matrix products are cuBLAS's; a fused kernel is one kernel
// of the GPU but for its matrix product or its calls of NCCL.

#include "emit/cuda_step.hpp"

#include "core/error.hpp"
#include "emit/cpp_expressions.hpp"
#include "tensor/dimensions.hpp"
#include "tensor/infer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::emit {

using tensor::DType, tensor::Kernel, tensor::Op, tensor::Program, tensor::Type, tensor::Value,
    tensor::ValueId;

namespace {

constexpr std::size_t kMostDims = 8, kMostOperands = 4;  // of gpu_arrays.hpp

bool is_alias(Op op) { return op == Op::Update || op == Op::Stack || op == Op::Unstack; }

}  // namespace

std::string cuda_stored(DType dtype) {
    return dtype == DType::F16 || dtype == DType::BF16 ? "stored_" + cpp_dtype(dtype) : cpp_dtype(dtype);
}

CudaStep::CudaStep(const Program& program) : StepWriter(program), names_(program.slots()) {
    for (const ValueId id : program.order()) names_[id.index()] = unique_.unique(program[id].name);
}

std::string CudaStep::text() {
    for (const ValueId id : program_.order()) {
        check(id);
        if (program_[id].op == Op::Input && is_read(id))
            line(fmt::format("const auto& {0} = in.{0};", name(id)));
    }
    write_kernels();
    return std::move(text_);
}

void CudaStep::check(ValueId id) const {
    const Value& value = program_[id];
    if (value.type.rank() > kMostDims)
        throw InputError(fmt::format("{} has {} dimensions: --to cuda writes tensors of at most {}",
                                     value.name, value.type.rank(), kMostDims));
    if (value.op != Op::Einsum) return;
    if (value.args.size() > kMostOperands)
        throw InputError(fmt::format("{} is an einsum of {} operands: --to cuda writes at most {}",
                                     value.name, value.args.size(), kMostOperands));
    const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
    std::set<char> terms;
    for (const std::string& letters : spec.operands)
        for (const char letter : letters)
            if (spec.result.find(letter) == std::string::npos) terms.insert(letter);
    if (terms.size() > kMostDims)
        throw InputError(fmt::format("{} adds up along {} letters: --to cuda writes at most {}", value.name,
                                     terms.size(), kMostDims));
}

void CudaStep::write(const Kernel& kernel) {
    if (kernel.fused) line(fmt::format("// one kernel: {}", cpp_comment(kernel.name)));
    write_values(kernel.values, kernel.name);
}

void CudaStep::write_values(std::span<const ValueId> values, const std::string& kernel) {
    std::vector<ValueId> loop, totals;
    const auto flush = [&] {
        if (!loop.empty()) write_loop(loop, totals, kernel);
        loop.clear();
        totals.clear();
    };
    /// A reduction of what the loop makes, along the dimensions of the loop's other reductions.
    const auto ends_loop = [&](const Value& value) {
        return value.op == Op::Reduce && std::ranges::find(loop, value.args[0]) != loop.end() &&
               (totals.empty() || program_[totals.front()].dims == value.dims);
    };
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Value& value = program_[values[i]];
        if (is_pointwise(value.op)) {
            const bool reads_total = std::ranges::any_of(
                value.args, [&](ValueId arg) { return std::ranges::find(totals, arg) != totals.end(); });
            if (!loop.empty() && (reads_total || !same_elements(program_[loop.front()].type, value.type)))
                flush();
            loop.push_back(values[i]);
            continue;
        }
        if (ends_loop(value)) {
            totals.push_back(values[i]);
            continue;
        }
        flush();
        std::size_t end = i;
        const auto reads_group = [&](ValueId arg) {
            const auto group = values.subspan(i, end - i);
            return std::ranges::find(group, arg) != group.end();
        };
        while (end < values.size() && is_collective(program_[values[end]].op) &&
               std::ranges::none_of(program_[values[end]].args, reads_group))
            ++end;
        if (end > i + 1) {
            line("rank.begin_group();");
            for (const ValueId id : values.subspan(i, end - i)) write_value(id);
            line("rank.end_group();");
            i = end - 1;
        } else {
            write_value(values[i]);
        }
    }
    flush();
}

void CudaStep::write_value(ValueId id) {
    const Value& value = program_[id];
    if (value.op == Op::Input || is_scalar_constant(value)) return;
    if (value.op == Op::Uniform || value.op == Op::Iota) {
        const auto needs_array = [&](ValueId user) {
            const Value& reader = program_[user];
            for (std::size_t k = 0; k < reader.args.size(); ++k)
                if (reader.args[k] == id && !is_made_in_loop(user, k)) return true;
            return false;
        };
        if (!is_output(id) && std::ranges::none_of(users_[id], needs_array)) return;
    }
    if (is_in_chain(id)) {
        line(fmt::format("{} = {};", array(id), made(value, id)));
    } else {
        line(fmt::format("const auto{} {} = {};", is_alias(value.op) ? "&" : "", name(id), made(value, id)));
    }
}

bool CudaStep::is_made_in_loop(ValueId user, std::size_t arg) const {
    const Value& value = program_[user];
    const Value& source = program_[value.args[arg]];
    return (source.op == Op::Uniform || source.op == Op::Iota) && is_pointwise(value.op) &&
           source.type.shape == value.type.shape && !is_in_overlap(kernels_.of(user));
}

std::string CudaStep::array(ValueId id) const {
    return is_in_chain(id) ? name(id) + "_pieces_[p_]" : name(id);
}

std::string CudaStep::type(const Type& type, std::size_t cut) const {
    std::vector<std::string> sizes;
    for (std::size_t d = 0; d < type.rank(); ++d) {
        const std::int64_t parts =
            d == cut ? program_.mesh().group_size(pieces_->axes) : 0;  // each as long as the piece
        sizes.push_back(d != cut     ? fmt::format("{}", type.shape[d])
                        : parts == 1 ? "length_"
                                     : fmt::format("{} * length_", parts));
    }
    return fmt::format("Type{{{{{}}}, {}}}", fmt::join(sizes, ", "), cpp_layout(type));
}

std::string CudaStep::type(ValueId id) const {
    return type(program_[id].type, is_in_chain(id) ? pieces_->dim.at(id) : tensor::kNowhere);
}

std::size_t CudaStep::cut_dim(ValueId id, std::size_t arg) const {
    if (!is_in_chain(id)) return tensor::kNowhere;
    const ValueId from = program_[id].args[arg];
    if (is_in_chain(from)) return pieces_->dim.at(from);
    const std::vector<std::size_t> dims = dims_in_result(program_, program_[id], arg);
    const auto found = std::ranges::find(dims, pieces_->dim.at(id));
    return found == dims.end() ? tensor::kNowhere : static_cast<std::size_t>(found - dims.begin());
}

std::string CudaStep::read(ValueId id, std::size_t arg) {
    const Value& value = program_[id];
    const ValueId from = value.args[arg];
    const Type& has = program_[from].type;
    const Type wants = value.op == Op::Slice ? value.type : read_type(program_, value, arg);
    if (is_scalar_constant(program_[from]))
        return fmt::format("rank.filled<{}>({}, {})", cuda_stored(has.dtype), cpp_type(has),
                           cpp_constant(program_[from]));
    bool same = true;
    for (std::size_t d = 0; d < has.rank(); ++d)
        same = same && slicing_axes(has, d) == slicing_axes(wants, d);
    const std::size_t cut = cut_dim(id, arg);
    const std::size_t already = is_in_chain(from) ? cut : tensor::kNowhere;
    const std::string text =
        same ? array(from)
             : fmt::format("rank.cut({}, {}, {})", array(from), type(has, already), type(wants, already));
    if (cut == tensor::kNowhere || is_in_chain(from)) return text;
    return fmt::format("rank.piece({}, {}, {}, {}, cut_, p_)",
                       is_collective(value.op) ? "kNetwork" : "kCompute", text, cpp_type(wants), cut);
}

std::string CudaStep::made(const Value& value, ValueId id) {
    const std::string dtype = cuda_stored(value.type.dtype);
    switch (value.op) {
        case Op::Constant:
            return fmt::format("rank.filled<{}>({}, {})", dtype, type(id), cpp_constant(value));
        case Op::Uniform:
            return fmt::format("rank.uniform<{}>({}, {}ULL)", dtype, type(id),
                               static_cast<std::uint64_t>(value.seed));
        case Op::Iota:
            return fmt::format("rank.iota<{}>({}, {})", dtype, type(id), value.dim);
        case Op::Update:
            return read(id, 1);
        case Op::Einsum: {
            std::vector<std::string> operands;
            for (std::size_t k = 0; k < value.args.size(); ++k) operands.push_back(read(id, k));
            return fmt::format("rank.einsum(\"{}\", {})", value.spec, fmt::join(operands, ", "));
        }
        case Op::Reduce:
            return fmt::format("rank.reduce({}, {}, Reduction::{}, {})", read(id, 0), cpp_shape(value.dims),
                               name_of(value.reduction), value.keepdims);
        case Op::Transpose:
            return fmt::format("rank.transposed({}, {})", read(id, 0), cpp_shape(value.perm));
        case Op::Broadcast:
            return fmt::format(
                "rank.broadcast({}, rank.local({}), {{{}}})", read(id, 0), type(id),
                fmt::join(dims_after_broadcast(value, program_[value.args[0]].type.rank()), ", "));
        case Op::Reshape:
            return fmt::format("rank.reshaped({}, rank.local({}))", read(id, 0), type(id));
        case Op::Slice:
        case Op::Stack:
        case Op::Unstack:
            return read(id, 0);
        default:
            return collective(value, id);
    }
}

std::string CudaStep::collective(const Value& value, ValueId id) {
    const std::string in = read(id, 0), axes = cpp_axes(value.axes), to = type(id),
                      from = type(program_[value.args[0]].type, cut_dim(id, 0));
    const std::size_t axis = value.axes.front().index();
    groups_.insert(axes);
    switch (value.op) {
        case Op::ReduceScatter:
            return fmt::format("rank.reduce_scatter({}, {}, {}, {}, Reduction::{})", in, from, to, axes,
                               name_of(value.reduction));
        case Op::AllGather:
            return fmt::format("rank.all_gather({}, {}, {}, {})", in, from, to, axes);
        case Op::AllToAll:
            return program_[value.args[0]].type.on(value.axes.front()).is_local()
                       ? fmt::format("rank.exchanged({}, {}, {}, {})", in, axis, value.split, value.concat)
                       : fmt::format("rank.moved({}, {}, {}, {})", in, from, to, axes);
        case Op::BroadcastFrom:
            return fmt::format("rank.broadcast_from({}, {}, {})", in, axes, value.root);
        case Op::Shift:
            return fmt::format("rank.shifted({}, {}, {})", in, axis, value.by);
        case Op::ReduceTo:
            return fmt::format("rank.reduce_to({}, {}, {}, Reduction::{})", in, axes, value.root,
                               name_of(value.reduction));
        default:
            return fmt::format("rank.all_reduce({}, {}, Reduction::{})", in, axes, name_of(value.reduction));
    }
}

}  // namespace tutti::emit

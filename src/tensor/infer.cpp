// Types from layout rules. What a value means does not depend on layouts (docs/tensor-programs.md,
// "Meaning"): a rule accepts an operation where each rank can make its elements of the result from its own
// elements of the operands, or where a collective exchanges exactly what is missing. Linear in the dimensions
// times the axes of the operands.

#include "tensor/infer.hpp"

#include "tensor/rules.hpp"

#include <algorithm>
#include <limits>

namespace tutti::tensor {
namespace rules {

Layout joined(const Context& context, AxisId axis, Layout a, Layout b) {
    if (a == b || b.is_replicated()) return a;
    if (a.is_replicated()) return b;
    if (a.is_root() || b.is_root()) {
        context.refuse("root-mixed", "one operand is {} and another {} on {}", text_of(a), text_of(b),
                       context.axis(axis));
    }
    if (a.is_sliced() && b.is_sliced()) {
        context.refuse("sliced-differently",
                       "operands are sliced along dimensions {} and {} of the result on {}", a.dim(), b.dim(),
                       context.axis(axis));
    }
    context.refuse("local-with-sliced", "one operand is {} and another {} on {}", text_of(a), text_of(b),
                   context.axis(axis));
}

void check_nesting(const Context& context, std::span<const AxisId> operand, std::span<const AxisId> result,
                   const std::string& operand_name) {
    if (operand.size() <= result.size() && std::equal(operand.begin(), operand.end(), result.begin())) return;
    for (std::size_t i = 0; i < operand.size(); ++i) {
        if (i < result.size() && operand[i] == result[i]) continue;
        const AxisId first = i < result.size() ? result[i] : operand[i];
        context.refuse("slicing-order", "{} has parts of {}, which the result cuts by {} first", operand_name,
                       context.axis(operand[i]), context.axis(first));
    }
}

void check_nesting(const Context& context, const Operand& operand, const Type& result) {
    for (std::size_t d = 0; d < operand.to.size(); ++d) {
        if (operand.to[d] == kNowhere) continue;
        check_nesting(context, slicing_axes(*operand.type, d), slicing_axes(result, operand.to[d]),
                      operand.name);
    }
}

std::size_t checked_dim(const Context& context, std::int64_t dim, std::size_t rank, const std::string& of) {
    if (dim < 0 || dim >= static_cast<std::int64_t>(rank))
        context.refuse("no-dimension", "{} has {} dimensions, and none of number {}", of, rank, dim);
    return static_cast<std::size_t>(dim);
}

void check_axes(const Context& context) {
    const std::vector<AxisId>& axes = context.value.axes;
    if (axes.empty()) context.refuse("axis", "expected at least one axis");
    for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i].index() >= context.mesh.axes().size())
            context.refuse("axis", "the mesh has no such axis");
        if (std::find(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(i), axes[i]) !=
            axes.begin() + static_cast<std::ptrdiff_t>(i)) {
            context.refuse("axis", "{} is named twice", context.axis(axes[i]));
        }
    }
}

std::vector<std::int64_t> sizes_of(const Context& context) {
    std::vector<std::int64_t> sizes;
    for (const Size& size : context.value.shape) sizes.push_back(size.size);
    return sizes;
}

}  // namespace rules

namespace {

constexpr std::size_t kMostDims = 64;
/// Bytes of a whole value; sums of a few of them still fit.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

void check_size(const rules::Context& context, const Type& type) {
    if (type.rank() > kMostDims)
        context.refuse("shape", "expected at most {} dimensions, found {}", kMostDims, type.rank());
    std::int64_t bytes = bytes_of(type.dtype);
    for (const std::int64_t size : type.shape) {
        if (size < 1) context.refuse("shape", "a dimension of size {}", size);
        if (size > kMostBytes / bytes) context.refuse("size", "expected at most 2^60 bytes in a value");
        bytes *= size;
    }
}

Type by_rule(const rules::Context& context) {
    switch (context.value.op) {
        case Op::Update:
            return rules::update(context);
        case Op::Einsum:
            return rules::einsum(context);
        case Op::Reduce:
            return rules::reduce(context);
        case Op::Transpose:
            return rules::transpose(context);
        case Op::Broadcast:
            return rules::broadcast(context);
        case Op::Reshape:
            return rules::reshape(context);
        case Op::Slice:
            return rules::slice(context);
        case Op::Stack:
            return rules::stack(context);
        case Op::Unstack:
            return rules::unstack(context);
        case Op::AllReduce:
            return rules::all_reduce(context);
        case Op::ReduceScatter:
            return rules::reduce_scatter(context);
        case Op::AllGather:
            return rules::all_gather(context);
        case Op::ReduceTo:
            return rules::reduce_to(context);
        case Op::BroadcastFrom:
            return rules::broadcast_from(context);
        case Op::AllToAll:
            return rules::all_to_all(context);
        case Op::Shift:
            return rules::shift(context);
        default:
            return kind_of(context.value.op) == OpKind::Source ? rules::source(context)
                                                               : rules::pointwise(context);
    }
}

}  // namespace

Type infer(const Mesh& mesh, const Value& value, std::span<const Value* const> args) {
    const rules::Context context{mesh, value, args};
    const OpInfo& info = info_of(value.op);
    if (args.size() < info.least_args || args.size() > info.most_args) {
        context.refuse("arguments", "expected {} operands of {}, found {}", int{info.least_args}, info.name,
                       args.size());
    }
    if ((info.required & (attribute::kAxes | attribute::kAxis)) != 0) rules::check_axes(context);
    if ((info.required & attribute::kAxis) != 0 && value.axes.size() != 1)
        context.refuse("axis", "expected one axis");
    Type type = by_rule(context);
    check_size(context, type);
    return type;
}

EinsumSpec parse_einsum(const std::string& spec) {
    const auto refuse = [&](const std::string& words) {
        throw Refusal("spec", fmt::format("{}, as in \"bk,kh->bh\"", words));
    };
    const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    const std::size_t arrow = spec.find("->");
    if (arrow == std::string::npos) refuse("expected '->'");
    EinsumSpec result{{""}, spec.substr(arrow + 2)};
    for (const char c : spec.substr(0, arrow)) {
        if (c == ',') {
            result.operands.emplace_back();
        } else {
            result.operands.back() += c;
        }
    }
    std::string known;
    const auto check = [&](const std::string& letters) {
        for (std::size_t i = 0; i < letters.size(); ++i) {
            if (!is_letter(letters[i])) refuse("expected letters, commas and '->'");
            if (letters.find(letters[i]) != i) refuse("a letter is used twice in one operand");
        }
    };
    for (const std::string& letters : result.operands) {
        check(letters);
        known += letters;
    }
    check(result.result);
    for (const char c : result.result) {
        if (known.find(c) == std::string::npos) refuse("a letter of the result is in no operand");
    }
    return result;
}

std::vector<std::size_t> kept_dims(std::span<const std::int64_t> from, std::span<const std::int64_t> to) {
    std::vector<std::size_t> where;
    std::size_t next = 0;
    for (const std::int64_t size : from) {
        if (size == 1) {
            where.push_back(kNowhere);
            continue;
        }
        while (next < to.size() && to[next] == 1) ++next;
        if (next == to.size() || to[next] != size) return {};
        where.push_back(next++);
    }
    while (next < to.size() && to[next] == 1) ++next;
    if (next < to.size()) return {};
    return where;
}

std::vector<std::size_t> dims_after_reduce(const Value& reduce, std::size_t rank) {
    std::vector<std::size_t> where(rank);
    std::size_t next = 0;
    for (std::size_t d = 0; d < rank; ++d) {
        const bool reduced =
            std::ranges::find(reduce.dims, static_cast<std::int64_t>(d)) != reduce.dims.end();
        where[d] = reduced ? kNowhere : next;
        if (!reduced || reduce.keepdims) ++next;
    }
    return where;
}

std::vector<std::size_t> dims_after_broadcast(const Value& broadcast, std::size_t rank) {
    std::vector<std::size_t> where(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        where[d] = broadcast.dims.empty() ? aligned_dim(d, rank, broadcast.shape.size())
                                          : static_cast<std::size_t>(broadcast.dims[d]);
    }
    return where;
}

}  // namespace tutti::tensor

// Rules of what a rank computes from what it has.

#include "tensor/rules.hpp"

#include <algorithm>
#include <map>

namespace tutti::tensor::rules {
namespace {

/// The layout of the result where every dimension of the one operand goes somewhere or is gone.
Type followed(const Context& context, const std::vector<std::size_t>& to, std::vector<std::int64_t> shape) {
    const Type& arg = context.type(0);
    Type result{arg.dtype, std::move(shape), arg.layout};
    for (Layout& layout : result.layout) {
        if (!layout.is_sliced()) continue;
        const std::size_t place = to[layout.dim()];
        layout = place == kNowhere ? Layout::local() : Layout::sliced(place);
    }
    return result;
}

void check_same_dtype(const Context& context, std::size_t first, std::size_t second) {
    const DType a = context.type(first).dtype, b = context.type(second).dtype;
    if (a == b) return;
    context.refuse("dtype", "{} is {} and {} is {}", context.name(first), name_of(a), context.name(second),
                   name_of(b));
}

void check_bool(const Context& context, std::size_t arg) {
    if (context.type(arg).dtype == DType::Bool) return;
    context.refuse("dtype", "expected bool, {} is {}", context.name(arg), name_of(context.type(arg).dtype));
}

DType pointwise_dtype(const Context& context) {
    switch (context.value.op) {
        case Op::Cast:
            return context.value.dtype;
        case Op::Select:
            check_bool(context, 0);
            check_same_dtype(context, 1, 2);
            return context.type(1).dtype;
        case Op::Not:
            check_bool(context, 0);
            return DType::Bool;
        case Op::And:
        case Op::Or:
            check_bool(context, 0);
            check_bool(context, 1);
            return DType::Bool;
        case Op::Lt:
        case Op::Le:
        case Op::Gt:
        case Op::Ge:
        case Op::Eq:
        case Op::Ne:
            check_same_dtype(context, 0, 1);
            return DType::Bool;
        case Op::Sqrt:
        case Op::Rsqrt:
        case Op::Exp:
        case Op::Log:
        case Op::Tanh:
        case Op::Erf:
        case Op::Sigmoid:
            if (!is_floating(context.type(0).dtype)) {
                context.refuse("dtype", "{} is {}, which has no {}", context.name(0),
                               name_of(context.type(0).dtype), name_of(context.value.op));
            }
            return context.type(0).dtype;
        default:
            if (context.args.size() == 2) check_same_dtype(context, 0, 1);
            return context.type(0).dtype;
    }
}

std::vector<std::int64_t> broadcast_shape(const Context& context) {
    std::size_t rank = 0;
    for (const Value* arg : context.args) rank = std::max(rank, arg->type.rank());
    std::vector<std::int64_t> shape(rank, 1);
    for (std::size_t i = 0; i < context.args.size(); ++i) {
        const Type& type = context.type(i);
        for (std::size_t d = 0; d < type.rank(); ++d) {
            std::int64_t& size = shape[aligned_dim(d, type.rank(), rank)];
            if (size != 1 && type.shape[d] != 1 && size != type.shape[d]) {
                context.refuse("shape", "sizes {} and {} of one dimension do not broadcast", size,
                               type.shape[d]);
            }
            size = std::max(size, type.shape[d]);
        }
    }
    return shape;
}

}  // namespace

Type source(const Context& context) {
    const Value& value = context.value;
    Type type{value.dtype, sizes_of(context), Layouts(context.mesh.axes().size())};
    if (value.op == Op::Uniform && !is_floating(value.dtype))
        context.refuse("dtype", "uniform numbers are floating, not {}", name_of(value.dtype));
    if (value.op == Op::Iota) (void)checked_dim(context, value.dim, type.rank(), "the shape");
    if (value.op != Op::Input || value.layout.empty()) return type;
    if (value.layout.size() != type.layout.size())
        context.refuse("axis", "expected a layout for each axis of the mesh");
    type.layout = value.layout;
    for (std::size_t a = 0; a < type.layout.size(); ++a) {
        const Layout layout = type.layout[a];
        if (layout.is_sliced())
            (void)checked_dim(context, static_cast<std::int64_t>(layout.dim()), type.rank(), "the shape");
        if (layout.is_root() && layout.root() >= context.mesh.size(AxisId(a))) {
            context.refuse("root", "ranks of {} are 0 to {}", context.axis(AxisId(a)),
                           context.mesh.size(AxisId(a)) - 1);
        }
    }
    return type;
}

Type pointwise(const Context& context) {
    Type result{pointwise_dtype(context), broadcast_shape(context), Layouts(context.mesh.axes().size())};
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < context.args.size(); ++i) {
        const Type& type = context.type(i);
        Operand& operand = operands.emplace_back(Operand{&type, {}, context.name(i)});
        for (std::size_t d = 0; d < type.rank(); ++d) {
            const std::size_t to = aligned_dim(d, type.rank(), result.rank());
            operand.to.push_back(type.shape[d] == result.shape[to] ? to : kNowhere);
        }
        for (std::size_t a = 0; a < result.layout.size(); ++a) {
            Layout layout = type.layout[a];
            if (layout.is_sliced()) {
                const std::size_t to = operand.to[layout.dim()];
                if (to == kNowhere) {
                    context.refuse("sliced-broadcast",
                                   "{} is sliced on {} along dimension {}, which has size 1 and is broadcast",
                                   operand.name, context.axis(AxisId(a)), layout.dim());
                }
                layout = Layout::sliced(to);
            }
            result.layout[a] = joined(context, AxisId(a), result.layout[a], layout);
        }
    }
    for (const Operand& operand : operands) check_nesting(context, operand, result);
    return result;
}

Type update(const Context& context) {
    const Value& state = *context.args[0];
    if (state.op != Op::Input || !state.state)
        context.refuse("update-target", "'{}' is no state; an input with \"state\": true is", state.name);
    check_same_dtype(context, 0, 1);
    const Type &old = context.type(0), &next = context.type(1);
    if (old.shape != next.shape)
        context.refuse("update-layout", "state '{}' and its next value differ in shape", state.name);
    for (std::size_t a = 0; a < old.layout.size(); ++a) {
        if (old.layout[a] == next.layout[a]) continue;
        context.refuse("update-layout", "on {} state '{}' is {} and its next value {}",
                       context.axis(AxisId(a)), state.name, text_of(old.layout[a]), text_of(next.layout[a]));
    }
    return old;
}

Type einsum(const Context& context) {
    const EinsumSpec spec = parse_einsum(context.value.spec);
    if (spec.operands.size() != context.args.size()) {
        context.refuse("spec", "\"{}\" is for {} operands, found {}", context.value.spec,
                       spec.operands.size(), context.args.size());
    }
    // All letters as dimensions of one shape: those of the result, then the contracted ones.
    std::string letters = spec.result;
    for (const std::string& operand : spec.operands) {
        for (const char c : operand) {
            if (letters.find(c) == std::string::npos) letters += c;
        }
    }
    Type all{context.type(0).dtype, std::vector<std::int64_t>(letters.size()),
             Layouts(context.mesh.axes().size())};
    std::vector<Operand> operands;
    for (std::size_t i = 0; i < context.args.size(); ++i) {
        const Type& type = context.type(i);
        check_same_dtype(context, 0, i);
        if (type.rank() != spec.operands[i].size()) {
            context.refuse("shape", "{} has {} dimensions and {} letters", context.name(i), type.rank(),
                           spec.operands[i].size());
        }
        Operand& operand = operands.emplace_back(Operand{&type, {}, context.name(i)});
        for (std::size_t d = 0; d < type.rank(); ++d) {
            const std::size_t to = letters.find(spec.operands[i][d]);
            if (all.shape[to] != 0 && all.shape[to] != type.shape[d]) {
                context.refuse("shape", "index {} has sizes {} and {}", letters[to], all.shape[to],
                               type.shape[d]);
            }
            all.shape[to] = type.shape[d];
            operand.to.push_back(to);
        }
        for (std::size_t a = 0; a < all.layout.size(); ++a) {
            Layout layout = type.layout[a];
            if (layout.is_sliced()) layout = Layout::sliced(operand.to[layout.dim()]);
            all.layout[a] = joined(context, AxisId(a), all.layout[a], layout);
        }
    }
    for (const Operand& operand : operands) check_nesting(context, operand, all);
    all.shape.resize(spec.result.size());
    for (Layout& layout : all.layout) {
        if (layout.is_sliced() && layout.dim() >= spec.result.size()) layout = Layout::local();
    }
    return all;
}

Type reduce(const Context& context) {
    const Type& arg = context.type(0);
    std::vector<std::int64_t> sorted = context.value.dims;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end())
        context.refuse("no-dimension", "a dimension is named twice");
    for (const std::int64_t dim : sorted) (void)checked_dim(context, dim, arg.rank(), context.name(0));
    const std::vector<std::size_t> to = dims_after_reduce(context.value, arg.rank());
    std::vector<std::int64_t> shape;
    for (std::size_t d = 0; d < to.size(); ++d) {
        if (to[d] != kNowhere) {
            shape.push_back(arg.shape[d]);
        } else if (context.value.keepdims) {
            shape.push_back(1);
        }
    }
    return followed(context, to, std::move(shape));
}

Type transpose(const Context& context) {
    const Type& arg = context.type(0);
    const std::vector<std::int64_t>& perm = context.value.perm;
    if (perm.size() != arg.rank()) {
        context.refuse("shape", "expected {} dimensions in perm, found {}", arg.rank(), perm.size());
    }
    std::vector<std::size_t> to(arg.rank(), kNowhere);
    std::vector<std::int64_t> shape;
    for (std::size_t i = 0; i < perm.size(); ++i) {
        const std::size_t from = checked_dim(context, perm[i], arg.rank(), context.name(0));
        if (to[from] != kNowhere) context.refuse("shape", "dimension {} is twice in perm", from);
        to[from] = i;
        shape.push_back(arg.shape[from]);
    }
    return followed(context, to, std::move(shape));
}

Type broadcast(const Context& context) {
    const Type& arg = context.type(0);
    const Value& value = context.value;
    std::vector<std::int64_t> shape = sizes_of(context);
    if (arg.rank() > shape.size() || (!value.dims.empty() && value.dims.size() != arg.rank()))
        context.refuse("shape", "{} has {} dimensions, which do not fit", context.name(0), arg.rank());
    for (std::size_t i = 0; i < value.dims.size(); ++i) {
        (void)checked_dim(context, value.dims[i], shape.size(), "the result");
        if (std::ranges::count(value.dims, value.dims[i]) > 1)
            context.refuse("shape", "dimension {} is twice in dims", value.dims[i]);
    }
    std::vector<std::size_t> to = dims_after_broadcast(value, arg.rank());
    for (std::size_t d = 0; d < to.size(); ++d) {
        if (arg.shape[d] == shape[to[d]]) continue;
        if (arg.shape[d] != 1)
            context.refuse("shape", "size {} does not broadcast to {}", arg.shape[d], shape[to[d]]);
        if (!slicing_axes(arg, d).empty()) {
            context.refuse("sliced-broadcast", "{} is sliced along dimension {}, which has size 1",
                           context.name(0), d);
        }
    }
    return followed(context, to, std::move(shape));
}

Type reshape(const Context& context) {
    const Type& arg = context.type(0);
    std::vector<std::int64_t> shape = sizes_of(context);
    std::int64_t left = arg.elements();  // at most 2^60; a product of the new sizes may be more
    for (const std::int64_t size : shape) {
        if (size < 1 || left % size != 0) left = 0;
        if (left == 0) break;
        left /= size;
    }
    if (left != 1) {
        context.refuse("shape", "{} elements cannot have a shape of another number of elements",
                       arg.elements());
    }
    const std::vector<std::size_t> to = kept_dims(arg.shape, shape);
    for (std::size_t a = 0; a < arg.layout.size(); ++a) {
        if (!arg.layout[a].is_sliced()) continue;
        if (!to.empty() && to[arg.layout[a].dim()] != kNowhere) continue;
        context.refuse("not-replicated",
                       "{} is sliced on {}, and the reshape does more than add or drop dimensions of size 1",
                       context.name(0), context.axis(AxisId(a)));
    }
    return followed(context, to, std::move(shape));
}

}  // namespace tutti::tensor::rules

#include "tensor/builder.hpp"

#include "tensor/infer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::tensor {
namespace {

Expr applied(Op op, Expr a, Expr b) { return a.builder().apply(op, {a, b}); }
Expr number_like(double number, Expr other) { return other.builder().constant(number, other.type().dtype); }

Value operation(Op op, const std::vector<Expr>& operands) {
    Value value;
    value.op = op;
    for (const Expr& operand : operands) value.args.push_back(operand.id());
    return value;
}

}  // namespace

Builder::Builder(std::string name, std::vector<Mesh::Axis> axes, std::map<std::string, std::int64_t> sizes) {
    parts_.name = std::move(name);
    parts_.mesh = Mesh(std::move(axes));
    parts_.sizes = std::move(sizes);
}

Expr Builder::add(Value value) {
    if (value.name.empty()) {
        const std::string stem = value.op == Op::Constant ? "c" : std::string(name_of(value.op));
        do value.name = fmt::format("{}{}", stem, ++numbers_[stem]);
        while (names_.contains(value.name));
    }
    for (Size& size : value.shape) {
        if (size.name.empty()) continue;
        const auto found = parts_.sizes.find(size.name);
        if (found == parts_.sizes.end())
            throw Refusal("size", fmt::format("there is no size '{}'", size.name), value.name);
        size.size = found->second;
    }
    std::vector<const Value*> args;
    for (const ValueId arg : value.args) args.push_back(&parts_.values[arg.index()]);
    value.type = infer(parts_.mesh, value, args);
    names_.insert(value.name);
    parts_.values.push_back(std::move(value));
    return {*this, ValueId(parts_.values.size() - 1)};
}

std::vector<AxisId> Builder::axes(const std::vector<std::string>& names) const {
    std::vector<AxisId> ids;
    for (const std::string& name : names) {
        const auto id = parts_.mesh.find(name);
        if (!id) throw Refusal("axis", fmt::format("the mesh has no axis '{}'", name));
        ids.push_back(*id);
    }
    return ids;
}

std::vector<Size> Builder::sizes_of(const Shape& shape) const { return {shape.begin(), shape.end()}; }

Expr Builder::make_input(const std::string& name, const Shape& shape, DType dtype, const AxisLayouts& layout,
                         bool is_state, bool is_fixed) {
    Value value;
    value.name = name;
    value.dtype = dtype;
    value.shape = sizes_of(shape);
    value.layout.resize(parts_.mesh.axes().size());
    for (const auto& [axis, of_axis] : layout) value.layout[axes({axis}).front().index()] = of_axis;
    value.state = is_state;
    value.fixed = is_fixed;
    return add(std::move(value));
}

Expr Builder::input(const std::string& name, const Shape& shape, DType dtype, const AxisLayouts& layout) {
    return make_input(name, shape, dtype, layout, false, false);
}

Expr Builder::state(const std::string& name, const Shape& shape, DType dtype, Storage storage,
                    const AxisLayouts& layout) {
    return make_input(name, shape, dtype, layout, true, storage == Fixed);
}

Expr Builder::constant(double number, DType dtype) {
    Value value;
    value.op = Op::Constant;
    value.dtype = dtype;
    value.number = number;
    return add(std::move(value));
}

Expr Builder::uniform(const Shape& shape, std::int64_t seed, DType dtype) {
    Value value;
    value.op = Op::Uniform;
    value.dtype = dtype;
    value.shape = sizes_of(shape);
    value.seed = seed;
    return add(std::move(value));
}

Expr Builder::iota(const Shape& shape, std::int64_t dim, DType dtype) {
    Value value;
    value.op = Op::Iota;
    value.dtype = dtype;
    value.shape = sizes_of(shape);
    value.dim = dim;
    return add(std::move(value));
}

Expr Builder::einsum(const std::string& spec, const std::vector<Expr>& operands) {
    Value value = operation(Op::Einsum, operands);
    value.spec = spec;
    return add(std::move(value));
}

Expr Builder::apply(Op op, const std::vector<Expr>& operands) { return add(operation(op, operands)); }

Expr Builder::update(Expr state, Expr value) {
    const std::string name = parts_.values[state.id().index()].name + "_out";
    const Expr updated = add(operation(Op::Update, {state, value})).named(name);
    output(updated);
    return updated;
}

void Builder::output(Expr value) { parts_.outputs.push_back(value.id()); }

const Type& Expr::type() const { return builder_->parts_.values[id_.index()].type; }

Expr Expr::named(const std::string& name) const {
    std::string& old = builder_->parts_.values[id_.index()].name;
    builder_->names_.erase(old);
    builder_->names_.insert(name);
    old = name;
    return *this;
}

Expr Expr::cast(DType dtype) const {
    Value value = operation(Op::Cast, {*this});
    value.dtype = dtype;
    return builder_->add(std::move(value));
}

Expr Expr::reduce(Reduction reduction, std::vector<std::int64_t> dims, bool keepdims) const {
    Value value = operation(Op::Reduce, {*this});
    value.reduction = reduction;
    value.dims = std::move(dims);
    value.keepdims = keepdims;
    return builder_->add(std::move(value));
}

Expr Expr::transpose(std::vector<std::int64_t> perm) const {
    Value value = operation(Op::Transpose, {*this});
    value.perm = std::move(perm);
    return builder_->add(std::move(value));
}

Expr Expr::slice(const std::string& axis, std::int64_t dim) const {
    Value value = operation(Op::Slice, {*this});
    value.axes = builder_->axes({axis});
    value.dim = dim;
    return builder_->add(std::move(value));
}

Expr Expr::all_reduce(const std::vector<std::string>& axes, Reduction reduction) const {
    Value value = operation(Op::AllReduce, {*this});
    value.axes = builder_->axes(axes);
    value.reduction = reduction;
    return builder_->add(std::move(value));
}

Expr Expr::reduce_scatter(const std::vector<std::string>& axes, std::int64_t dim, Reduction reduction) const {
    Value value = operation(Op::ReduceScatter, {*this});
    value.axes = builder_->axes(axes);
    value.dim = dim;
    value.reduction = reduction;
    return builder_->add(std::move(value));
}

Expr Expr::all_gather(const std::vector<std::string>& axes) const {
    Value value = operation(Op::AllGather, {*this});
    value.axes = builder_->axes(axes);
    return builder_->add(std::move(value));
}

Expr Expr::all_to_all(const std::string& axis, std::int64_t split, std::int64_t concat) const {
    Value value = operation(Op::AllToAll, {*this});
    value.axes = builder_->axes({axis});
    value.split = split;
    value.concat = concat;
    return builder_->add(std::move(value));
}

Expr Expr::shift(const std::string& axis, std::int64_t by) const {
    Value value = operation(Op::Shift, {*this});
    value.axes = builder_->axes({axis});
    value.by = by;
    return builder_->add(std::move(value));
}

Expr operator-(Expr a) { return a.builder().apply(Op::Neg, {a}); }
Expr operator+(Expr a, Expr b) { return applied(Op::Add, a, b); }
Expr operator-(Expr a, Expr b) { return applied(Op::Sub, a, b); }
Expr operator*(Expr a, Expr b) { return applied(Op::Mul, a, b); }
Expr operator/(Expr a, Expr b) { return applied(Op::Div, a, b); }
Expr operator+(Expr a, double b) { return a + number_like(b, a); }
Expr operator-(Expr a, double b) { return a - number_like(b, a); }
Expr operator*(Expr a, double b) { return a * number_like(b, a); }
Expr operator/(Expr a, double b) { return a / number_like(b, a); }
Expr operator+(double a, Expr b) { return number_like(a, b) + b; }
Expr operator-(double a, Expr b) { return number_like(a, b) - b; }
Expr operator*(double a, Expr b) { return number_like(a, b) * b; }
Expr operator/(double a, Expr b) { return number_like(a, b) / b; }
Expr sqrt(Expr a) { return a.builder().apply(Op::Sqrt, {a}); }
Expr exp(Expr a) { return a.builder().apply(Op::Exp, {a}); }
Expr tanh(Expr a) { return a.builder().apply(Op::Tanh, {a}); }
Expr max(Expr a, Expr b) { return applied(Op::Max, a, b); }
Expr select(Expr condition, Expr a, Expr b) { return a.builder().apply(Op::Select, {condition, a, b}); }

}  // namespace tutti::tensor

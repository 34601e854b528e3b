#include "verify/tensor/eraser.hpp"

#include "tensor/infer.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::verify {
namespace {

std::optional<SymbolicShape> shape_of(const std::vector<Shaped>& operands) {
    std::vector<const SymbolicShape*> shapes;
    for (const Shaped& operand : operands) shapes.push_back(&operand.shape);
    return broadcast_shape(shapes);
}

}  // namespace

Eraser::Eraser(const tensor::Program& program, Terms& terms)
    : program_(program),
      terms_(terms),
      shapes_(program, [&](const std::string& size) { return terms.name(size); }) {
    of_.resize(program.slots());
    for (const tensor::ValueId id : program.order()) {
        const TermId term = of_[id.index()] = erased(program[id], shapes_[id]);
        first_.try_emplace(term, id);
        first_.try_emplace(terms_.narrowest({term, {}}).term, id);
    }
}

std::int64_t Eraser::axis(tensor::AxisId id) const { return terms_.name(program_.mesh().name(id)); }

std::vector<std::int64_t> Eraser::axes(const tensor::Value& value) const {
    std::vector<std::int64_t> numbers;
    for (const tensor::AxisId id : value.axes) numbers.push_back(axis(id));
    return numbers;
}

// A size by its name, or as a number.
void Eraser::add_shape(const tensor::Value& value, std::vector<std::int64_t>& attributes) const {
    for (const tensor::Size& size : value.shape) {
        attributes.push_back(size.name.empty() ? -1 : terms_.name(size.name));
        attributes.push_back(size.name.empty() ? size.size : 0);
    }
}

TermId Eraser::plain(const tensor::Value& value, std::vector<std::int64_t> attributes) const {
    Term term{static_cast<std::uint32_t>(value.op), std::move(attributes), {}};
    for (const tensor::ValueId id : value.args) term.args.push_back((*this)[id]);
    return terms_.term(std::move(term));
}

TermId Eraser::source(const tensor::Value& value, const SymbolicShape& shape) const {
    std::vector<std::int64_t> attributes{static_cast<std::int64_t>(value.dtype)};
    if (value.op == tensor::Op::Constant) {
        attributes.push_back(std::bit_cast<std::int64_t>(value.number));
        return terms_.widened(shape, {plain(value, std::move(attributes)), {}});
    }
    attributes.push_back(value.seed);
    attributes.push_back(value.op == tensor::Op::Iota ? value.dim : 0);
    add_shape(value, attributes);
    return plain(value, std::move(attributes));
}

TermId Eraser::erased(const tensor::Value& value, const SymbolicShape& shape) const {
    switch (value.op) {
        case tensor::Op::Input:
            return terms_.term(
                {static_cast<std::uint32_t>(tensor::Op::Input), {terms_.name(value.name)}, {}});
        case tensor::Op::Constant:
        case tensor::Op::Uniform:
        case tensor::Op::Iota:
            return source(value, shape);
        case tensor::Op::Update:
            return arg(value, 1);
        case tensor::Op::AllGather:
        case tensor::Op::Slice:
            return arg(value, 0);
        case tensor::Op::AllReduce:
        case tensor::Op::ReduceScatter:
        case tensor::Op::ReduceTo:
            return terms_.total(value.reduction, axes(value), arg(value, 0));
        case tensor::Op::BroadcastFrom:
            return picked(value);
        case tensor::Op::AllToAll:
            if (!type(value, 0).on(value.axes[0]).is_local()) return arg(value, 0);
            return plain(value, {axis(value.axes[0]), value.split, value.concat});
        case tensor::Op::Shift:
            return terms_.shift(axis(value.axes[0]), value.by, arg(value, 0));
        case tensor::Op::Stack:
        case tensor::Op::Unstack:
            return stacked(value);
        case tensor::Op::Einsum:
            return einsum(value);
        case tensor::Op::Reduce:
            return reduce(value, shape);
        case tensor::Op::Transpose:
            return plain(value, value.perm);
        case tensor::Op::Broadcast:
            return broadcast(value, shape);
        case tensor::Op::Reshape:
            return reshape(value, shape);
        default:
            return pointwise(value);
    }
}

TermId Eraser::broadcast(const tensor::Value& value, const SymbolicShape& shape) const {
    const std::size_t rank = type(value, 0).rank();
    const std::vector<std::size_t> to = tensor::dims_after_broadcast(value, rank);
    bool aligned = true;
    for (std::size_t d = 0; d < rank; ++d)
        aligned = aligned && to[d] == tensor::aligned_dim(d, rank, value.shape.size());
    if (aligned) return terms_.widened(shape, operand(value.args[0]));
    std::vector<std::int64_t> attributes(to.begin(), to.end());
    add_shape(value, attributes);
    return plain(value, std::move(attributes));
}

// Dimensions of size 1 in front are what a broadcast adds.
TermId Eraser::reshape(const tensor::Value& value, const SymbolicShape& shape) const {
    const SymbolicShape& from = shapes_[value.args[0]];
    const auto added = std::ssize(shape) - std::ssize(from);
    if (added >= 0 && std::equal(from.begin(), from.end(), shape.begin() + added) &&
        std::all_of(shape.begin(), shape.begin() + added, [](std::int64_t size) { return size == 1; }))
        return terms_.widened(shape, operand(value.args[0]));
    std::vector<std::int64_t> attributes;
    add_shape(value, attributes);
    return plain(value, std::move(attributes));
}

// An operation on broadcasts is a broadcast of the operation: the operands are what they are broadcasts of,
// and the result is one where that makes it smaller.
TermId Eraser::pointwise(const tensor::Value& value) const {
    std::vector<Shaped> wide, narrow;
    for (const tensor::ValueId id : value.args) {
        wide.push_back(operand(id));
        narrow.push_back(terms_.narrowest(wide.back()));
    }
    const auto made = [&](const std::vector<Shaped>& operands) {
        Term term{static_cast<std::uint32_t>(value.op), {}, {}};
        if (value.op == tensor::Op::Cast) term.attributes.push_back(static_cast<std::int64_t>(value.dtype));
        for (const Shaped& operand : operands) term.args.push_back(operand.term);
        if (tensor::is_commutative(value.op)) std::ranges::sort(term.args);
        return terms_.term(std::move(term));
    };
    const auto whole = shape_of(wide), least = shape_of(narrow);
    if (!whole || !least) return made(wide);
    return terms_.widened(*whole, {made(narrow), *least});
}

// A broadcast of what ranks have of their own means the root's; of what the root alone has, the same.
TermId Eraser::picked(const tensor::Value& value) const {
    std::vector<std::int64_t> local;
    for (const tensor::AxisId id : value.axes) {
        if (type(value, 0).on(id).is_local()) local.push_back(axis(id));
    }
    return local.empty() ? arg(value, 0) : terms_.pick(value.root, std::move(local), arg(value, 0));
}

TermId Eraser::stacked(const tensor::Value& value) const {
    const auto inverse =
        static_cast<std::uint32_t>(value.op == tensor::Op::Stack ? tensor::Op::Unstack : tensor::Op::Stack);
    const std::vector<std::int64_t> attributes{axis(value.axes[0]), value.dim};
    const Term& inner = terms_[arg(value, 0)];
    if (inner.does == inverse && inner.attributes == attributes) return inner.args[0];
    return plain(value, attributes);
}

void Eraser::add_cuts(const tensor::Type& type, std::size_t dim, std::int64_t number, Slicing& slicing,
                      std::set<std::int64_t>& open) const {
    const std::vector<tensor::AxisId> axes = tensor::slicing_axes(type, dim);
    const auto known = std::ranges::find(slicing, number, [](const auto& cut) { return cut.first; });
    auto& cut = known != slicing.end() ? known->second
                                       : slicing.emplace_back(number, std::vector<std::int64_t>()).second;
    if (axes.size() <= cut.size()) return;
    cut.clear();
    for (const tensor::AxisId id : axes) {
        cut.push_back(axis(id));
        open.insert(axis(id));
    }
}

TermId Eraser::einsum(const tensor::Value& value) const {
    const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
    // Operands have no order, and letters no names but by where they first are.
    std::vector<std::size_t> order(value.args.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return arg(value, i); });
    std::map<char, std::int64_t> numbers;
    const auto number = [&](char letter) {
        return numbers.try_emplace(letter, static_cast<std::int64_t>(numbers.size())).first->second;
    };
    Term term{static_cast<std::uint32_t>(tensor::Op::Einsum), {}, {}};
    Slicing slicing;
    std::set<std::int64_t> open;
    for (const std::size_t i : order) {
        term.args.push_back(arg(value, i));
        const std::string& letters = spec.operands[i];
        for (std::size_t d = 0; d < letters.size(); ++d) {
            term.attributes.push_back(number(letters[d]));
            if (spec.result.find(letters[d]) == std::string::npos)
                add_cuts(type(value, i), d, number(letters[d]), slicing, open);
        }
        term.attributes.push_back(-1);
    }
    for (const char letter : spec.result) term.attributes.push_back(number(letter));
    std::ranges::sort(slicing);
    return terms_.part(tensor::Reduction::Sum, slicing, open, terms_.term(std::move(term)));
}

TermId Eraser::reduce(const tensor::Value& value, const SymbolicShape& shape) const {
    std::vector<std::int64_t> dims = value.dims;
    std::ranges::sort(dims);
    Slicing slicing;
    std::set<std::int64_t> open;
    for (const std::int64_t d : dims) add_cuts(type(value, 0), static_cast<std::size_t>(d), d, slicing, open);
    // Kept in front, reduced dimensions are what a broadcast adds.
    const bool in_front = !dims.empty() && dims.back() == std::ssize(dims) - 1;
    const bool keeps = value.keepdims && !in_front;
    const std::ptrdiff_t added = value.keepdims && in_front ? std::ssize(dims) : 0;
    dims.push_back(static_cast<std::int64_t>(value.reduction));
    dims.push_back(keeps ? 1 : 0);
    const TermId term = terms_.part(value.reduction, slicing, open, plain(value, std::move(dims)));
    return terms_.widened(shape, {term, {shape.begin() + added, shape.end()}});
}

}  // namespace tutti::verify

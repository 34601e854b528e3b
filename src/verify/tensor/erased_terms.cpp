#include "verify/tensor/erased_terms.hpp"

#include "tensor/infer.hpp"
#include "verify/tensor/numbers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::verify {

namespace {

tensor::Reduction part_reduction(const Term& part) {
    return static_cast<tensor::Reduction>(part.attributes[0]);
}

}  // namespace

std::size_t TermHash::operator()(const Term& term) const {
    std::uint64_t hash = mixed(term.does, term.args.size());
    for (const std::int64_t a : term.attributes) hash = mixed(hash, static_cast<std::uint64_t>(a));
    for (const TermId arg : term.args) hash = mixed(hash, arg);
    return hash;
}

TermId Terms::term(Term term) {
    const auto [found, is_new] = ids_.try_emplace(std::move(term), static_cast<TermId>(terms_.size()));
    if (is_new) terms_.push_back(&found->first);
    return found->second;
}

std::string_view Terms::text(std::int64_t number) const {
    for (const auto& [text, own] : names_) {
        if (own == number) return text;
    }
    return "";
}

TermId Terms::total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x) {
    const Term inner = (*this)[x];
    if (inner.does == kPart && part_reduction(inner) == reduction) return total_of_part(inner, axes);
    if (inner.does == kTotal && inner.attributes[0] == static_cast<std::int64_t>(reduction)) {
        axes.insert(axes.end(), inner.attributes.begin() + 1, inner.attributes.end());
        return total(reduction, std::move(axes), inner.args[0]);
    }
    return plain_total(reduction, std::move(axes), x);
}

TermId Terms::part(tensor::Reduction reduction, const Slicing& slicing, const std::set<std::int64_t>& open,
                   TermId x) {
    if (open.empty()) return x;
    Term term{kPart, {static_cast<std::int64_t>(reduction)}, {x}};
    for (const auto& [dim, axes] : slicing) {
        // What is cut finest and added up again was never cut.
        auto last = axes.end();
        while (last != axes.begin() && !open.contains(*(last - 1))) --last;
        if (last == axes.begin()) continue;
        term.attributes.push_back(dim);
        term.attributes.push_back(last - axes.begin());
        for (auto axis = axes.begin(); axis != last; ++axis)
            term.attributes.push_back(2 * *axis + (open.contains(*axis) ? 1 : 0));
    }
    return this->term(std::move(term));
}

TermId Terms::shift(std::int64_t axis, std::int64_t by, TermId x) {
    const Term inner = (*this)[x];
    const bool over_others =
        inner.does == kTotal &&
        std::find(inner.attributes.begin() + 1, inner.attributes.end(), axis) == inner.attributes.end();
    if (!over_others) return term({static_cast<std::uint32_t>(tensor::Op::Shift), {axis, by}, {x}});
    return total(static_cast<tensor::Reduction>(inner.attributes[0]),
                 {inner.attributes.begin() + 1, inner.attributes.end()}, shift(axis, by, inner.args[0]));
}

TermId Terms::total_of_part(const Term& part, const std::vector<std::int64_t>& axes) {
    Slicing slicing;
    std::set<std::int64_t> open;
    for (std::size_t i = 1; i < part.attributes.size();) {
        auto& [dim, cut] = slicing.emplace_back(part.attributes[i], std::vector<std::int64_t>());
        const auto count = static_cast<std::size_t>(part.attributes[i + 1]);
        for (std::size_t k = 0; k < count; ++k) {
            const std::int64_t axis = part.attributes[i + 2 + k];
            cut.push_back(axis / 2);
            if (axis % 2 == 1) open.insert(axis / 2);
        }
        i += 2 + count;
    }
    std::vector<std::int64_t> left;
    for (const std::int64_t axis : axes) {
        if (open.erase(axis) == 0) left.push_back(axis);
    }
    const tensor::Reduction reduction = part_reduction(part);
    const TermId rest = this->part(reduction, slicing, open, part.args[0]);
    if (left.empty()) return rest;
    return open.empty() ? total(reduction, left, rest) : plain_total(reduction, left, rest);
}

TermId Terms::plain_total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x) {
    std::ranges::sort(axes);
    Term term{kTotal, {static_cast<std::int64_t>(reduction)}, {x}};
    term.attributes.insert(term.attributes.end(), axes.begin(), axes.end());
    return this->term(std::move(term));
}

Eraser::Eraser(const tensor::Program& program, Terms& terms)
    : program_(program), terms_(terms), shapes_(program) {
    of_.resize(program.slots());
    for (const tensor::ValueId id : program.order()) {
        of_[id.index()] = erased(program[id]);
        first_.try_emplace(of_[id.index()], id);
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

TermId Eraser::source(const tensor::Value& value) {
    std::vector<std::int64_t> attributes{static_cast<std::int64_t>(value.dtype)};
    if (value.op == tensor::Op::Constant) {
        attributes.push_back(std::bit_cast<std::int64_t>(value.number));
    } else {
        attributes.push_back(value.seed);
        attributes.push_back(value.op == tensor::Op::Iota ? value.dim : 0);
    }
    const Term scalar{static_cast<std::uint32_t>(value.op), attributes, {}};
    add_shape(value, attributes);
    const TermId term = plain(value, std::move(attributes));
    if (value.op == tensor::Op::Constant && !value.shape.empty())
        inside_.try_emplace(term, Operand{terms_.term(scalar), {}});
    return term;
}

TermId Eraser::erased(const tensor::Value& value) {
    switch (value.op) {
        case tensor::Op::Input:
            return terms_.term(
                {static_cast<std::uint32_t>(tensor::Op::Input), {terms_.name(value.name)}, {}});
        case tensor::Op::Constant:
        case tensor::Op::Uniform:
        case tensor::Op::Iota:
            return source(value);
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
            return reduce(value);
        case tensor::Op::Transpose:
            return plain(value, value.perm);
        case tensor::Op::Broadcast:
            return broadcast(value);
        case tensor::Op::Reshape: {
            std::vector<std::int64_t> attributes;
            add_shape(value, attributes);
            return plain(value, std::move(attributes));
        }
        default:
            return pointwise(value);
    }
}

TermId Eraser::broadcast(const tensor::Value& value) {
    const std::size_t rank = type(value, 0).rank();
    const std::vector<std::size_t> to = tensor::dims_after_broadcast(value, rank);
    std::vector<std::int64_t> attributes(to.begin(), to.end());
    add_shape(value, attributes);
    const TermId term = plain(value, std::move(attributes));
    bool aligned = true;
    for (std::size_t d = 0; d < rank; ++d)
        aligned = aligned && to[d] == tensor::aligned_dim(d, rank, value.shape.size());
    if (aligned) inside_.try_emplace(term, Operand{arg(value, 0), shapes_[value.args[0]]});
    return term;
}

TermId Eraser::pointwise(const tensor::Value& value) const {
    std::vector<Operand> operands;
    for (const tensor::ValueId id : value.args) operands.push_back({(*this)[id], shapes_[id]});
    const auto shape = [&] {
        std::vector<const SymbolicShape*> shapes;
        for (const Operand& operand : operands) shapes.push_back(&operand.shape);
        return broadcast_shape(shapes);
    };
    // A broadcast that the operation would do by itself is none.
    const std::optional<SymbolicShape> whole = shape();
    for (Operand& operand : operands) {
        for (auto inner = inside_.find(operand.term); whole && inner != inside_.end();
             inner = inside_.find(operand.term)) {
            Operand outer = std::exchange(operand, inner->second);
            if (shape() == whole) continue;
            operand = std::move(outer);
            break;
        }
    }
    Term term{static_cast<std::uint32_t>(value.op), {}, {}};
    if (value.op == tensor::Op::Cast) term.attributes.push_back(static_cast<std::int64_t>(value.dtype));
    for (const Operand& operand : operands) term.args.push_back(operand.term);
    if (tensor::is_commutative(value.op)) std::ranges::sort(term.args);
    return terms_.term(std::move(term));
}

// A broadcast of what ranks have of their own means the root's; of what the root alone has, the same.
TermId Eraser::picked(const tensor::Value& value) const {
    Term term{kPick, {value.root}, {arg(value, 0)}};
    std::vector<std::int64_t> local;
    for (const tensor::AxisId id : value.axes) {
        if (type(value, 0).on(id).is_local()) local.push_back(axis(id));
    }
    if (local.empty()) return arg(value, 0);
    std::ranges::sort(local);
    term.attributes.insert(term.attributes.end(), local.begin(), local.end());
    return terms_.term(std::move(term));
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

TermId Eraser::reduce(const tensor::Value& value) const {
    std::vector<std::int64_t> dims = value.dims;
    std::ranges::sort(dims);
    Slicing slicing;
    std::set<std::int64_t> open;
    for (const std::int64_t d : dims) add_cuts(type(value, 0), static_cast<std::size_t>(d), d, slicing, open);
    dims.push_back(static_cast<std::int64_t>(value.reduction));
    dims.push_back(value.keepdims ? 1 : 0);
    return terms_.part(value.reduction, slicing, open, plain(value, std::move(dims)));
}

}  // namespace tutti::verify

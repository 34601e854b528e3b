#include "verify/tensor/erased_terms.hpp"

#include "tensor/infer.hpp"
#include "verify/tensor/numbers.hpp"

#include <algorithm>
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

// What ranks do with elements that belong together can be done before they are broadcast.
template <class Law>
std::optional<TermId> Terms::under_broadcast(TermId x, const Law& law) {
    if ((*this)[x].does != kWidened) return std::nullopt;
    Shaped narrow = narrowest({x, {}});
    const std::vector<std::int64_t>& attributes = (*this)[x].attributes;
    const SymbolicShape wide(attributes.begin() + 1 + attributes[0], attributes.end());
    narrow.term = law(narrow.term);
    return widened(wide, std::move(narrow));
}

TermId Terms::widened(const SymbolicShape& shape, Shaped x) {
    x = narrowest(std::move(x));
    if (x.shape == shape) return x.term;
    Term term{kWidened, {static_cast<std::int64_t>(x.shape.size())}, {x.term}};
    term.attributes.insert(term.attributes.end(), x.shape.begin(), x.shape.end());
    term.attributes.insert(term.attributes.end(), shape.begin(), shape.end());
    return this->term(std::move(term));
}

Shaped Terms::narrowest(Shaped x) const {
    const Term& term = (*this)[x.term];
    if (term.does != kWidened) return x;
    const auto first = term.attributes.begin() + 1;
    return {term.args[0], {first, first + term.attributes[0]}};
}

TermId Terms::total(tensor::Reduction reduction, std::vector<std::int64_t> axes, TermId x) {
    const auto under = under_broadcast(x, [&](TermId narrow) { return total(reduction, axes, narrow); });
    if (under) return *under;
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

TermId Terms::pick(std::int64_t root, std::vector<std::int64_t> axes, TermId x) {
    const auto under = under_broadcast(x, [&](TermId narrow) { return pick(root, axes, narrow); });
    if (under) return *under;
    std::ranges::sort(axes);
    Term term{kPick, {root}, {x}};
    term.attributes.insert(term.attributes.end(), axes.begin(), axes.end());
    return this->term(std::move(term));
}

TermId Terms::shift(std::int64_t axis, std::int64_t by, TermId x) {
    const auto under = under_broadcast(x, [&](TermId narrow) { return shift(axis, by, narrow); });
    if (under) return *under;
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

}  // namespace tutti::verify

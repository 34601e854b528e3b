#include "verify/tensor/erasure.hpp"

#include "tensor/infer.hpp"
#include "verify/tensor/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tutti::verify {
namespace {

using tensor::AxisId;
using tensor::Op;
using tensor::Program;
using tensor::Reduction;
using tensor::Value;
using tensor::ValueId;

using TermId = std::uint32_t;

/// What a term does. Operations keep their numbers.
constexpr std::uint32_t kTotal = 1000, kPart = 1001, kPick = 1002;

/// A term: what it does, with which attributes, to what. Names are numbers of a table.
struct Term {
    std::uint32_t does = 0;
    std::vector<std::int64_t> attributes{};
    std::vector<TermId> args{};
    friend bool operator==(const Term&, const Term&) = default;
};

struct TermHash {
    std::size_t operator()(const Term& term) const {
        std::uint64_t hash = mixed(term.does, term.args.size());
        for (const std::int64_t a : term.attributes) hash = mixed(hash, static_cast<std::uint64_t>(a));
        for (const TermId arg : term.args) hash = mixed(hash, arg);
        return hash;
    }
};

/// The slicing of the dimensions that a partial reduction runs over: a number of the dimension, and the axes
/// from the coarsest.
using Slicing = std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>>;

/// All terms of both programs; equal ones are one.
class Terms {
  public:
    TermId term(Term term) {
        const auto [found, is_new] = ids_.try_emplace(std::move(term), static_cast<TermId>(terms_.size()));
        if (is_new) terms_.push_back(&found->first);
        return found->second;
    }
    [[nodiscard]] const Term& operator[](TermId id) const { return *terms_[id]; }
    std::int64_t name(const std::string& text) {
        return names_.try_emplace(text, static_cast<std::int64_t>(names_.size())).first->second;
    }

    /// The reduction of `x` over all coordinates on these axes.
    TermId total(Reduction reduction, std::vector<std::int64_t> axes, TermId x) {
        const Term inner = (*this)[x];
        if (inner.does == kPart && part_reduction(inner) == reduction) return total_of_part(inner, axes);
        if (inner.does == kTotal && inner.attributes[0] == static_cast<std::int64_t>(reduction)) {
            axes.insert(axes.end(), inner.attributes.begin() + 1, inner.attributes.end());
            return total(reduction, std::move(axes), inner.args[0]);
        }
        return plain_total(reduction, std::move(axes), x);
    }

    /// Of a reduction `x`, the partial results for the coordinates on those axes of the slicing that are not
    /// added up yet.
    TermId part(Reduction reduction, const Slicing& slicing, const std::set<std::int64_t>& open, TermId x) {
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

    TermId shift(std::int64_t axis, std::int64_t by, TermId x) {
        const Term inner = (*this)[x];
        const bool over_others =
            inner.does == kTotal &&
            std::find(inner.attributes.begin() + 1, inner.attributes.end(), axis) == inner.attributes.end();
        if (!over_others) return term({static_cast<std::uint32_t>(Op::Shift), {axis, by}, {x}});
        return total(static_cast<Reduction>(inner.attributes[0]),
                     {inner.attributes.begin() + 1, inner.attributes.end()}, shift(axis, by, inner.args[0]));
    }

  private:
    static Reduction part_reduction(const Term& part) { return static_cast<Reduction>(part.attributes[0]); }

    TermId total_of_part(const Term& part, const std::vector<std::int64_t>& axes) {
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
        const Reduction reduction = part_reduction(part);
        const TermId rest = this->part(reduction, slicing, open, part.args[0]);
        if (left.empty()) return rest;
        return open.empty() ? total(reduction, left, rest) : plain_total(reduction, left, rest);
    }

    TermId plain_total(Reduction reduction, std::vector<std::int64_t> axes, TermId x) {
        std::ranges::sort(axes);
        Term term{kTotal, {static_cast<std::int64_t>(reduction)}, {x}};
        term.attributes.insert(term.attributes.end(), axes.begin(), axes.end());
        return this->term(std::move(term));
    }

    std::unordered_map<Term, TermId, TermHash> ids_{};
    std::vector<const Term*> terms_{};  ///< a map's elements stay where they are
    std::map<std::string, std::int64_t> names_{};
};

/// Makes the terms of one program.
class Eraser {
  public:
    Eraser(const Program& program, Terms& terms) : program_(program), terms_(terms) {
        of_.resize(program.slots());
        for (const ValueId id : program.order()) {
            of_[id.index()] = erased(program[id]);
            first_.try_emplace(of_[id.index()], id);
        }
    }

    [[nodiscard]] TermId operator[](ValueId id) const { return of_[id.index()]; }
    /// The first value that means this term.
    [[nodiscard]] std::optional<ValueId> value_of(TermId term) const {
        const auto found = first_.find(term);
        return found == first_.end() ? std::nullopt : std::optional(found->second);
    }

  private:
    [[nodiscard]] TermId arg(const Value& value, std::size_t index) const {
        return (*this)[value.args[index]];
    }
    [[nodiscard]] const tensor::Type& type(const Value& value, std::size_t index) const {
        return program_[value.args[index]].type;
    }
    [[nodiscard]] std::int64_t axis(AxisId id) const { return terms_.name(program_.mesh().name(id)); }
    [[nodiscard]] std::vector<std::int64_t> axes(const Value& value) const {
        std::vector<std::int64_t> numbers;
        for (const AxisId id : value.axes) numbers.push_back(axis(id));
        return numbers;
    }
    /// A size by its name, or as a number.
    void add_shape(const Value& value, std::vector<std::int64_t>& attributes) const {
        for (const tensor::Size& size : value.shape) {
            attributes.push_back(size.name.empty() ? -1 : terms_.name(size.name));
            attributes.push_back(size.name.empty() ? size.size : 0);
        }
    }
    TermId plain(const Value& value, std::vector<std::int64_t> attributes) const {
        Term term{static_cast<std::uint32_t>(value.op), std::move(attributes), {}};
        for (const ValueId id : value.args) term.args.push_back((*this)[id]);
        return terms_.term(std::move(term));
    }

    TermId erased(const Value& value) const {
        switch (value.op) {
            case Op::Input:
                return terms_.term({static_cast<std::uint32_t>(Op::Input), {terms_.name(value.name)}, {}});
            case Op::Constant:
                return plain(value, {static_cast<std::int64_t>(value.dtype),
                                     std::bit_cast<std::int64_t>(value.number)});
            case Op::Uniform:
            case Op::Iota: {
                std::vector<std::int64_t> attributes{static_cast<std::int64_t>(value.dtype), value.seed,
                                                     value.op == Op::Iota ? value.dim : 0};
                add_shape(value, attributes);
                return plain(value, std::move(attributes));
            }
            case Op::Update:
                return arg(value, 1);
            case Op::AllGather:
            case Op::Slice:
                return arg(value, 0);
            case Op::AllReduce:
            case Op::ReduceScatter:
            case Op::ReduceTo:
                return terms_.total(value.reduction, axes(value), arg(value, 0));
            case Op::BroadcastFrom:
                return picked(value);
            case Op::AllToAll:
                if (!type(value, 0).on(value.axes[0]).is_local()) return arg(value, 0);
                return plain(value, {axis(value.axes[0]), value.split, value.concat});
            case Op::Shift:
                return terms_.shift(axis(value.axes[0]), value.by, arg(value, 0));
            case Op::Stack:
            case Op::Unstack:
                return stacked(value);
            case Op::Einsum:
                return einsum(value);
            case Op::Reduce:
                return reduce(value);
            case Op::Transpose:
                return plain(value, value.perm);
            case Op::Broadcast: {
                std::vector<std::int64_t> attributes;
                for (const std::size_t d : tensor::dims_after_broadcast(value, type(value, 0).rank()))
                    attributes.push_back(static_cast<std::int64_t>(d));
                add_shape(value, attributes);
                return plain(value, std::move(attributes));
            }
            case Op::Reshape: {
                std::vector<std::int64_t> attributes;
                add_shape(value, attributes);
                return plain(value, std::move(attributes));
            }
            default:
                return pointwise(value);
        }
    }

    TermId pointwise(const Value& value) const {
        Term term{static_cast<std::uint32_t>(value.op), {}, {}};
        if (value.op == Op::Cast) term.attributes.push_back(static_cast<std::int64_t>(value.dtype));
        for (const ValueId id : value.args) term.args.push_back((*this)[id]);
        if (tensor::is_commutative(value.op)) std::ranges::sort(term.args);
        return terms_.term(std::move(term));
    }

    /// A broadcast of what ranks have of their own means the root's; of what the root alone has, the same.
    TermId picked(const Value& value) const {
        Term term{kPick, {value.root}, {arg(value, 0)}};
        std::vector<std::int64_t> local;
        for (const AxisId id : value.axes) {
            if (type(value, 0).on(id).is_local()) local.push_back(axis(id));
        }
        if (local.empty()) return arg(value, 0);
        std::ranges::sort(local);
        term.attributes.insert(term.attributes.end(), local.begin(), local.end());
        return terms_.term(std::move(term));
    }

    TermId stacked(const Value& value) const {
        const auto inverse = static_cast<std::uint32_t>(value.op == Op::Stack ? Op::Unstack : Op::Stack);
        const std::vector<std::int64_t> attributes{axis(value.axes[0]), value.dim};
        const Term& inner = terms_[arg(value, 0)];
        if (inner.does == inverse && inner.attributes == attributes) return inner.args[0];
        return plain(value, attributes);
    }

    void add_cuts(const tensor::Type& type, std::size_t dim, std::int64_t number, Slicing& slicing,
                  std::set<std::int64_t>& open) const {
        const std::vector<AxisId> axes = tensor::slicing_axes(type, dim);
        const auto known = std::ranges::find(slicing, number, [](const auto& cut) { return cut.first; });
        auto& cut = known != slicing.end() ? known->second
                                           : slicing.emplace_back(number, std::vector<std::int64_t>()).second;
        if (axes.size() <= cut.size()) return;
        cut.clear();
        for (const AxisId id : axes) {
            cut.push_back(axis(id));
            open.insert(axis(id));
        }
    }

    TermId einsum(const Value& value) const {
        const tensor::EinsumSpec spec = tensor::parse_einsum(value.spec);
        // Operands have no order, and letters no names but by where they first are.
        std::vector<std::size_t> order(value.args.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::ranges::stable_sort(order, {}, [&](std::size_t i) { return arg(value, i); });
        std::map<char, std::int64_t> numbers;
        const auto number = [&](char letter) {
            return numbers.try_emplace(letter, static_cast<std::int64_t>(numbers.size())).first->second;
        };
        Term term{static_cast<std::uint32_t>(Op::Einsum), {}, {}};
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
        return terms_.part(Reduction::Sum, slicing, open, terms_.term(std::move(term)));
    }

    TermId reduce(const Value& value) const {
        std::vector<std::int64_t> dims = value.dims;
        std::ranges::sort(dims);
        Slicing slicing;
        std::set<std::int64_t> open;
        for (const std::int64_t d : dims)
            add_cuts(type(value, 0), static_cast<std::size_t>(d), d, slicing, open);
        dims.push_back(static_cast<std::int64_t>(value.reduction));
        dims.push_back(value.keepdims ? 1 : 0);
        return terms_.part(value.reduction, slicing, open, plain(value, std::move(dims)));
    }

    const Program& program_;
    Terms& terms_;
    std::vector<TermId> of_{};  ///< by value
    std::unordered_map<TermId, ValueId> first_{};
};

std::string layouts_text(const tensor::Mesh& mesh, const tensor::Layouts& layouts) {
    std::vector<std::string> words;
    for (std::size_t a = 0; a < layouts.size(); ++a) {
        if (!layouts[a].is_replicated())
            words.push_back(fmt::format("{} on {}", text_of(layouts[a]), mesh.axes()[a].name));
    }
    return words.empty() ? "replicated" : fmt::format("{}", fmt::join(words, ", "));
}

class Comparison {
  public:
    Comparison(const Program& original, const Program& changed)
        : original_(original), changed_(changed), first_(original, terms_), second_(changed, terms_) {}

    std::optional<Parting> run() {
        if (auto found = compare_inputs()) return found;
        const auto& outputs = original_.outputs();
        const auto& others = changed_.outputs();
        if (outputs.size() != others.size()) {
            return Parting{"output", "", "",
                           fmt::format("one has {} outputs, the other {}", outputs.size(), others.size())};
        }
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            if (auto found = compare(outputs[i], others[i], changed_[others[i]].name)) return found;
        }
        return compare_states();
    }

  private:
    [[nodiscard]] std::map<std::string, ValueId> inputs_of(const Program& program) const {
        std::map<std::string, ValueId> inputs;
        for (const ValueId id : program.order()) {
            if (program[id].op == Op::Input) inputs.emplace(program[id].name, id);
        }
        return inputs;
    }
    /// By the state's name.
    [[nodiscard]] std::map<std::string, ValueId> updates_of(const Program& program) const {
        std::map<std::string, ValueId> updates;
        for (const ValueId id : program.order()) {
            if (program[id].op == Op::Update) updates.emplace(program[program[id].args[0]].name, id);
        }
        return updates;
    }
    [[nodiscard]] bool is_resharded(const std::string& state) const {
        return std::ranges::any_of(changed_.resharded(),
                                   [&](ValueId id) { return changed_[id].name == state; });
    }

    /// A state that every rank has may be stored in parts, and the other way round; nothing else.
    static bool only_cut_anew(const tensor::Layouts& before, const tensor::Layouts& after) {
        const auto movable = [](tensor::Layout layout) {
            return layout.is_replicated() || layout.is_sliced();
        };
        for (std::size_t a = 0; a < before.size(); ++a) {
            if (before[a] != after[a] && !(movable(before[a]) && movable(after[a]))) return false;
        }
        return true;
    }

    std::optional<Parting> compare_inputs() {
        const auto inputs = inputs_of(original_), others = inputs_of(changed_);
        for (const auto& [name, id] : others) {
            if (!inputs.contains(name)) return Parting{"input", name, name, "the original has no such input"};
        }
        for (const auto& [name, id] : inputs) {
            const auto other = others.find(name);
            if (other == others.end()) return Parting{"input", name, name, "this input is gone"};
            const Value &before = original_[id], &after = changed_[other->second];
            if (before.dtype != after.dtype || before.shape != after.shape || before.state != after.state ||
                before.fixed != after.fixed)
                return Parting{"input", name, name, "dtype, shape, state or fixed is not what it was"};
            if (before.type.layout == after.type.layout) continue;
            if (before.state && !before.fixed && is_resharded(name) &&
                only_cut_anew(before.type.layout, after.type.layout))
                continue;
            return Parting{
                "layout", name, name,
                fmt::format("it was {} and is {}", layouts_text(original_.mesh(), before.type.layout),
                            layouts_text(changed_.mesh(), after.type.layout))};
        }
        return std::nullopt;
    }

    std::optional<Parting> compare(ValueId before, ValueId after, const std::string& output) {
        if (first_[before] != second_[after]) return parting_at(first_[before], second_[after], output);
        const Value &one = original_[before], &other = changed_[after];
        const bool updates = one.op == Op::Update;
        const std::string state = updates ? original_[one.args[0]].name : "";
        if (updates != (other.op == Op::Update) || (updates && changed_[other.args[0]].name != state)) {
            return Parting{"state", output, other.name,
                           updates ? fmt::format("it no longer updates the state '{}'", state)
                                   : std::string("it updates a state, and did not before")};
        }
        if (one.type.dtype != other.type.dtype)
            return Parting{"output", output, other.name, "it has another dtype"};
        if (one.type.layout == other.type.layout || (updates && is_resharded(state))) return std::nullopt;
        return Parting{"layout", output, other.name,
                       fmt::format("it was {} and is {}", layouts_text(original_.mesh(), one.type.layout),
                                   layouts_text(changed_.mesh(), other.type.layout))};
    }

    std::optional<Parting> compare_states() {
        const auto before = updates_of(original_), after = updates_of(changed_);
        for (const auto& [state, id] : before) {
            const auto other = after.find(state);
            if (other == after.end()) return Parting{"state", state, state, "it is not updated any more"};
            if (auto found = compare(id, other->second, state)) return found;
        }
        for (const auto& [state, id] : after) {
            if (!before.contains(state))
                return Parting{"state", state, changed_[id].name, "it was not updated before"};
        }
        return std::nullopt;
    }

    /// Down to where the terms differ in what they do, or in several operands at once.
    Parting parting_at(TermId one, TermId other, const std::string& output) {
        while (true) {
            const Term &a = terms_[one], &b = terms_[other];
            if (a.does != b.does || a.attributes != b.attributes || a.args.size() != b.args.size()) break;
            std::vector<TermId> only_a = a.args, only_b = b.args;
            for (const TermId arg : b.args) {
                if (const auto found = std::ranges::find(only_a, arg); found != only_a.end()) {
                    only_a.erase(found);
                    only_b.erase(std::ranges::find(only_b, arg));
                }
            }
            const auto is_one = [](const std::vector<TermId>& args) {
                return !args.empty() && std::ranges::count(args, args[0]) == std::ssize(args);
            };
            if (!is_one(only_a) || !is_one(only_b)) break;
            one = only_a[0];
            other = only_b[0];
        }
        const auto value = second_.value_of(other);
        return {"output", output, value ? changed_[*value].name : "",
                fmt::format("where the original has {}, this has {}", text_of(one, original_, first_),
                            text_of(other, changed_, second_))};
    }

    static std::string name_of(TermId term, const Program& program, const Eraser& eraser) {
        const auto value = eraser.value_of(term);
        return value ? "'" + program[*value].name + "'" : "a value between";
    }

    [[nodiscard]] std::string text_of(TermId id, const Program& program, const Eraser& eraser) const {
        const Term& term = terms_[id];
        std::vector<std::string> args;
        const auto value = eraser.value_of(id);
        if (value && static_cast<std::uint32_t>(program[*value].op) == term.does) {
            for (const ValueId arg : program[*value].args) args.push_back("'" + program[arg].name + "'");
        } else {
            for (const TermId arg : term.args) args.push_back(name_of(arg, program, eraser));
        }
        std::string does;
        if (term.does == kTotal || term.does == kPart) {
            does = fmt::format(
                "{} {}", term.does == kTotal ? "the total over ranks by" : "partial results of ranks by",
                name_of_reduction(term.attributes[0]));
        } else if (term.does == kPick) {
            does = fmt::format("what rank {} has", term.attributes[0]);
        } else {
            does = std::string(tensor::name_of(static_cast<Op>(term.does)));
        }
        const std::string operands = args.empty() ? "" : fmt::format(" of {}", fmt::join(args, " and "));
        return fmt::format("{} ({}{})", name_of(id, program, eraser), does, operands);
    }
    static std::string_view name_of_reduction(std::int64_t reduction) {
        return tensor::name_of(static_cast<Reduction>(reduction));
    }

    const Program& original_;
    const Program& changed_;
    Terms terms_{};
    Eraser first_, second_;
};

}  // namespace

std::optional<Parting> parting(const Program& original, const Program& changed) {
    const auto& axes = original.mesh().axes();
    if (axes != changed.mesh().axes()) return Parting{"mesh", "", "", "the programs have different meshes"};
    return Comparison(original, changed).run();
}

}  // namespace tutti::verify

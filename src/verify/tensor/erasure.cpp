#include "verify/tensor/erasure.hpp"

#include "verify/tensor/erased_terms.hpp"
#include "verify/tensor/eraser.hpp"
#include "verify/tensor/value_words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::verify {
namespace {

using tensor::Op;
using tensor::Program;
using tensor::Reduction;
using tensor::Value;
using tensor::ValueId;

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
        if (auto found = compare_sizes()) return found;
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

    /// A name stands for one number in both: shapes are compared by names.
    std::optional<Parting> compare_sizes() const {
        for (const auto& [name, size] : changed_.sizes()) {
            const auto before = original_.sizes().find(name);
            if (before == original_.sizes().end() || before->second == size) continue;
            return Parting{"size", "", name,
                           fmt::format("size '{}' was {} and is {}", name, before->second, size)};
        }
        return std::nullopt;
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
        if (value && (static_cast<std::uint32_t>(program[*value].op) == term.does || term.does == kWidened)) {
            for (const ValueId arg : program[*value].args) args.push_back("'" + program[arg].name + "'");
        } else {
            for (const TermId arg : term.args) args.push_back(name_of(arg, program, eraser));
        }
        std::string does;
        if (term.does == kTotal || term.does == kPart) {
            does = fmt::format(
                "{} by {}",
                term.does == kTotal ? "the total over " + axes_text(term) : "partial results of ranks",
                name_of_reduction(term.attributes[0]));
        } else if (term.does == kPick) {
            does = fmt::format("what rank {} has", term.attributes[0]);
        } else if (value) {
            does = words_for(program[*value], program.mesh());
        } else {
            does = std::string(
                tensor::name_of(term.does == kWidened ? Op::Broadcast : static_cast<Op>(term.does)));
        }
        const std::string operands = args.empty() ? "" : fmt::format(" of {}", fmt::join(args, " and "));
        return fmt::format("{} ({}{})", name_of(id, program, eraser), does, operands);
    }
    [[nodiscard]] std::string axes_text(const Term& total) const {
        std::vector<std::string_view> axes;
        for (std::size_t i = 1; i < total.attributes.size(); ++i)
            axes.push_back(terms_.text(total.attributes[i]));
        return fmt::format("{}", fmt::join(axes, ", "));
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

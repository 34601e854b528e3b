#include "rewrite/regions.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>

namespace tutti::rewrite {
namespace {

using tensor::Op;
using tensor::OpKind;
using tensor::Program;
using tensor::ValueId;

/// Whether the value is an operation that separates regions.
bool separates(Op op) {
    const OpKind kind = kind_of(op);
    return kind == OpKind::Compute || kind == OpKind::Placement || kind == OpKind::Collective;
}

using Bits = std::vector<std::uint64_t>;

/// For each value the number of its set of ancestors that separate; equal sets have one number.
std::vector<std::size_t> ancestor_sets(const Program& program) {
    std::map<Bits, std::size_t> numbers{{Bits{}, 0}};
    std::vector<const Bits*> sets{&numbers.begin()->first};
    std::vector<std::size_t> of(program.slots());
    std::size_t separators = 0;
    for (const ValueId id : program.order()) {
        Bits bits;
        std::size_t last = 0;
        for (const ValueId arg : program[id].args) {
            const std::size_t number = of[arg.index()];
            if (number == last && !bits.empty()) continue;
            const Bits& set = *sets[number];
            if (set.size() > bits.size()) bits.resize(set.size());
            for (std::size_t w = 0; w < set.size(); ++w) bits[w] |= set[w];
            last = number;
        }
        if (separates(program[id].op)) {
            const std::size_t word = separators / 64;
            if (bits.size() <= word) bits.resize(word + 1);
            bits[word] |= std::uint64_t{1} << (separators % 64);
            ++separators;
        }
        const auto [entry, is_new] = numbers.emplace(std::move(bits), sets.size());
        if (is_new) sets.push_back(&entry->first);
        of[id.index()] = entry->second;
    }
    return of;
}

}  // namespace

std::vector<std::vector<ValueId>> regions(const Program& program) {
    using Key = std::tuple<std::size_t, std::vector<std::int64_t>, tensor::Layouts>;
    const std::vector<std::size_t> ancestors = ancestor_sets(program);
    std::map<Key, std::size_t> numbers;
    std::vector<std::optional<std::size_t>> region(program.slots());
    std::vector<ValueId> first;  // of each region: any value, for shape and layout
    for (const ValueId id : program.order()) {
        if (!is_pointwise(program[id].op)) continue;
        const tensor::Type& type = program[id].type;
        const auto [entry, is_new] =
            numbers.emplace(Key{ancestors[id.index()], type.shape, type.layout}, first.size());
        if (is_new) first.push_back(id);
        region[id.index()] = entry->second;
    }
    std::vector<bool> is_output(program.slots());
    for (const ValueId id : program.outputs()) is_output[id.index()] = true;
    const tensor::Users users(program);
    for (std::size_t i = program.order().size(); i-- > 0;) {
        const ValueId id = program.order()[i];
        std::optional<std::size_t>& own = region[id.index()];
        if (!own || is_output[id.index()] || users[id].empty()) continue;
        const auto other = region[users[id].front().index()];
        if (!other || other == own) continue;
        const bool all_there =
            std::ranges::all_of(users[id], [&](ValueId user) { return region[user.index()] == other; });
        const tensor::Type &here = program[id].type, &there = program[first[*other]].type;
        if (all_there && here.shape == there.shape && here.layout == there.layout) own = other;
    }
    std::vector<std::vector<ValueId>> result;
    std::vector<std::optional<std::size_t>> place(first.size());
    for (const ValueId id : program.order()) {
        const auto& of = region[id.index()];
        if (!of) continue;
        if (!place[*of]) {
            place[*of] = result.size();
            result.emplace_back();
        }
        result[*place[*of]].push_back(id);
    }
    return result;
}

std::vector<std::vector<ValueId>> units(const Program& program, ValueId gather,
                                        const std::vector<std::vector<ValueId>>& regions) {
    std::vector<bool> depends(program.slots());
    depends[gather.index()] = true;
    std::vector<std::vector<ValueId>> result;
    for (const ValueId id : program.order()) {
        const auto& args = program[id].args;
        if (std::ranges::none_of(args, [&](ValueId arg) { return depends[arg.index()]; })) continue;
        depends[id.index()] = true;
        switch (program[id].op) {
            case Op::Einsum:
            case Op::Reduce:
            case Op::Transpose:
            case Op::Shift:
            case Op::AllReduce:
                result.push_back({id});
                break;
            default:
                break;
        }
    }
    for (const std::vector<ValueId>& region : regions) {
        std::vector<ValueId> unit;
        std::ranges::copy_if(region, std::back_inserter(unit),
                             [&](ValueId id) { return depends[id.index()]; });
        if (!unit.empty()) result.push_back(std::move(unit));
    }
    return result;
}

}  // namespace tutti::rewrite

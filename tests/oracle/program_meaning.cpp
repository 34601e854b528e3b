// Chunk programs, one verb after the other. A chunk's cell is the rank, one of its memories and a number; in
// place, input and output are one memory, in which the smaller buffer begins further on. Slow and plain.

#include "tests/oracle/program_meaning.hpp"

#include <algorithm>

namespace tutti::oracle {
namespace {

using lang::kInput;
using lang::kOutput;
using lang::Slot;
using Kind = CollectiveKind;

}  // namespace

ProgramMeaning::ProgramMeaning(const lang::Trace& program) : program_(program) {
    const lang::Shape& shape = program.shape;
    if (shape.kind == Kind::Custom) {
        for (const lang::Initial& initial : shape.initial) {
            cells_[cell(initial.slot)] = {{{initial.value.rank.value(), initial.value.chunk}, 1}};
        }
    } else {
        const bool root_only = shape.kind == Kind::Broadcast || shape.kind == Kind::Scatter;
        for (std::uint32_t r = 0; r < shape.ranks; ++r) {
            if (root_only && shape.root != Rank(r)) continue;
            for (std::uint32_t c = 0; c < size(r, kInput); ++c) {
                cells_[cell({r, kInput, c})] = {{{r, c}, 1}};
            }
        }
    }
    for (std::size_t v = 0; v < program.verbs.size() && !refused_; ++v) {
        if (!run(program.verbs[v])) refused_ = v;
    }
}

std::int64_t ProgramMeaning::size(std::uint32_t rank, std::uint32_t buffer) const {
    const lang::Shape& shape = program_.shape;
    const std::int64_t k = shape.chunks, all = k * shape.ranks;
    const Kind of_root = buffer == kInput ? Kind::Scatter : Kind::Gather;
    if (shape.kind == of_root && shape.root != Rank(rank)) return 0;
    switch (shape.kind) {
        case Kind::AllGather:
        case Kind::Gather:
            return buffer == kInput ? k : all;
        case Kind::ReduceScatter:
        case Kind::Scatter:
            return buffer == kInput ? all : k;
        case Kind::AllToAll:
            return all;
        case Kind::Custom:
            return buffer == kInput ? shape.custom_inputs : shape.custom_outputs;
        default:
            return k;
    }
}

ProgramMeaning::Cell ProgramMeaning::cell(const Slot& slot) const {
    const lang::Shape& shape = program_.shape;
    if (slot.buffer > kOutput) return {slot.rank, slot.buffer, slot.index};
    const bool of_root = shape.kind == Kind::Gather || shape.kind == Kind::Scatter;
    if (!shape.in_place || (of_root && shape.root != Rank(slot.rank))) {
        return {slot.rank, slot.buffer, slot.index};
    }
    // One memory, number 0, as large as the larger buffer: where the smaller one begins in it.
    const bool small_input = shape.kind == Kind::AllGather || shape.kind == Kind::Gather;
    const bool small_output = shape.kind == Kind::ReduceScatter || shape.kind == Kind::Scatter;
    const bool is_small = slot.buffer == kInput ? small_input : small_output;
    return {slot.rank, 0, slot.index + (is_small ? slot.rank * shape.chunks : 0)};
}

const Ingredients& ProgramMeaning::at(const Slot& slot) const {
    static const Ingredients kNothing;
    const auto found = cells_.find(cell(slot));
    return found == cells_.end() ? kNothing : found->second;
}

bool ProgramMeaning::run(const lang::Verb& verb) {
    const auto inside = [&](const Slot& slot) {
        if (slot.rank >= program_.shape.ranks) return false;
        return slot.buffer > kOutput || std::int64_t{slot.index} + verb.count <= size(slot.rank, slot.buffer);
    };
    const auto each = [&](const Slot& slot, std::uint32_t i) {
        return cell({slot.rank, slot.buffer, slot.index + i});
    };
    if (verb.count == 0 || !inside(verb.from) || !inside(verb.to)) return false;
    const bool reduces = verb.kind == lang::Verb::Kind::Reduce;
    if (!reduces && each(verb.from, 0) == each(verb.to, 0)) return true;
    std::set<Cell> sources;
    for (std::uint32_t i = 0; i < verb.count; ++i) sources.insert(each(verb.from, i));
    for (std::uint32_t i = 0; i < verb.count; ++i) {
        const Cell to = each(verb.to, i);
        if (sources.contains(to) || !cells_.contains(each(verb.from, i))) return false;
        if (reduces && !cells_.contains(to)) return false;
    }
    for (std::uint32_t i = 0; i < verb.count; ++i) {
        const Ingredients sent = cells_.at(each(verb.from, i));
        Ingredients& held = cells_[each(verb.to, i)];
        if (!reduces) held.clear();
        for (const auto& [one, times] : sent) held[one] += times;
    }
    return true;
}

std::optional<Ingredients> ProgramMeaning::wanted(std::uint32_t rank, std::uint32_t c) const {
    const lang::Shape& shape = program_.shape;
    const std::uint32_t k = shape.chunks, root = shape.root ? shape.root->value() : 0;
    const auto one = [](std::uint32_t r, std::uint32_t chunk) { return Ingredients{{{r, chunk}, 1}}; };
    const auto sum = [&](std::uint32_t chunk) {
        Ingredients all;
        for (std::uint32_t r = 0; r < shape.ranks; ++r) all[{r, chunk}] = 1;
        return all;
    };
    switch (shape.kind) {
        case Kind::AllReduce:
            return sum(c);
        case Kind::ReduceScatter:
            return sum(rank * k + c);
        case Kind::Reduce:
            if (rank == root) return sum(c);
            return std::nullopt;
        case Kind::Broadcast:
            return one(root, c);
        case Kind::Scatter:
            return one(root, rank * k + c);
        case Kind::AllGather:
            return one(c / k, c % k);
        case Kind::Gather:
            if (rank == root) return one(c / k, c % k);
            return std::nullopt;
        case Kind::AllToAll:
            return one(c / k, rank * k + c % k);
        case Kind::AllToNext:
            if (rank > 0) return one(rank - 1, c);
            return std::nullopt;
        default:
            return std::nullopt;
    }
}

std::set<std::pair<std::uint32_t, std::uint32_t>> ProgramMeaning::wrong_outputs() const {
    std::set<std::pair<std::uint32_t, std::uint32_t>> wrong;
    for (std::uint32_t r = 0; r < program_.shape.ranks; ++r) {
        for (std::uint32_t c = 0; c < size(r, kOutput); ++c) {
            const Ingredients& found = at({r, kOutput, c});
            if (program_.shape.kind == Kind::Custom) {
                if (std::ranges::any_of(found, [](const auto& entry) { return entry.second > 1; })) {
                    wrong.emplace(r, c);
                }
            } else if (const auto what = wanted(r, c); what && *what != found) {
                wrong.emplace(r, c);
            }
        }
    }
    return wrong;
}

}  // namespace tutti::oracle

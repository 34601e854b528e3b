#include "lang/tracer.hpp"

#include "core/error.hpp"
#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace tutti::lang {
namespace {

/// The finaliser of splitmix64 (Steele, Lea, Flood, OOPSLA 2014): every bit of the result depends on all.
std::uint64_t mixed(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace

Value value_of(const plan::Contribution& contribution) {
    const std::uint64_t word =
        mixed(mixed(contribution.rank.value()) + static_cast<std::uint64_t>(contribution.chunk));
    return {mixed(word ^ 0x5bd1e995ULL), mixed(word ^ 0xc2b2ae35ULL), 1};
}

Value sum(const Value& a, const Value& b) {
    const std::uint64_t low = a.low + b.low;
    return {low, a.high + b.high + (low < a.low ? 1 : 0), a.contributions + b.contributions};
}

Tracer::Tracer(Trace trace) : trace_(std::move(trace)) {
    check(trace_.shape);
    if (trace_.places.empty()) trace_.places.emplace_back();
    const Shape& shape = trace_.shape;
    cells_.resize(shape.ranks);
    for (std::uint32_t r = 0; r < shape.ranks; ++r) {
        auto& rank = cells_[r];
        rank.resize(kFirstScratch + trace_.scratch.size());
        rank[kInput].resize(chunks_of(shape, r, kInput));
        rank[kOutput].resize(chunks_of(shape, r, kOutput));
        places_ += rank[kInput].size() + rank[kOutput].size();
    }
    for (const Initial& initial : shape.initial) {
        if (initial.slot.buffer >= kFirstScratch) refuse("scratch buffers hold nothing at first", 0);
        check_range(initial.slot, 1, 0);
    }
    for_each_initial(shape, [&](const Initial& initial) {
        cells(initial.slot)[initial.slot.index].value = value_of(initial.value);
    });
}

std::uint32_t Tracer::scratch_buffer(const std::string& name) {
    const auto found = std::ranges::find(trace_.scratch, name);
    const auto number = static_cast<std::uint32_t>(found - trace_.scratch.begin());
    if (found == trace_.scratch.end()) {
        trace_.scratch.push_back(name);
        for (auto& rank : cells_) rank.emplace_back();
    }
    return kFirstScratch + number;
}

std::uint32_t Tracer::place(const std::string& file, std::uint32_t line) {
    // Loops call the same few lines again and again.
    for (std::size_t back = 1; back <= std::min<std::size_t>(trace_.places.size(), 32); ++back) {
        const ProgramPlace& known = trace_.places[trace_.places.size() - back];
        if (known.line == line && known.file == file) {
            return static_cast<std::uint32_t>(trace_.places.size() - back);
        }
    }
    trace_.places.push_back({file, line});
    return static_cast<std::uint32_t>(trace_.places.size() - 1);
}

const Tracer::Cell* Tracer::find(const Slot& slot) const {
    if (slot.rank >= cells_.size() || slot.buffer >= cells_[slot.rank].size()) return nullptr;
    const auto& buffer = cells_[slot.rank][slot.buffer];
    return slot.index < buffer.size() ? &buffer[slot.index] : nullptr;
}

std::uint32_t Tracer::size(std::uint32_t rank, std::uint32_t buffer) const {
    if (rank >= cells_.size() || buffer >= cells_[rank].size()) return 0;
    return static_cast<std::uint32_t>(cells_[rank][buffer].size());
}

const Value& Tracer::value(const Slot& slot) const {
    static const Value kNothing;
    const Cell* cell = find(resolved(trace_.shape, slot));
    return cell != nullptr ? cell->value : kNothing;
}

bool Tracer::holds(const Slot& slot) const { return value(slot).contributions > 0; }

std::uint32_t Tracer::version(const Slot& slot) const {
    const Cell* cell = find(resolved(trace_.shape, slot));
    return cell != nullptr ? cell->version : 0;
}

void Tracer::refuse(const std::string& message, std::uint32_t place) const {
    const ProgramPlace& where = trace_.places[place];
    throw InputError(message, where.file.empty() ? std::string() : text_of(where));
}

void Tracer::check_range(const Slot& slot, std::uint32_t count, std::uint32_t place) const {
    if (slot.rank >= trace_.shape.ranks) {
        refuse(fmt::format("there is no rank {}; the program has {}", slot.rank, trace_.shape.ranks), place);
    }
    if (count == 0) refuse("expected at least one chunk", place);
    const bool scratch = slot.buffer >= kFirstScratch;
    const std::uint64_t end = std::uint64_t{slot.index} + count;
    const std::uint64_t size =
        scratch ? cells_[slot.rank][slot.buffer].size() : chunks_of(trace_.shape, slot.rank, slot.buffer);
    const std::uint64_t most = scratch ? size + (kMostPlaces - std::min(kMostPlaces, places_)) : size;
    if (end > most) {
        refuse(fmt::format("{} is outside of the buffer, which has {} chunk{}",
                           text_of(trace_, {slot.rank, slot.buffer, static_cast<std::uint32_t>(end - 1)}),
                           most, most == 1 ? "" : "s"),
               place);
    }
}

bool Tracer::run(Verb& verb) {
    check_range(verb.from, verb.count, verb.place);
    check_range(verb.to, verb.count, verb.place);
    verb.from = resolved(trace_.shape, verb.from);
    verb.to = resolved(trace_.shape, verb.to);
    const bool reduces = verb.kind == Verb::Kind::Reduce;
    const bool same_buffer = verb.from.rank == verb.to.rank && verb.from.buffer == verb.to.buffer;
    if (same_buffer && verb.from.index == verb.to.index && !reduces) return false;
    if (same_buffer &&
        std::max(verb.from.index, verb.to.index) < std::min(verb.from.index, verb.to.index) + verb.count) {
        refuse(fmt::format("{} overlaps what it is {}", text_of(trace_, verb.to),
                           reduces ? "added to" : "copied from"),
               verb.place);
    }
    // All is checked before anything is changed.
    for (std::uint32_t i = 0; i < verb.count; ++i) {
        const Slot from{verb.from.rank, verb.from.buffer, verb.from.index + i};
        const Slot to{verb.to.rank, verb.to.buffer, verb.to.index + i};
        const Cell* const source = find(from);
        if (source == nullptr || source->value.contributions == 0) {
            refuse(fmt::format("{} holds nothing", text_of(trace_, from)), verb.place);
        }
        const Cell* const target = find(to);
        if (reduces && (target == nullptr || target->value.contributions == 0)) {
            refuse(fmt::format("{} holds nothing that could be added to", text_of(trace_, to)), verb.place);
        }
    }
    auto& target = cells(verb.to);
    if (target.size() < verb.to.index + verb.count) {
        places_ += verb.to.index + verb.count - target.size();
        target.resize(verb.to.index + verb.count);
    }
    const auto& source = cells(verb.from);
    for (std::uint32_t i = 0; i < verb.count; ++i) {
        Cell& cell = target[verb.to.index + i];
        const Value& sent = source[verb.from.index + i].value;
        cell.value = reduces ? sum(cell.value, sent) : sent;
        ++cell.version;
    }
    return true;
}

void Tracer::take(Verb verb) {
    if (run(verb)) trace_.verbs.push_back(verb);
}

void Tracer::take_all(std::vector<Verb> verbs) {
    expects(trace_.verbs.empty());
    std::size_t kept = 0;
    for (std::size_t v = 0; v < verbs.size(); ++v) {
        Verb verb = verbs[v];
        if (run(verb)) verbs[kept++] = verb;
    }
    verbs.resize(kept);
    trace_.verbs = std::move(verbs);
}

void Tracer::copy(Slot from, Slot to, std::uint32_t count, const Directive& directive, std::uint32_t place) {
    take({Verb::Kind::Copy, from, to, count, directive, place});
}

void Tracer::reduce(Slot from, Slot to, std::uint32_t count, const Directive& directive,
                    std::uint32_t place) {
    take({Verb::Kind::Reduce, from, to, count, directive, place});
}

std::optional<Wanted> Tracer::first_wrong() const {
    std::unordered_map<std::int64_t, Value> sums;
    const auto expected = [&](const Wanted& wanted) {
        if (!wanted.sum) return value_of(wanted.value);
        const auto [found, fresh] = sums.try_emplace(wanted.value.chunk);
        for (std::uint32_t r = 0; fresh && r < trace_.shape.ranks; ++r) {
            found->second = sum(found->second, value_of({Rank(r), wanted.value.chunk}));
        }
        return found->second;
    };
    for (std::uint32_t rank = 0; rank < trace_.shape.ranks; ++rank) {
        for (const Wanted& wanted : wanted_values(trace_.shape, rank)) {
            const Cell* cell = find(wanted.slot);
            if (cell == nullptr || cell->value != expected(wanted)) return wanted;
        }
    }
    return std::nullopt;
}

Tracer traced(Trace trace) {
    std::vector<Verb> verbs = std::exchange(trace.verbs, {});
    Tracer tracer(std::move(trace));
    tracer.take_all(std::move(verbs));
    return tracer;
}

}  // namespace tutti::lang

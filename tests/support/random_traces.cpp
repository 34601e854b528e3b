// Random chunk programs. A program is made of strands, one for each range of chunks that goes its way: a sum
// that grows along a random tree, a chunk that spreads along another. Strands are mixed at random; scratch
// places are found afterwards, from first to last use, so that different strands use the same places.

#include "tests/support/random_traces.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace tutti::test {
namespace {

using lang::kFirstScratch;
using lang::kInput;
using lang::kOutput;
using lang::Slot;
using lang::Verb;
using Kind = CollectiveKind;
using Strand = std::vector<Verb>;

struct Range {
    std::uint32_t first = 0, count = 0;
};

class TraceAuthor {
  public:
    explicit TraceAuthor(Rng& rng) : rng_(rng) {}

    lang::Trace write() {
        constexpr Kind kKinds[]{Kind::AllReduce, Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter,
                                Kind::AllToAll,  Kind::Broadcast, Kind::Reduce,    Kind::Gather,
                                Kind::Scatter,   Kind::AllToNext};
        lang::Shape& shape = trace_.shape;
        trace_.name = chance(20) ? "a name: \"%\"" : "p";
        shape.kind = kKinds[any(std::size(kKinds))];
        shape.ranks = n_ = 2 + std::min(any(5), any(5));
        k_ = 1 + std::min(any(4), any(4));
        if (chance(30) && shape.kind != Kind::AllToAll) k_ = 60 + any(30);  // more than a step can have
        shape.chunks = k_;
        shape.in_place = any(2) == 0;
        if (has_root(shape.kind)) shape.root = Rank(root_ = any(n_));
        strands();
        std::vector<Verb> verbs = mixed(std::move(first_phase_));
        std::ranges::move(mixed(std::move(second_phase_)), std::back_inserter(verbs));
        find_scratch(verbs);
        for (Verb& verb : verbs) {
            rename(verb.from);
            rename(verb.to);
        }
        trace_.verbs = std::move(verbs);
        return std::move(trace_);
    }

  private:
    std::uint32_t any(std::uint64_t limit) { return static_cast<std::uint32_t>(rng_.below(limit)); }
    bool chance(std::uint64_t one_in) { return rng_.below(one_in) == 0; }
    template <class T>
    const T& one_of(const std::vector<T>& list) {
        return list[any(list.size())];
    }

    std::vector<Range> ranges(std::uint32_t size) {
        std::vector<Range> parts;
        for (std::uint32_t first = 0; first < size;) {
            const std::uint32_t count = chance(2) ? size - first : 1 + any(size - first);
            parts.push_back({first, count});
            first += count;
        }
        return parts;
    }

    /// A place of its own until its last use; find_scratch gives it one.
    Slot fresh(std::uint32_t rank, std::uint32_t count) {
        virtual_sizes_.push_back(count);
        return {rank, kFirstScratch + static_cast<std::uint32_t>(virtual_sizes_.size() - 1), 0};
    }
    /// A place for something on its way: scratch, or memory of the user that the collective leaves alone.
    Slot detour(std::uint32_t rank, const Slot& target, std::uint32_t count) {
        const bool unused_output =
            trace_.shape.kind == Kind::Reduce && !trace_.shape.in_place && rank != root_;
        if (unused_output && chance(2)) return {rank, kOutput, target.index};
        return fresh(rank, count);
    }

    void verb(Strand& strand, Verb::Kind kind, Slot from, Slot to, std::uint32_t count) {
        if (count > 1 && chance(4)) {  // in two halves, of which the second may come first
            const std::uint32_t half = 1 + any(count - 1);
            Verb low{.kind = kind, .from = from, .to = to, .count = half};
            Verb high{.kind = kind, .from = from, .to = to, .count = count - half};
            high.from.index += half;
            high.to.index += half;
            if (chance(2)) std::swap(low, high);
            strand.push_back(low);
            strand.push_back(high);
            return;
        }
        strand.push_back({.kind = kind, .from = from, .to = to, .count = count});
    }
    void copy(Strand& strand, Slot from, Slot to, std::uint32_t count) {
        verb(strand, Verb::Kind::Copy, from, to, count);
        if (chance(25)) verb(strand, Verb::Kind::Copy, from, to, count);
    }

    /// From a place that keeps its value to all of those.
    void spread(Strand& strand, Slot source, std::vector<Slot> targets, std::uint32_t count) {
        std::vector<Slot> holders{source};
        rng_.shuffle(targets);
        for (const Slot& target : targets) {
            Slot from = chance(2) ? holders.back() : one_of(holders);
            if (chance(5)) {
                const Slot middle = detour(any(n_), target, count);
                copy(strand, from, middle, count);
                from = middle;
                if (middle.buffer >= kFirstScratch) holders.push_back(middle);
            }
            copy(strand, from, target, count);
            holders.push_back(target);
        }
        if (chance(8)) {  // what nobody reads
            const Slot dead = fresh(any(n_), count);
            copy(strand, one_of(holders), dead, count);
            if (chance(2)) verb(strand, Verb::Kind::Reduce, one_of(holders), dead, count);
        }
    }

    /// The sum of parts that nobody else needs, to all of those.
    void add_up(Strand& strand, const std::vector<Slot>& parts, const std::vector<Slot>& targets,
                std::uint32_t count) {
        std::vector<Slot> sums;
        for (const Slot& part : parts) {
            const auto own = std::ranges::find(targets, part.rank, &Slot::rank);
            if (!trace_.shape.in_place && own != targets.end() && chance(3)) {
                copy(strand, part, *own, count);
                sums.push_back(*own);
            } else if (chance(5)) {
                sums.push_back(fresh(part.rank, count));
                copy(strand, part, sums.back(), count);
            } else {
                sums.push_back(part);
            }
        }
        const bool chain = chance(2);
        while (sums.size() > 1) {
            const std::size_t x = any(sums.size());
            Slot from = sums[x];
            sums.erase(sums.begin() + static_cast<std::ptrdiff_t>(x));
            const std::size_t y = chain ? x % sums.size() : any(sums.size());
            if (chance(5)) {
                const Slot middle = detour(chance(2) ? sums[y].rank : any(n_), targets.front(), count);
                copy(strand, from, middle, count);
                from = middle;
            }
            verb(strand, Verb::Kind::Reduce, from, sums[y], count);
        }
        spread(strand, sums.front(), targets, count);
    }

    /// Where the target may still be needed by others, what arrives waits elsewhere until all is sent.
    void deliver(Slot source, Slot target, std::uint32_t count) {
        Strand strand;
        if (trace_.shape.in_place) {
            const Slot arrived = fresh(target.rank, count);
            spread(strand, source, {arrived}, count);
            Strand last;
            copy(last, arrived, target, count);
            second_phase_.push_back(std::move(last));
        } else {
            spread(strand, source, {target}, count);
        }
        first_phase_.push_back(std::move(strand));
    }

    void strands() {
        const auto every_rank = [&](std::uint32_t buffer, std::uint32_t index) {
            std::vector<Slot> slots;
            for (std::uint32_t r = 0; r < n_; ++r) slots.push_back({r, buffer, index});
            return slots;
        };
        const auto spreading = [&](Slot source, std::vector<Slot> targets, std::uint32_t count) {
            Strand strand;
            spread(strand, source, std::move(targets), count);
            first_phase_.push_back(std::move(strand));
        };
        const auto adding = [&](const std::vector<Slot>& parts, const std::vector<Slot>& targets,
                                std::uint32_t count) {
            Strand strand;
            add_up(strand, parts, targets, count);
            first_phase_.push_back(std::move(strand));
        };
        const Kind kind = trace_.shape.kind;
        if (kind == Kind::AllReduce || kind == Kind::Reduce || kind == Kind::Broadcast) {
            for (const auto& [first, count] : ranges(k_)) {
                const std::vector<Slot> outputs = every_rank(kOutput, first);
                if (kind == Kind::Broadcast) spreading({root_, kInput, first}, outputs, count);
                if (kind == Kind::Reduce) adding(every_rank(kInput, first), {outputs[root_]}, count);
                if (kind == Kind::AllReduce) adding(every_rank(kInput, first), outputs, count);
            }
            return;
        }
        for (std::uint32_t r = 0; r < n_; ++r) {
            for (const auto& [first, count] : ranges(k_)) {
                const std::uint32_t block = r * k_ + first;
                switch (kind) {
                    case Kind::AllGather:
                        spreading({r, kInput, first}, every_rank(kOutput, block), count);
                        break;
                    case Kind::ReduceScatter:
                        adding(every_rank(kInput, block), {{r, kOutput, first}}, count);
                        break;
                    case Kind::Gather:
                        spreading({r, kInput, first}, {{root_, kOutput, block}}, count);
                        break;
                    case Kind::Scatter:
                        spreading({root_, kInput, block}, {{r, kOutput, first}}, count);
                        break;
                    case Kind::AllToNext:
                        if (r > 0) deliver({r - 1, kInput, first}, {r, kOutput, first}, count);
                        break;
                    default:
                        for (std::uint32_t to = 0; to < n_; ++to) {
                            deliver({r, kInput, to * k_ + first}, {to, kOutput, block}, count);
                        }
                        break;
                }
            }
        }
    }

    std::vector<Verb> mixed(std::vector<Strand> strands) {
        std::vector<Verb> verbs;
        const std::uint32_t manner = any(3);  // one after the other, in turns, anyhow
        if (manner != 0) rng_.shuffle(strands);
        std::vector<std::size_t> next(strands.size());
        for (std::size_t turn = 0;; ++turn) {
            std::vector<std::size_t> open;
            for (std::size_t s = 0; s < strands.size(); ++s) {
                if (next[s] < strands[s].size()) open.push_back(s);
            }
            if (open.empty()) return verbs;
            const std::size_t s =
                manner == 0 ? open.front() : open[manner == 1 ? turn % open.size() : any(open.size())];
            verbs.push_back(strands[s][next[s]++]);
        }
    }

    /// Real places for those of fresh(): such that are free again, or new ones behind the others.
    void find_scratch(std::vector<Verb>& verbs) {
        struct Home {
            Slot slot{};
            std::uint32_t size = 0;
            std::size_t free_after = 0;
        };
        trace_.scratch = {"scratch", "a b", "%\n"};
        trace_.scratch.resize(1 + any(3));
        const auto real = static_cast<std::uint32_t>(trace_.scratch.size());
        std::map<std::uint32_t, std::size_t> last;
        for (std::size_t v = 0; v < verbs.size(); ++v) {
            for (const Slot& slot : {verbs[v].from, verbs[v].to}) {
                if (slot.buffer >= kFirstScratch) last[slot.buffer] = v;
            }
        }
        std::vector<Home> homes;
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> ends;
        std::map<std::uint32_t, Slot> found;
        for (std::size_t v = 0; v < verbs.size(); ++v) {
            for (Slot* slot : {&verbs[v].from, &verbs[v].to}) {
                if (slot->buffer < kFirstScratch) continue;
                const std::uint32_t number = slot->buffer;
                const std::uint32_t size = virtual_sizes_[number - kFirstScratch];
                if (!found.contains(number)) {
                    const auto free = std::ranges::find_if(homes, [&](const Home& home) {
                        return home.slot.rank == slot->rank && home.size >= size && home.free_after < v;
                    });
                    if (free != homes.end() && !chance(3)) {
                        found[number] = free->slot;
                        free->free_after = last[number];
                    } else {
                        const std::uint32_t buffer = kFirstScratch + any(real);
                        std::uint32_t& end = ends[{slot->rank, buffer}];
                        if (chance(6)) end += any(3);
                        homes.push_back({{slot->rank, buffer, end}, size, last[number]});
                        found[number] = homes.back().slot;
                        end += size;
                    }
                }
                const Slot& home = found[number];
                *slot = {home.rank, home.buffer, home.index + slot->index};
            }
        }
    }

    /// In place, the other name of the same chunk now and then.
    void rename(Slot& slot) {
        if (!trace_.shape.in_place || slot.buffer > kOutput || !chance(3)) return;
        const std::uint32_t share = slot.rank * k_;
        switch (trace_.shape.kind) {
            case Kind::AllGather:
                if (slot.buffer == kInput) slot = {slot.rank, kOutput, slot.index + share};
                break;
            case Kind::ReduceScatter:
                if (slot.buffer == kOutput) slot = {slot.rank, kInput, slot.index + share};
                break;
            case Kind::Gather:
            case Kind::Scatter:
                break;
            default:
                slot.buffer = slot.buffer == kInput ? kOutput : kInput;
                break;
        }
    }

    Rng& rng_;
    lang::Trace trace_{};
    std::uint32_t n_ = 0, k_ = 0, root_ = 0;
    std::vector<std::uint32_t> virtual_sizes_;
    std::vector<Strand> first_phase_, second_phase_;
};

lang::Trace senseless_trace(Rng& rng) {
    constexpr Kind kKinds[]{Kind::Custom,        Kind::Custom,    Kind::AllReduce, Kind::AllGather,
                            Kind::ReduceScatter, Kind::Broadcast, Kind::Gather,    Kind::Scatter};
    const auto any = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(rng.below(limit)); };
    lang::Trace trace;
    trace.name = "p";
    trace.scratch = {"scratch"};
    lang::Shape& shape = trace.shape;
    shape.kind = kKinds[any(std::size(kKinds))];
    shape.ranks = 2 + any(3);
    shape.chunks = 1 + any(2);
    shape.in_place = any(2) == 0;
    if (has_root(shape.kind)) shape.root = Rank(any(shape.ranks));
    const bool custom = shape.kind == Kind::Custom;
    if (custom) {
        shape.custom_inputs = 1 + any(4);
        shape.custom_outputs = shape.in_place ? shape.custom_inputs : 1 + any(4);
        for (std::uint32_t r = 0; r < shape.ranks; ++r) {
            for (std::uint32_t i = 0; i < shape.custom_inputs; ++i) {
                if (any(6) != 0) shape.initial.push_back({{r, kInput, i}, {Rank(r), i}});
            }
        }
    }
    const std::uint32_t size = custom ? std::max(shape.custom_inputs, shape.custom_outputs) : 4;
    const auto slot = [&] { return Slot{any(shape.ranks), any(3), any(size)}; };
    const std::uint32_t verbs = 1 + any(10);
    for (std::uint32_t v = 0; v < verbs; ++v) {
        trace.verbs.push_back({.kind = any(2) == 0 ? Verb::Kind::Copy : Verb::Kind::Reduce,
                               .from = slot(),
                               .to = slot(),
                               .count = 1 + any(2)});
    }
    return trace;
}

void break_one_thing(lang::Trace& trace, Rng& rng) {
    if (trace.verbs.empty()) return;
    const auto any = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(rng.below(limit)); };
    const std::size_t v = any(trace.verbs.size());
    const auto at = trace.verbs.begin() + static_cast<std::ptrdiff_t>(v);
    Verb& verb = trace.verbs[v];
    switch (any(9)) {
        case 0:
            trace.verbs.erase(at);
            break;
        case 1:
            trace.verbs.insert(at, Verb(verb));
            break;
        case 2:
            std::swap(verb, trace.verbs[any(trace.verbs.size())]);
            break;
        case 3:
            verb.kind = verb.kind == Verb::Kind::Copy ? Verb::Kind::Reduce : Verb::Kind::Copy;
            break;
        case 4:
            std::swap(verb.from, verb.to);
            break;
        case 5:
            verb.count += 1;
            break;
        default: {
            Slot& slot = any(2) == 0 ? verb.from : verb.to;
            if (any(2) == 0) slot.rank = any(trace.shape.ranks);
            if (any(3) == 0) slot.index = any(4);
            if (any(3) == 0) slot.buffer = any(2 + trace.scratch.size());
            break;
        }
    }
}

/// Thread blocks of the program's own that do not contradict each other: each has one connection in and one
/// out at most, of one channel.
void choose_blocks(lang::Trace& trace, Rng& rng) {
    struct Own {
        std::uint32_t channel = 0;
        bool sends = false, receives = false;
    };
    const auto any = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(rng.below(limit)); };
    std::map<std::uint32_t, std::vector<Own>> blocks;
    const auto block = [&](std::uint32_t rank, std::uint32_t channel, bool Own::*end) {
        std::vector<Own>& own = blocks[rank];
        for (std::size_t b = 0; b < own.size(); ++b) {
            if (own[b].*end || own[b].channel != channel || any(3) == 0) continue;
            own[b].*end = true;
            return static_cast<std::int32_t>(b);
        }
        own.push_back({.channel = channel});
        own.back().*end = true;
        return static_cast<std::int32_t>(own.size() - 1);
    };
    struct Ends {
        std::int32_t send = -1, receive = -1;
    };
    std::map<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>, Ends> connections;
    const std::uint32_t channels = 1 + any(3);
    for (Verb& verb : trace.verbs) {
        if (verb.from.rank == verb.to.rank) {
            verb.directive.send_block = any(2) == 0 ? -1 : static_cast<std::int32_t>(any(3));
            continue;
        }
        const std::uint32_t channel = any(channels);
        const auto [found, is_new] = connections.try_emplace({{verb.from.rank, verb.to.rank}, channel});
        if (is_new && any(5) != 0) {
            found->second.send = block(verb.from.rank, channel, &Own::sends);
            found->second.receive = block(verb.to.rank, channel, &Own::receives);
        }
        verb.directive = {found->second.send, found->second.receive, static_cast<std::int32_t>(channel)};
    }
}

void add_wishes(lang::Trace& trace, Rng& rng) {
    const auto any = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(rng.below(limit)); };
    constexpr plan::Protocol kProtocols[]{plan::Protocol::Simple, plan::Protocol::LL, plan::Protocol::LL128};
    trace.protocol = kProtocols[any(3)];
    trace.fusion = any(5) != 0;
    trace.interleaved = any(2) == 0;
    if (any(4) == 0) trace.instances = 2 + any(2);
    switch (any(8)) {
        case 0:
            trace.policy = lang::BlockPolicy::Manual;
            choose_blocks(trace, rng);
            break;
        case 1:
            for (Verb& verb : trace.verbs) verb.directive.channel = static_cast<std::int32_t>(any(3)) - 1;
            break;
        case 2:
            for (Verb& verb : trace.verbs) {
                verb.directive.channel = static_cast<std::int32_t>((verb.from.rank + verb.to.rank) % 3);
            }
            break;
        case 3:  // anything: it may be refused
            if (any(3) == 0) trace.policy = lang::BlockPolicy::Manual;
            for (Verb& verb : trace.verbs) {
                const auto wish = [&] { return static_cast<std::int32_t>(any(4)) - 1; };
                verb.directive = {wish(), wish(), wish()};
            }
            break;
        default:
            break;
    }
    if (any(3) != 0) return;
    trace.places = {{}, {"a file.py", 1}, {"b.py", 20}};
    for (Verb& verb : trace.verbs) verb.place = any(3);
}

}  // namespace

lang::Trace random_trace(Rng& rng, TraceOrigin origin) {
    lang::Trace trace = origin == TraceOrigin::Senseless ? senseless_trace(rng) : TraceAuthor(rng).write();
    if (origin == TraceOrigin::Broken) {
        for (std::uint64_t i = 0; i < 1 + rng.below(2); ++i) break_one_thing(trace, rng);
    }
    add_wishes(trace, rng);
    if (rng.below(8) == 0) trace = as_custom(std::move(trace));
    return trace;
}

lang::Trace as_custom(lang::Trace trace) {
    const lang::Shape& shape = trace.shape;
    const bool alike = !shape.in_place || shape.kind == Kind::AllReduce || shape.kind == Kind::Broadcast ||
                       shape.kind == Kind::Reduce || shape.kind == Kind::AllToAll ||
                       shape.kind == Kind::AllToNext;
    if (shape.kind == Kind::Custom || !alike) return trace;
    lang::Shape custom{.kind = Kind::Custom, .ranks = shape.ranks, .chunks = shape.chunks};
    custom.in_place = shape.in_place;
    custom.custom_inputs = input_chunks(shape);
    custom.custom_outputs = output_chunks(shape);
    custom.initial = initial_values(shape);
    trace.shape = std::move(custom);
    return trace;
}

lang::Trace shrunk(lang::Trace trace, const std::function<bool(const lang::Trace&)>& fails) {
    const auto keep = [&](lang::Trace less) {
        if (less == trace || !fails(less)) return false;
        trace = std::move(less);
        return true;
    };
    const auto with = [&](const auto& change) {
        lang::Trace less = trace;
        change(less);
        return keep(std::move(less));
    };
    (void)keep(as_custom(trace));
    (void)with([](lang::Trace& t) { t.instances = 1; });
    (void)with([](lang::Trace& t) { t.policy = lang::BlockPolicy::Auto; });
    (void)with([](lang::Trace& t) { t.protocol = plan::Protocol::Simple; });
    (void)with([](lang::Trace& t) { t.fusion = false; });
    (void)with([](lang::Trace& t) { t.shape.in_place = false; });
    (void)with([](lang::Trace& t) { std::ranges::for_each(t.verbs, [](Verb& v) { v.directive = {}; }); });
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t size = std::max<std::size_t>(trace.verbs.size() / 2, 1); size > 0; size /= 2) {
            for (std::size_t v = 0; v + size <= trace.verbs.size();) {
                const bool gone = with([&](lang::Trace& t) {
                    const auto first = t.verbs.begin() + static_cast<std::ptrdiff_t>(v);
                    t.verbs.erase(first, first + static_cast<std::ptrdiff_t>(size));
                });
                changed = changed || gone;
                if (!gone) v += size;
            }
        }
        for (std::size_t v = 0; v < trace.verbs.size(); ++v) {
            changed = with([&](lang::Trace& t) { t.verbs[v].count = 1; }) || changed;
            changed = with([&](lang::Trace& t) { t.verbs[v].directive = {}; }) || changed;
        }
        for (std::size_t i = 0; i < trace.shape.initial.size(); ++i) {
            changed = with([&](lang::Trace& t) {
                          t.shape.initial.erase(t.shape.initial.begin() + static_cast<std::ptrdiff_t>(i));
                      }) ||
                      changed;
        }
    }
    return trace;
}

}  // namespace tutti::test

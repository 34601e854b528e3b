#include "tests/oracle/brute_force_board.hpp"

#include <algorithm>

namespace tutti::oracle {

Board::Board(const Instance& instance, Shortcuts shortcuts)
    : npus_(instance.topology().npus()),
      nodes_(instance.topology().nodes()),
      chunks_(instance.chunks()),
      one_in_flight_(instance.topology().busy() == Busy::AlphaPlusBeta),
      rules_(instance.topology().parts().switches),
      dominance_(shortcuts == Shortcuts::All) {
    const auto& links = instance.topology().links();
    for (std::size_t e = 0; e < links.size(); ++e) {
        wires_.push_back(
            {links[e].src.index(), links[e].dst.index(), static_cast<int>(links[e].wire.alpha.count())});
        for (std::size_t c = 0; c < chunks_; ++c) {
            beta_.push_back(static_cast<int>(instance.beta(LinkId(e), ChunkId(c)).count()));
            const CollectiveId collective = instance.demand(ChunkId(c)).collective;
            allowed_.push_back(instance.may_carry(links[e].src, collective) &&
                               instance.may_carry(links[e].dst, collective));
        }
        if (!cuts(wires_[e].src)) storing_links_.push_back(e);
    }
    initial_.places.resize(npus_ * chunks_);
    initial_.queues.resize((nodes_ - npus_) * chunks_);
    initial_.free_at.assign(links.size(), 0);
    for (std::size_t c = 0; c < chunks_; ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        auto& receivers = receivers_.emplace_back();
        for (const NodeId node : demand.receivers) receivers.push_back(node.index());
        auto& holders = holders_.emplace_back();
        for (const NodeId node : demand.holders) holders.push_back(node.index());
        if (demand.reduction && holders.size() > 16)
            throw InternalError("too many holders for a brute force");
        reduction_.push_back(demand.reduction);
        release_.push_back(static_cast<int>(instance.release(ChunkId(c)).count()));
        all_.push_back(demand.reduction ? static_cast<Value>((1U << holders.size()) - 1) : Value{1});
        for (std::size_t i = 0; i < holders.size(); ++i) {
            const Value value = demand.reduction ? static_cast<Value>(1U << i) : Value{1};
            const int release = static_cast<int>(instance.release(ChunkId(c), demand.holders[i]).count());
            if (release > release_[c]) {
                late_.push_back({release, holders[i], c, value});
                continue;
            }
            // Before the first release nothing of the chunk can move, so its holders may as well have it from
            // the start.
            Place& own = place(initial_, holders[i], c);
            own.value = value;
            own.changed = release_[c] == 0;
        }
    }
    measure_distances();
    order_switches();
}

void Board::measure_distances() {
    distance_.assign(chunks_ * nodes_ * nodes_, kNever);
    for (std::size_t c = 0; c < chunks_; ++c) {
        const auto at = [&](std::size_t u, std::size_t v) -> int& {
            return distance_[(c * nodes_ + u) * nodes_ + v];
        };
        for (std::size_t v = 0; v < nodes_; ++v) at(v, v) = 0;
        for (std::size_t e = 0; e < wires_.size(); ++e) {
            if (!allowed_[e * chunks_ + c]) continue;
            // Beta is paid once on the way through cut-through switches, by the last link at the least.
            int& direct = at(wires_[e].src, wires_[e].dst);
            direct = std::min(direct, wires_[e].alpha + (cuts(wires_[e].dst) ? 0 : beta(e, c)));
        }
        for (std::size_t k = 0; k < nodes_; ++k) {
            for (std::size_t u = 0; u < nodes_; ++u) {
                for (std::size_t v = 0; v < nodes_; ++v) at(u, v) = std::min(at(u, v), at(u, k) + at(k, v));
            }
        }
        for (std::size_t u = 0; u < nodes_; ++u) {
            for (std::size_t v = 0; v < nodes_; ++v) at(u, v) = std::min(at(u, v), kNever);
        }
    }
}

void Board::order_switches() {
    std::vector<bool> placed(nodes_, false);
    std::size_t left = 0;
    for (std::size_t x = npus_; x < nodes_; ++x) left += cuts(x) ? 1U : 0U;
    while (left > 0) {
        const std::size_t before = left;
        for (std::size_t x = npus_; x < nodes_; ++x) {
            if (!cuts(x) || placed[x]) continue;
            const bool fed = std::ranges::any_of(wires_, [&](const Wire& wire) {
                return wire.dst == x && wire.alpha == 0 && cuts(wire.src) && !placed[wire.src];
            });
            if (fed) continue;
            placed[x] = true;
            crossbars_.push_back(x);
            --left;
        }
        if (left == before) throw InternalError("a circle of cut-through switches without latency");
    }
}

bool Board::flies_to(const State& state, std::size_t node, std::size_t chunk) const {
    return std::ranges::any_of(state.flights, [&](const Flight& flight) {
        return flight.chunk == chunk && wires_[flight.link].dst == node;
    });
}

Value Board::pending(std::size_t npu, std::size_t chunk, int now) const {
    for (const Late& late : late_) {
        if (late.npu == npu && late.chunk == chunk && late.release > now) return late.value;
    }
    return 0;
}

bool Board::is_done(const State& state, int now) const {
    if (!state.flights.empty() || !state.passages.empty()) return false;
    for (std::size_t c = 0; c < chunks_; ++c) {
        for (const std::size_t r : receivers_[c]) {
            if ((place(state, r, c).value | pending(r, c, now)) != all_[c]) return false;
        }
    }
    return buffers_hold(state);
}

bool Board::is_hopeless(const State& state, int now) const {
    for (std::size_t c = 0; c < chunks_; ++c) {
        if (is_too_far(state, now, c)) return true;
    }
    for (std::size_t v = 0; v < npus_; ++v) {
        if (is_crammed(state, now, v) || is_choked(state, now, v)) return true;
    }
    return false;
}

/// Some receiver lacks a contribution that cannot reach it by the limit.
bool Board::is_too_far(const State& state, int now, std::size_t chunk) const {
    for (const std::size_t r : receivers_[chunk]) {
        const Value lacking =
            static_cast<Value>(all_[chunk] & ~place(state, r, chunk).value & ~pending(r, chunk, now));
        if (lacking == 0) continue;
        Value near = 0;
        const auto see = [&](std::size_t node, int from, Value value) {
            if (from + distance(chunk, node, r) <= limit_) near = static_cast<Value>(near | value);
        };
        for (const Late& late : late_) {
            if (late.chunk == chunk && late.release > now) see(late.npu, late.release, late.value);
        }
        const int ready = std::max(now, release_[chunk]);
        for (std::size_t v = 0; v < npus_; ++v) see(v, ready, place(state, v, chunk).value);
        for (std::size_t x = npus_; x < nodes_; ++x) {
            const Queue& copies = queue(state, x, chunk);
            for (const Value value : copies.waiting) see(x, ready, value);
            see(x, ready, copies.left);
        }
        for (const Flight& flight : state.flights) {
            if (flight.chunk == chunk) see(wires_[flight.link].dst, flight.arrival, flight.value);
        }
        for (const Passage& passage : state.passages) {
            if (passage.chunk == chunk) see(wires_[passage.link].dst, passage.due, passage.value);
        }
        if ((lacking & ~near) != 0) return true;
    }
    return false;
}

/// The NPU needs more chunks than its links can still bring.
bool Board::is_crammed(const State& state, int now, std::size_t npu) const {
    int needed = 0;
    for (std::size_t c = 0; c < chunks_; ++c) {
        if (std::ranges::find(receivers_[c], npu) == receivers_[c].end()) continue;
        const Value got = static_cast<Value>(place(state, npu, c).value | pending(npu, c, now));
        if (got != all_[c] && !flies_to(state, npu, c)) ++needed;
    }
    return needed > 0 && needed > room(state, now, npu, &Wire::dst);
}

/// More chunks must leave the NPU than its links can still take.
bool Board::is_choked(const State& state, int now, std::size_t npu) const {
    int leaving = 0;
    for (std::size_t c = 0; c < chunks_; ++c) leaving += must_leave(state, npu, c) ? 1 : 0;
    return leaving > 0 && leaving > room(state, now, npu, &Wire::src);
}

/// Some contribution is nowhere else, and a receiver elsewhere lacks it.
bool Board::must_leave(const State& state, std::size_t npu, std::size_t chunk) const {
    Value only = place(state, npu, chunk).value;
    const auto elsewhere = [&](Value value) { only = static_cast<Value>(only & ~value); };
    for (std::size_t v = 0; v < npus_; ++v) {
        if (v != npu) elsewhere(place(state, v, chunk).value);
    }
    // A late holder of a plain chunk has it too, in time for those who can wait.
    for (const Late& late : late_) {
        if (late.chunk == chunk && late.npu != npu) elsewhere(late.value);
    }
    for (std::size_t x = npus_; x < nodes_; ++x) {
        const Queue& copies = queue(state, x, chunk);
        for (const Value value : copies.waiting) elsewhere(value);
        elsewhere(copies.left);
    }
    for (const Flight& flight : state.flights) {
        if (flight.chunk == chunk) elsewhere(flight.value);
    }
    for (const Passage& passage : state.passages) {
        if (passage.chunk == chunk) elsewhere(passage.value);
    }
    return only != 0 && std::ranges::any_of(receivers_[chunk], [&](std::size_t r) { return r != npu; });
}

int Board::room(const State& state, int now, std::size_t npu, std::size_t Wire::*end) const {
    int transfers = 0;
    for (std::size_t e = 0; e < wires_.size(); ++e) {
        if (wires_[e].*end != npu) continue;
        int least = kNever;
        for (std::size_t c = 0; c < chunks_; ++c) least = std::min(least, beta(e, c));
        const int slack = limit_ - wires_[e].alpha - least - std::max(now, state.free_at[e]);
        if (slack >= 0) transfers += 1 + slack / busy(e, least);
    }
    return transfers;
}

/// D3.
bool Board::has_too_many_copies(const State& state, std::size_t chunk) const {
    if (!dominance_) return false;
    std::size_t copies = 0, lacking = 0;
    for (std::size_t v = 0; v < npus_; ++v) {
        if (place(state, v, chunk).value == 0) ++lacking;
    }
    for (std::size_t x = npus_; x < nodes_; ++x) copies += queue(state, x, chunk).waiting.size();
    for (const Flight& flight : state.flights) copies += flight.chunk == chunk ? 1U : 0U;
    for (const Passage& passage : state.passages) copies += passage.chunk == chunk ? 1U : 0U;
    return copies > lacking;
}

/// V11.
bool Board::buffers_hold(const State& state) const {
    for (std::size_t x = npus_; x < nodes_; ++x) {
        if (!rule(x).buffer || rule(x).cut_through) continue;
        std::size_t held = 0;
        for (std::size_t c = 0; c < chunks_; ++c) {
            const Queue& copies = queue(state, x, c);
            held += copies.waiting.size() + (copies.left != 0 ? 1U : 0U);
        }
        if (held > *rule(x).buffer) return false;
    }
    return true;
}

/// D4, by distance.
bool Board::is_in_time(const State& state, std::size_t link, std::size_t chunk, int now, int pace) const {
    const std::size_t dst = wires_[link].dst;
    if (now + wires_[link].alpha + pace > limit_) return false;
    if (!dominance_) return true;
    const int from = now + wires_[link].alpha + (cuts(dst) ? 0 : pace);
    return std::ranges::any_of(receivers_[chunk], [&](std::size_t r) {
        return from + distance(chunk, dst, r) <= limit_ && (reduction_[chunk] || !gets_it(state, r, chunk));
    });
}

/// Has the plain chunk, or it is on its way there.
bool Board::gets_it(const State& state, std::size_t npu, std::size_t chunk) const {
    return place(state, npu, chunk).value != 0 || flies_to(state, npu, chunk);
}

/// D2.
bool Board::is_wasteful(const State& state, std::size_t link, std::size_t chunk) const {
    const std::size_t dst = wires_[link].dst;
    return dominance_ && !reduction_[chunk] && is_npu(dst) && gets_it(state, dst, chunk);
}

/// D5, without what concerns the destination of a reduction.
bool Board::could_be_earlier(const State& state, std::size_t link, std::size_t chunk, int now) const {
    const auto& [src, dst, alpha] = wires_[link];
    if (!dominance_ || state.free_at[link] >= now) return false;
    if (!is_npu(dst) && (reduction_[chunk] || rule(dst).cut_through || rule(dst).buffer)) return false;
    if (is_npu(src)) return !place(state, src, chunk).changed && now > release_[chunk];
    if (reduction_[chunk] || (rule(src).copy && rule(src).buffer)) return false;
    const Queue& copies = queue(state, src, chunk);
    return copies.settled || copies.waiting.size() > copies.fresh;
}

std::string Board::key(const State& state, int now) const {
    std::string text;
    const auto put = [&](std::size_t number) {
        text += static_cast<char>(number & 0xFF);
        text += static_cast<char>((number >> 8) & 0xFF);
    };
    const auto put_time = [&](int time) {
        put(static_cast<std::size_t>(time == kNever ? 0x7FFF : time - now + 0x3FFF));
    };
    put(static_cast<std::size_t>(now));
    for (const Place& p : state.places) {
        put(p.value);
        text += static_cast<char>((p.changed ? 1 : 0) | (p.unread ? 2 : 0));
    }
    for (const Queue& q : state.queues) {
        put(q.waiting.size());
        for (const Value value : q.waiting) put(value);
        put(q.fresh);
        put(q.left);
    }
    for (const int time : state.free_at) put_time(std::max(time, now - 1));
    put(state.flights.size());
    for (const Flight& f : state.flights) {
        put_time(f.arrival);
        put(f.link);
        put(f.chunk);
        put(f.value);
        put(f.hasty ? 1 : 0);
    }
    for (const Passage& p : state.passages) {
        put_time(p.due);
        put(p.link);
        put(p.chunk);
        put(p.value);
        put(static_cast<std::size_t>(p.pace));
        put(p.legs.size());
        for (const Leg& leg : p.legs) {
            put(leg.link);
            put_time(leg.start);
            put_time(leg.next);
        }
    }
    return text;
}

}  // namespace tutti::oracle

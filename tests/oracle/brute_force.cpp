// The optimum of a tiny instance by exhaustive search, written from src/verify/README.md alone.
//
// For each makespan T = 0, 1, … the search asks whether a schedule ends by T. It plays tick after tick: what
// arrives acts, then each link in order of number starts nothing or some chunk that its source has then, then
// each cut-through switch sends on what is due, then the buffers are counted. States that failed are
// remembered by their full content, so nothing rests on a hash.
//
// What it does *not* assume: that values only grow, that a contribution travels once, that sums form trees,
// that a node gets a chunk once. Whether a send is `copy` or `reduce` matters only where it acts, so it is
// chosen on arrival (at a cut-through switch: when due onward).
//
// What it leaves out, and why that is safe. Of all valid schedules with makespan <= T take one with the
// fewest sends, and of these one with the least sum of starts, called S. If there is any schedule there is S,
// so what S never does need not be tried:
//
// D1 A plain chunk is never `reduce`d: where that breaks no rule it does what `copy` does.
// D2 A plain chunk goes into each NPU at most once, and never into a holder. A second send into it could be
//    left out, and with it the copy it took from a switch if no other send takes that copy, and the sends
//    that brought that copy, and so on back. Copies of a plain chunk are all alike, so the queues still
//    serve the others; fewer copies are held, and paces and busy times only shrink.
// D3 Every copy of a plain chunk in flight or unsent in a switch comes to an NPU that lacks it, each to
//    another one: otherwise it could be left out as in D2. So there are never more such copies than NPUs.
// D4 Every send comes to matter at some receiver at the end (for a plain chunk: at a receiver without it),
//    so it arrives early enough to get there by T. A send whose value nobody reads, further on, at such a
//    place can be left out with all that passes it on. Likewise a value that arrived at an NPU is not
//    overwritten unread, and no NPU sends an NPU what it has already.
// D5 No send can be moved one tick earlier alone. For a plain chunk between places where being early cannot
//    hurt (from an NPU, or a switch that does not both copy and have a limit, to an NPU or a switch without
//    limit) this is seen at the start: the link was free and the chunk was there one tick before. For a
//    reduction between two NPUs it is seen at the arrival: moreover the destination neither sent the chunk
//    nor got it one tick before.
//
// Releases by rank change none of this: a late holder's own is added to its value at its release, which
// counts as a change there (D5), and until then a plain chunk may go into it as into any NPU (D2).
//
// Whether a copying switch with a limited buffer will send a copy again is guessed when it leaves ("kept"):
// a kept copy takes its place, one that is not kept cannot be sent again.
//
// Pruned is also what cannot end by T: a contribution too far from a receiver that lacks it, or more chunks
// needed at an NPU than its links can still bring.

#include "tests/oracle/brute_force.hpp"

#include "tests/oracle/brute_force_board.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

namespace tutti::oracle {
namespace {

class Search : Board {
  public:
    Search(const Instance& instance, std::uint64_t work_limit, Shortcuts shortcuts)
        : Board(instance, shortcuts), work_limit_(work_limit) {}

    /// Whether there is a schedule of makespan <= limit; false also when out of work.
    bool ends_by(int limit);
    [[nodiscard]] bool out_of_work() const { return work_ > work_limit_; }
    [[nodiscard]] std::uint64_t work() const { return work_; }
    [[nodiscard]] const std::vector<Send>& sends() const { return sends_; }

  private:
    // The play. Each tries all that can follow, and answers whether one of it ends well.
    bool tick(const State& state, int now);
    bool start(const State& state, int now, std::size_t position);
    bool start_from_npu(const State& state, int now, std::size_t position, std::size_t chunk);
    bool start_from_switch(const State& state, int now, std::size_t position, std::size_t chunk);
    bool cross(const State& state, int now, std::size_t position);
    bool join(const State& state, int now, std::size_t position,
              std::vector<std::pair<std::size_t, std::vector<Passage>>> due,
              std::vector<std::vector<Inbound>> inbound);
    bool assign(const State& state, int now, std::size_t position, const std::vector<std::size_t>& chunks,
                const std::vector<std::vector<Inbound>>& inbound, std::vector<std::size_t>& choice);
    bool send_on(const State& state, int now, std::size_t position, const std::vector<std::size_t>& chunks,
                 std::vector<std::vector<Inbound>> inbound, const std::vector<std::size_t>& choice);
    bool next_tick(State state, int now);
    bool arrive(State state, int now, const std::vector<Flight>& arriving, std::size_t first);
    bool arrive_at_npu(const State& state, int now, const std::vector<Flight>& arriving, std::size_t first,
                       std::size_t last);
    bool arrive_at_switch(const State& state, int now, const std::vector<Flight>& arriving, std::size_t first,
                          std::size_t last);
    /// Puts a send on its link. The caller has judged that it may start.
    void depart(State& state, std::size_t link, std::size_t chunk, int now, Value value, bool hasty,
                const Inbound* onward);
    static void note_start(std::vector<Leg>& legs, std::size_t link, int now);
    void set_ops(const std::vector<Flight>& arriving, std::size_t first, std::size_t last, Op op) {
        for (std::size_t i = first; i < last; ++i) sends_[arriving[i].send].op = op;
    }

    std::uint64_t work_limit_;
    std::uint64_t work_ = 0;
    std::unordered_set<std::string> failed_;
    std::vector<Send> sends_;
};

bool Search::ends_by(int limit) {
    limit_ = limit;
    failed_.clear();
    sends_.clear();
    return tick(initial_, 0);
}

/// Everything has arrived that arrives by now.
bool Search::tick(const State& state, int now) {
    if (is_done(state, now)) return true;
    if (++work_ > work_limit_ || now >= limit_ || is_hopeless(state, now)) return false;
    std::string id = key(state, now);
    if (failed_.contains(id)) return false;
    const std::size_t sends = sends_.size();
    if (start(state, now, 0)) return true;
    sends_.resize(sends);
    if (!out_of_work()) failed_.insert(std::move(id));
    return false;
}

/// The links out of NPUs and storing switches, one by one.
bool Search::start(const State& state, int now, std::size_t position) {
    if (++work_ > work_limit_) return false;
    if (position == storing_links_.size()) return cross(state, now, 0);
    const std::size_t link = storing_links_[position];
    const std::size_t src = wires_[link].src;
    if (state.free_at[link] <= now) {
        for (std::size_t c = 0; c < chunks_; ++c) {
            if (now < release_[c] || !allowed_[link * chunks_ + c]) continue;
            if (is_wasteful(state, link, c) || !is_in_time(state, link, c, now, beta(link, c))) continue;
            const bool found = is_npu(src) ? start_from_npu(state, now, position, c)
                                           : start_from_switch(state, now, position, c);
            if (found) return true;
        }
    }
    return start(state, now, position + 1);
}

bool Search::start_from_npu(const State& state, int now, std::size_t position, std::size_t chunk) {
    const std::size_t link = storing_links_[position];
    const std::size_t src = wires_[link].src;
    const Value value = place(state, src, chunk).value;
    if (value == 0) return false;
    const bool hasty = could_be_earlier(state, link, chunk, now);
    if (hasty && !reduction_[chunk]) return false;
    const std::size_t sends = sends_.size();
    State next = state;
    place(next, src, chunk).unread = false;
    place(next, src, chunk).sent = true;
    depart(next, link, chunk, now, value, hasty, nullptr);
    const bool crowded = !reduction_[chunk] && has_too_many_copies(next, chunk);
    if (!crowded && start(next, now, position + 1)) return true;
    sends_.resize(sends);
    return false;
}

bool Search::start_from_switch(const State& state, int now, std::size_t position, std::size_t chunk) {
    const std::size_t link = storing_links_[position];
    const std::size_t src = wires_[link].src;
    const Queue& copies = queue(state, src, chunk);
    const Value value = copies.waiting.empty() ? copies.left : copies.waiting.front();
    if (value == 0 || could_be_earlier(state, link, chunk, now)) return false;
    const std::size_t sends = sends_.size();
    for (const bool keep : {true, false}) {
        if (keep && !rule(src).copy) continue;
        if (!keep && rule(src).copy && !rule(src).buffer) continue;  // keeping costs nothing
        State next = state;
        Queue& after = queue(next, src, chunk);
        if (!after.waiting.empty()) {
            after.fresh = std::min(after.fresh, after.waiting.size() - 1);
            after.waiting.erase(after.waiting.begin());
        }
        after.left = keep ? value : Value{0};
        depart(next, link, chunk, now, value, false, nullptr);
        const bool crowded = !reduction_[chunk] && has_too_many_copies(next, chunk);
        if (!crowded && start(next, now, position + 1)) return true;
        sends_.resize(sends);
    }
    return false;
}

void Search::note_start(std::vector<Leg>& legs, std::size_t link, int now) {
    for (Leg& leg : legs) {
        if (leg.link == link && leg.start < now && leg.next == kNever) leg.next = now;
    }
}

void Search::depart(State& state, std::size_t link, std::size_t chunk, int now, Value value, bool hasty,
                    const Inbound* onward) {
    const int pace = onward == nullptr ? beta(link, chunk) : std::max(beta(link, chunk), onward->pace);
    const Wire& wire = wires_[link];
    state.free_at[link] = now + busy(link, pace);
    for (Passage& passage : state.passages) note_start(passage.legs, link, now);
    sends_.push_back({ChunkId(chunk), LinkId(link), Ticks(now), Op::Copy});
    if (!cuts(wire.dst)) {
        state.flights.push_back({now + wire.alpha + pace, link, chunk, value, hasty, sends_.size() - 1});
        return;
    }
    Passage passage{now + wire.alpha, link, chunk, value, pace, {}, sends_.size() - 1};
    if (onward != nullptr) passage.legs = onward->legs;
    passage.legs.push_back({link, now, kNever});
    state.passages.push_back(std::move(passage));
}

/// The cut-through switches, one by one: what is due now must go on.
bool Search::cross(const State& state, int now, std::size_t position) {
    if (position == crossbars_.size()) return next_tick(state, now);
    const std::size_t crossbar = crossbars_[position];
    State rest = state;
    std::vector<std::pair<std::size_t, std::vector<Passage>>> due;
    for (std::size_t c = 0; c < chunks_; ++c) {
        std::vector<Passage> passages;
        for (const Passage& passage : state.passages) {
            if (passage.chunk == c && passage.due == now && wires_[passage.link].dst == crossbar)
                passages.push_back(passage);
        }
        if (passages.empty()) continue;
        std::ranges::sort(passages, {}, &Passage::link);
        due.emplace_back(c, std::move(passages));
    }
    if (due.empty()) return cross(state, now, position + 1);
    std::erase_if(rest.passages, [&](const Passage& passage) {
        return passage.due == now && wires_[passage.link].dst == crossbar;
    });
    return join(rest, now, position, std::move(due), {});
}

/// Chooses, chunk by chunk, which inbound sends are `reduce` and so leave as one.
bool Search::join(const State& state, int now, std::size_t position,
                  std::vector<std::pair<std::size_t, std::vector<Passage>>> due,
                  std::vector<std::vector<Inbound>> inbound) {
    const std::size_t done = inbound.size();
    if (done == due.size()) {
        std::vector<std::size_t> chunks, choice;
        for (const auto& entry : due) chunks.push_back(entry.first);
        return assign(state, now, position, chunks, inbound, choice);
    }
    const auto& [chunk, passages] = due[done];
    const bool may_sum = reduction_[chunk] && rule(crossbars_[position]).reduce;
    for (std::size_t summed = 0; summed < (std::size_t{1} << passages.size()); ++summed) {
        // One `reduce` alone is as good as a copy.
        if (summed != 0 && (!may_sum || (summed & (summed - 1)) == 0)) continue;
        std::vector<Inbound> units;
        std::optional<std::size_t> sum;
        bool disjoint = true;
        for (std::size_t i = 0; i < passages.size(); ++i) {
            const Passage& passage = passages[i];
            const bool adds = ((summed >> i) & 1) != 0;
            sends_[passage.send].op = adds ? Op::Reduce : Op::Copy;
            if (adds && sum) {
                Inbound& unit = units[*sum];
                disjoint = disjoint && (unit.value & passage.value) == 0;
                unit.value = static_cast<Value>(unit.value | passage.value);
                unit.pace = std::max(unit.pace, passage.pace);
                unit.legs.insert(unit.legs.end(), passage.legs.begin(), passage.legs.end());
                continue;
            }
            if (adds) sum = units.size();
            units.push_back({passage.value, passage.pace, passage.legs});
        }
        if (!disjoint) continue;
        inbound.resize(done);
        inbound.push_back(std::move(units));
        if (join(state, now, position, due, inbound)) return true;
    }
    return false;
}

/// Chooses for each link out of the switch which of the due chunks it takes, if any; chunks.size() means
/// none.
bool Search::assign(const State& state, int now, std::size_t position, const std::vector<std::size_t>& chunks,
                    const std::vector<std::vector<Inbound>>& inbound, std::vector<std::size_t>& choice) {
    if (++work_ > work_limit_) return false;
    if (choice.size() == wires_.size()) return send_on(state, now, position, chunks, inbound, choice);
    const std::size_t link = choice.size();
    if (wires_[link].src == crossbars_[position] && state.free_at[link] <= now) {
        for (std::size_t k = 0; k < chunks.size(); ++k) {
            const std::size_t chunk = chunks[k];
            if (!allowed_[link * chunks_ + chunk] || is_wasteful(state, link, chunk)) continue;
            choice.push_back(k);
            if (assign(state, now, position, chunks, inbound, choice)) return true;
            choice.pop_back();
        }
    }
    choice.push_back(chunks.size());
    if (assign(state, now, position, chunks, inbound, choice)) return true;
    choice.pop_back();
    return false;
}

bool Search::send_on(const State& state, int now, std::size_t position,
                     const std::vector<std::size_t>& chunks, std::vector<std::vector<Inbound>> inbound,
                     const std::vector<std::size_t>& choice) {
    const SwitchRule& switch_rule = rule(crossbars_[position]);
    std::vector<std::size_t> taken(chunks.size(), 0);
    for (std::size_t link = 0; link < choice.size(); ++link) {
        if (choice[link] == chunks.size()) continue;
        ++taken[choice[link]];
        for (auto& units : inbound) {
            for (Inbound& unit : units) note_start(unit.legs, link, now);
        }
    }
    for (std::size_t k = 0; k < chunks.size(); ++k) {
        const std::size_t units = inbound[k].size();
        if (taken[k] < units || (taken[k] > units && !switch_rule.copy)) return false;
    }
    const std::size_t sends = sends_.size();
    State next = state;
    std::ranges::fill(taken, 0);
    for (std::size_t link = 0; link < choice.size(); ++link) {
        const std::size_t k = choice[link];
        if (k == chunks.size()) continue;
        const std::size_t chunk = chunks[k];
        const Inbound& unit = inbound[k][std::min(taken[k]++, inbound[k].size() - 1)];
        const int pace = std::max(beta(link, chunk), unit.pace);
        bool fits = is_in_time(next, link, chunk, now, pace) && !is_wasteful(next, link, chunk);
        depart(next, link, chunk, now, unit.value, false, &unit);
        // The links it came by stay busy for the slowest onward send.
        for (const Leg& leg : unit.legs) {
            const int until = leg.start + busy(leg.link, pace);
            if (leg.next != kNever) {
                fits = fits && until <= leg.next;
            } else {
                next.free_at[leg.link] = std::max(next.free_at[leg.link], until);
            }
        }
        if (!reduction_[chunk]) fits = fits && !has_too_many_copies(next, chunk);
        if (fits) continue;
        sends_.resize(sends);
        return false;
    }
    if (cross(next, now, position + 1)) return true;
    sends_.resize(sends);
    return false;
}

bool Search::next_tick(State state, int now) {
    if (!buffers_hold(state)) return false;
    ++now;
    std::vector<Flight> arriving;
    for (const Flight& flight : state.flights) {
        if (flight.arrival == now) arriving.push_back(flight);
    }
    std::erase_if(state.flights, [&](const Flight& flight) { return flight.arrival == now; });
    for (const Flight& flight : arriving) {
        const std::size_t dst = wires_[flight.link].dst;
        if (!flight.hasty) continue;
        const Place& p = place(state, dst, flight.chunk);
        if (!p.sent && !p.changed) return false;  // D5
    }
    for (Place& p : state.places) p.changed = p.sent = false;
    for (Queue& q : state.queues) {
        q.fresh = 0;
        q.settled = q.left != 0;
    }
    for (std::size_t c = 0; c < chunks_; ++c) {
        if (release_[c] != now) continue;
        for (const std::size_t holder : holders_[c]) place(state, holder, c).changed = true;
    }
    for (const Late& late : late_) {
        if (late.release != now) continue;
        Place& own = place(state, late.npu, late.chunk);
        own.value = static_cast<Value>(own.value | late.value);
        own.changed = true;
    }
    std::ranges::sort(arriving, {},
                      [&](const Flight& f) { return std::tuple(wires_[f.link].dst, f.chunk, f.link); });
    std::ranges::sort(state.flights, {}, [](const Flight& f) { return std::tuple(f.arrival, f.link); });
    std::ranges::sort(state.passages, {}, [](const Passage& p) { return std::tuple(p.due, p.link); });
    return arrive(std::move(state), now, arriving, 0);
}

/// Lets the arrivals act, those of one chunk at one node together.
bool Search::arrive(State state, int now, const std::vector<Flight>& arriving, std::size_t first) {
    if (first == arriving.size()) return tick(state, now);
    const std::size_t node = wires_[arriving[first].link].dst;
    std::size_t last = first;
    while (last < arriving.size() && wires_[arriving[last].link].dst == node &&
           arriving[last].chunk == arriving[first].chunk) {
        ++last;
    }
    return is_npu(node) ? arrive_at_npu(state, now, arriving, first, last)
                        : arrive_at_switch(state, now, arriving, first, last);
}

bool Search::arrive_at_npu(const State& state, int now, const std::vector<Flight>& arriving,
                           std::size_t first, std::size_t last) {
    const std::size_t npu = wires_[arriving[first].link].dst;
    const std::size_t chunk = arriving[first].chunk;
    const Place before = place(state, npu, chunk);
    Value sum = before.value;
    bool disjoint = true, equal = true, from_npu = false;
    for (std::size_t i = first; i < last; ++i) {
        disjoint = disjoint && (sum & arriving[i].value) == 0;
        sum = static_cast<Value>(sum | arriving[i].value);
        equal = equal && arriving[i].value == arriving[first].value;
        from_npu = from_npu || is_npu(wires_[arriving[i].link].src);
    }
    const auto becomes = [&](Value value, Op op) {
        set_ops(arriving, first, last, op);
        State next = state;
        place(next, npu, chunk) = {value, true, reduction_[chunk], false};
        return arrive(std::move(next), now, arriving, last);
    };
    if (reduction_[chunk] && disjoint && becomes(sum, Op::Reduce)) return true;
    if (!equal) return false;                       // V14
    if (dominance_ && before.unread) return false;  // D4
    if (dominance_ && from_npu && (last - first > 1 || before.value == arriving[first].value))
        return false;  // D4
    // Into nothing, a copy and a sum of one are the same.
    if (reduction_[chunk] && disjoint && before.value == 0 && last - first == 1) return false;
    return becomes(arriving[first].value, Op::Copy);
}

bool Search::arrive_at_switch(const State& state, int now, const std::vector<Flight>& arriving,
                              std::size_t first, std::size_t last) {
    const std::size_t node = wires_[arriving[first].link].dst;
    const std::size_t chunk = arriving[first].chunk;
    const bool alone = last - first == 1 && queue(state, node, chunk).waiting.empty();
    if (reduction_[chunk] && rule(node).reduce && !alone) {
        State next = state;
        Queue& copies = queue(next, node, chunk);
        bool disjoint = true;
        for (std::size_t i = first; i < last; ++i) {
            if (copies.waiting.empty()) {
                copies.waiting.push_back(arriving[i].value);
                continue;
            }
            Value& newest = copies.waiting.back();
            disjoint = disjoint && (newest & arriving[i].value) == 0;
            newest = static_cast<Value>(newest | arriving[i].value);
        }
        set_ops(arriving, first, last, Op::Reduce);
        if (disjoint && arrive(std::move(next), now, arriving, last)) return true;
    }
    State next = state;
    Queue& copies = queue(next, node, chunk);
    for (std::size_t i = first; i < last; ++i) copies.waiting.push_back(arriving[i].value);
    copies.fresh = reduction_[chunk] ? 0 : last - first;
    set_ops(arriving, first, last, Op::Copy);
    return arrive(std::move(next), now, arriving, last);
}

}  // namespace

BruteForceResult brute_force_optimum(const Instance& instance, Ticks at_most, std::uint64_t work_limit,
                                     Shortcuts shortcuts) {
    Search search(instance, work_limit, shortcuts);
    BruteForceResult result;
    result.schedule.instance = instance.name();
    for (int limit = 0; Ticks(limit) <= at_most; ++limit) {
        result.proven = Ticks(limit);
        const bool found = search.ends_by(limit);
        result.work = search.work();
        if (found) {
            result.answer = BruteForceAnswer::Found;
            result.optimum = result.schedule.makespan = Ticks(limit);
            result.schedule.sends = search.sends();
            return result;
        }
        if (search.out_of_work()) return result;
    }
    result.proven = at_most + Ticks(1);
    result.answer = BruteForceAnswer::NoSchedule;
    return result;
}

}  // namespace tutti::oracle

#include "tests/oracle/call_interleavings.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace tutti::oracle {
namespace {

using plan::Call;
using plan::CallKind;
using plan::CallList;

/// Where every host is, and which calls are done: all that the future depends on.
struct CallState {
    std::vector<std::uint32_t> issued;    ///< by rank: how many calls its host has issued
    std::vector<std::vector<bool>> done;  ///< by rank and call
    friend auto operator<=>(const CallState&, const CallState&) = default;
};

class CallMachine {
  public:
    CallMachine(const CallList& list, const CallRun& run) : list_(list), run_(run) {}

    CallOutcome explore() {
        CallState start;
        for (const auto& rank : list_.ranks) {
            start.issued.push_back(0);
            start.done.emplace_back(rank.calls.size(), false);
        }
        std::vector<CallState> open{start};
        std::set<CallState> seen{start};
        CallOutcome outcome;
        while (!open.empty()) {
            const CallState state = open.back();
            open.pop_back();
            ++outcome.states;
            const std::vector<CallState> next = successors(state);
            if (next.empty()) ++(is_over(state) ? outcome.ended : outcome.hung);
            for (const CallState& after : next) {
                if (seen.insert(after).second) open.push_back(after);
            }
        }
        return outcome;
    }

  private:
    [[nodiscard]] const Call& call(std::size_t rank, std::size_t index) const {
        return list_.ranks[rank].calls[index];
    }
    [[nodiscard]] std::size_t size(std::size_t rank) const { return list_.ranks[rank].calls.size(); }
    [[nodiscard]] std::uint32_t stream(std::size_t rank, std::size_t index) const {
        return run_.one_stream ? 0 : call(rank, index).stream;
    }

    static bool is_over(const CallState& state) {
        return std::ranges::all_of(
            state.done, [](const auto& rank) { return std::ranges::find(rank, false) == rank.end(); });
    }

    /// The calls that begin and end together with this one, as [begin, end).
    [[nodiscard]] std::pair<std::size_t, std::size_t> batch(std::size_t rank, std::size_t index) const {
        const std::uint32_t number = call(rank, index).batch;
        if (number == Call::kNone) return {index, index + 1};
        std::size_t begin = index, end = index + 1;
        while (begin > 0 && call(rank, begin - 1).batch == number) --begin;
        while (end < size(rank) && call(rank, end).batch == number) ++end;
        return {begin, end};
    }

    /// Whether what the rank issued before this batch, and what it must wait for, is over.
    [[nodiscard]] bool may_begin(const CallState& state, std::size_t rank, std::size_t index) const {
        if (index >= state.issued[rank] || state.done[rank][index]) return false;
        const auto [begin, end] = batch(rank, index);
        if (end > state.issued[rank]) return false;
        for (std::size_t before = 0; before < begin; ++before) {
            if (state.done[rank][before] || call(rank, before).kind == CallKind::Wait) continue;
            const Call& earlier = call(rank, before);
            for (std::size_t part = begin; part < end; ++part) {
                if (stream(rank, before) == stream(rank, part)) return false;
            }
            if (is_collective(earlier.kind) && is_collective(call(rank, index).kind) &&
                earlier.group == call(rank, index).group)
                return false;
            // A batch is over when all of it is.
            const auto [other_begin, other_end] = batch(rank, before);
            for (std::size_t other = other_begin; other < other_end; ++other) {
                for (std::size_t part = begin; part < end; ++part) {
                    if (stream(rank, other) == stream(rank, part)) return false;
                }
                if (is_collective(call(rank, other).kind) && is_collective(call(rank, index).kind) &&
                    call(rank, other).group == call(rank, index).group)
                    return false;
            }
        }
        const auto& own = list_.ranks[rank];
        for (std::size_t i = call(rank, index).after_begin; i < call(rank, index).after_end; ++i) {
            if (!state.done[rank][own.after[i]]) return false;
        }
        return true;
    }

    [[nodiscard]] bool may_pass(const CallState& state, std::size_t rank, std::size_t wait) const {
        for (std::size_t before = 0; before < wait; ++before) {
            if (state.done[rank][before]) continue;
            const auto [begin, end] = batch(rank, before);
            for (std::size_t part = begin; part < end; ++part) {
                if (call(rank, wait).whole_host || stream(rank, part) == stream(rank, wait)) return false;
            }
        }
        return true;
    }

    /// The position of a collective among those of its group, or of a message among those like it.
    [[nodiscard]] std::size_t turn(std::size_t rank, std::size_t index) const {
        std::size_t before = 0;
        for (std::size_t i = 0; i < index; ++i) before += std::size_t{alike(rank, i, call(rank, index))};
        return before;
    }
    [[nodiscard]] bool alike(std::size_t rank, std::size_t index, const Call& other) const {
        const Call& one = call(rank, index);
        if (is_collective(other.kind)) return is_collective(one.kind) && one.group == other.group;
        return one.kind == other.kind && one.group == other.group && one.peer == other.peer &&
               one.tag == other.tag;
    }

    /// The call of that rank that takes part; its number of calls if there is none.
    [[nodiscard]] std::size_t partner(std::size_t rank, const Call& wanted, std::size_t at) const {
        for (std::size_t i = 0; i < size(rank); ++i) {
            if (alike(rank, i, wanted) && at-- == 0) return i;
        }
        return size(rank);
    }

    [[nodiscard]] std::vector<CallState> successors(const CallState& state) const {
        std::vector<CallState> all;
        for (std::size_t rank = 0; rank < list_.ranks.size(); ++rank) {
            step_host(state, rank, all);
            for (std::size_t index = 0; index < size(rank); ++index) {
                const Call& one = call(rank, index);
                if (one.kind == CallKind::Wait || !may_begin(state, rank, index)) continue;
                if (is_collective(one.kind)) {
                    take_place(state, rank, index, all);
                } else {
                    pass_message(state, rank, index, all);
                }
            }
        }
        return all;
    }

    void step_host(const CallState& state, std::size_t rank, std::vector<CallState>& all) const {
        const std::size_t next = state.issued[rank];
        if (next == size(rank)) return;
        const bool waits = call(rank, next).kind == CallKind::Wait;
        if (waits && !may_pass(state, rank, next)) return;
        CallState after = state;
        ++after.issued[rank];
        if (waits) after.done[rank][next] = true;
        all.push_back(after);
    }

    void take_place(const CallState& state, std::size_t rank, std::size_t index,
                    std::vector<CallState>& all) const {
        const Call& one = call(rank, index);
        const auto& members = list_.groups[one.group].members;
        CallState after = state;
        if (std::ranges::find(members, rank) == members.end()) return;
        for (const std::uint32_t member : members) {
            const std::size_t part = partner(member, one, turn(rank, index));
            if (part == size(member)) {
                if (run_.forgive_missing) continue;
                return;
            }
            if (!may_begin(state, member, part)) return;
            after.done[member][part] = true;
        }
        all.push_back(after);
    }

    void pass_message(const CallState& state, std::size_t rank, std::size_t index,
                      std::vector<CallState>& all) const {
        const Call& one = call(rank, index);
        const auto peer = static_cast<std::size_t>(one.peer);
        Call wanted = one;
        wanted.kind = one.kind == CallKind::Send ? CallKind::Receive : CallKind::Send;
        wanted.peer = static_cast<std::int32_t>(rank);
        const std::size_t other = partner(peer, wanted, turn(rank, index));
        CallState after = state;
        after.done[rank][index] = true;
        if (one.kind == CallKind::Send && one.buffered && other != size(peer)) {
            all.push_back(after);
        } else if (other == size(peer)) {
            if (run_.forgive_missing) all.push_back(after);
        } else if (const Call& end = call(peer, other); end.kind == CallKind::Send && end.buffered) {
            if (state.done[peer][other]) all.push_back(after);
        } else if (may_begin(state, peer, other)) {
            after.done[peer][other] = true;
            all.push_back(after);
        }
    }

    const CallList& list_;
    const CallRun run_;
};

}  // namespace

CallOutcome explore_calls(const CallList& list, const CallRun& run) {
    return CallMachine(list, run).explore();
}

}  // namespace tutti::oracle

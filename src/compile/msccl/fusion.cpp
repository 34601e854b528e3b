// Thread blocks that receive and send.
//
// A thread block has one channel, receives from at most one rank and sends to at most one. Where most of what
// comes in on one lane goes out on another, both belong in one thread block, and a receive and the send of
// what it brought become one step: rcs for copies, rrcs for sums, and rrs where no other step needs the sum,
// so that it need not be stored at all. A ring then has its usual form: s, rcs, rcs, …, r.
//
// A pair of lanes is joined if at least half of the shorter one's transfers can be fused; the pairs with most
// of them choose first. Joined lanes have one channel, so chains of them must not have two lanes between the
// same ranks; a union-find over lanes keeps that.
//
// In a joined thread block the steps keep the order of their ticks. A send may be fused with the receive that
// brought it if no other send of the block is between the two: the receives in between may come later, since
// the send now happens earlier than in the schedule and not in another order. That can fill a FIFO that the
// schedule does not, so the verifier must check it.
//
// Where thread blocks are scarce, lanes are joined though nothing can be fused (`pack`): steps stay in order
// of their ticks, so all waits still lead back in time.

#include "compile/lane_chains.hpp"
#include "compile/msccl/passes.hpp"

#include <algorithm>
#include <map>

namespace tutti::compile::msccl {
namespace {

/// The transfer that brought all of what `t` carries, chunk by chunk, if it is one.
std::uint32_t feeder_of(const Draft& draft, const std::vector<std::uint32_t>& transfer_of,
                        const Transfer& t) {
    const std::uint32_t writer = draft.facts[t.messages.front()].writer;
    if (writer == kNone) return kNone;
    const std::uint32_t feeder = transfer_of[writer];
    const Transfer& f = draft.transfers[feeder];
    if (f.messages.size() != t.messages.size()) return kNone;
    for (std::size_t k = 0; k < t.messages.size(); ++k) {
        if (draft.facts[t.messages[k]].writer != f.messages[k]) return kNone;
    }
    return feeder;
}

/// By transfer, the one that feeds it.
std::vector<std::uint32_t> feeders_of(const Draft& draft) {
    std::vector<std::uint32_t> transfer_of(draft.part.messages.size(), kNone);
    for (std::uint32_t i = 0; i < draft.transfers.size(); ++i) {
        for (const std::uint32_t m : draft.transfers[i].messages) transfer_of[m] = i;
    }
    std::vector<std::uint32_t> feeders;
    for (const Transfer& t : draft.transfers) feeders.push_back(feeder_of(draft, transfer_of, t));
    return feeders;
}

struct Match {
    std::size_t gain;
    std::uint32_t in, out;
};

bool join(std::vector<Lane>& lanes, LaneChains& chains, std::uint32_t in, std::uint32_t out) {
    const bool taken = lanes[in].onward != kNone || lanes[out].inbound != kNone;
    if (taken || !chains.join(in, out)) return false;
    lanes[in].onward = out;
    lanes[out].inbound = in;
    return true;
}

void join_lanes(Draft& draft, LaneChains& chains, std::vector<Match> matches) {
    std::ranges::sort(matches, [](const Match& a, const Match& b) {
        return a.gain != b.gain ? a.gain > b.gain : std::pair(a.in, a.out) < std::pair(b.in, b.out);
    });
    for (const Match& match : matches) (void)join(draft.lanes, chains, match.in, match.out);
}

/// The lanes that are left, those into a rank with those out of it, in order.
void join_the_rest(Draft& draft, LaneChains& chains) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> leaving;
    for (std::uint32_t i = 0; i < draft.lanes.size(); ++i) {
        if (draft.lanes[i].inbound == kNone) leaving[draft.lanes[i].from].push_back(i);
    }
    for (std::uint32_t in = 0; in < draft.lanes.size(); ++in) {
        if (draft.lanes[in].onward != kNone) continue;
        auto& out = leaving[draft.lanes[in].to];
        const auto joined =
            std::ranges::find_if(out, [&](std::uint32_t i) { return join(draft.lanes, chains, in, i); });
        if (joined != out.end()) out.erase(joined);
    }
}

/// Every receive of a lane with the next send of the lane it is joined to, where that sends on what came.
void fuse_steps(Draft& draft, const Lane& in, const std::vector<std::uint32_t>& feeders) {
    const Lane& out = draft.lanes[in.onward];
    std::size_t next = 0;  // the first send after the receive
    for (const std::uint32_t r : in.transfers) {
        Transfer& received = draft.transfers[r];
        while (next < out.transfers.size() && draft.transfers[out.transfers[next]].sent < received.received) {
            ++next;
        }
        if (next == out.transfers.size()) return;
        Transfer& sent = draft.transfers[out.transfers[next]];
        if (feeders[out.transfers[next]] != r) continue;
        received.fused = out.transfers[next];
        sent.is_fused = true;
        const bool only_reader = std::ranges::all_of(
            received.messages, [&](std::uint32_t m) { return draft.facts[m].readers == 1; });
        received.stores = !(received.reduces && only_reader && !received.into_output);
        ++next;
    }
}

}  // namespace

void fuse(Draft& draft, bool fuse, bool pack) {
    const std::vector<std::uint32_t> feeders = feeders_of(draft);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> gains;
    for (std::uint32_t i = 0; fuse && i < draft.transfers.size(); ++i) {
        if (feeders[i] != kNone) ++gains[{draft.transfers[feeders[i]].lane, draft.transfers[i].lane}];
    }
    std::vector<Match> matches;
    for (const auto& [pair, gain] : gains) {
        const std::size_t shorter =
            std::min(draft.lanes[pair.first].transfers.size(), draft.lanes[pair.second].transfers.size());
        if (pack || 2 * gain >= shorter) matches.push_back({gain, pair.first, pair.second});
    }
    LaneChains chains;
    for (const Lane& lane : draft.lanes) chains.add(lane.from, lane.to);
    join_lanes(draft, chains, std::move(matches));
    if (pack) join_the_rest(draft, chains);
    for (const Lane& lane : draft.lanes) {
        if (fuse && lane.onward != kNone) fuse_steps(draft, lane, feeders);
    }
}

void pack_scratch(Draft& draft) {
    std::vector<std::vector<bool>> used(draft.scratch.size());
    for (std::size_t r = 0; r < used.size(); ++r) used[r].resize(static_cast<std::size_t>(draft.scratch[r]));
    for (const Transfer& t : draft.transfers) {
        if (!t.stores || t.target.buffer != plan::Buffer::Scratch) continue;
        for (std::int32_t k = 0; k < t.count(); ++k) {
            used[t.to][(*t.target.plus(k).offset).index()] = true;
        }
    }
    std::vector<std::vector<std::int32_t>> place(used.size());
    for (std::size_t r = 0; r < used.size(); ++r) {
        std::int32_t next = 0;
        for (const bool is_used : used[r]) {
            place[r].push_back(next);
            next += is_used ? 1 : 0;
        }
        draft.scratch[r] = next;
    }
    const auto move = [&](std::uint32_t rank, plan::Address& address) {
        if (address.buffer != plan::Buffer::Scratch) return;
        address.offset = plan::id_of<plan::ChunkOffset>(place[rank][(*address.offset).index()]);
    };
    for (Transfer& t : draft.transfers) {
        move(t.from, t.source);
        move(t.to, t.target);
        if (t.reduces) move(t.to, t.operand);
    }
}

}  // namespace tutti::compile::msccl

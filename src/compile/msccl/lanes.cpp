// Transfers to connections.
//
// Why plans of this compiler do not deadlock: every step has a tick of the schedule, and whatever a step
// waits for has an earlier one (arrivals of a tick come before its sends). A thread block runs its steps in
// order of their ticks; a dependency leads to a step that reads or wrote the place before; a receive waits
// for its send, which started earlier. What remains is the connection. Its messages are delivered in order,
// so on a lane transfers start and arrive in the same order: one that overtakes another, as on a second path
// or past a switch, gets a lane of its own. And it holds few messages, so a send waits for the receive of one
// C places before it. If the schedule itself never has more than C in flight on the lane, that receive has an
// earlier tick as well, and all waits go forward in time: no cycle, for every interleaving. Wires with a
// latency above their beta carry more; `Room::in_flight` then spreads them over more lanes. Usually that is
// not needed, because the receiver takes messages as they arrive, whatever the schedule's times; the verifier
// decides.
//
// Different paths between two ranks are different lanes, so that they work at the same time. Lanes that would
// be too long for a thread block are split, their transfers dealt out in turn.

#include "compile/msccl/passes.hpp"

#include <algorithm>
#include <map>

namespace tutti::compile::msccl {
namespace {

/// The lanes of one pair of ranks and one share of its paths.
class Bundle {
  public:
    Bundle(Draft& draft, const Room& room, std::size_t transfers) : draft_(draft), room_(room) {
        turns_ = (transfers + room.lane_length - 1) / room.lane_length;
    }

    void add(std::uint32_t transfer) {
        const std::size_t turn = turn_++ % turns_;
        for (std::size_t k = 0; k < lanes_.size(); ++k) {
            const std::uint32_t lane = lanes_[(turn + k) % lanes_.size()];
            // Lanes that wait for their turn are not taken early, or there would never be a second one.
            if (lanes_.size() < turns_ && turn >= lanes_.size()) break;
            if (takes(draft_.lanes[lane], draft_.transfers[transfer])) return put(lane, transfer);
        }
        const Transfer& t = draft_.transfers[transfer];
        lanes_.push_back(static_cast<std::uint32_t>(draft_.lanes.size()));
        draft_.lanes.push_back({.from = t.from, .to = t.to});
        put(lanes_.back(), transfer);
    }

  private:
    [[nodiscard]] bool takes(const Lane& lane, const Transfer& t) const {
        if (lane.transfers.size() >= room_.lane_length) return false;
        if (draft_.transfers[lane.transfers.back()].received_at() > t.received_at()) return false;
        if (!room_.in_flight) return true;
        const auto held = static_cast<std::size_t>(*room_.in_flight);
        if (lane.transfers.size() < held) return true;
        return draft_.transfers[lane.transfers[lane.transfers.size() - held]].received <= t.sent;
    }
    void put(std::uint32_t lane, std::uint32_t transfer) {
        draft_.lanes[lane].transfers.push_back(transfer);
        draft_.transfers[transfer].lane = lane;
    }

    Draft& draft_;
    const Room& room_;
    std::size_t turns_ = 1, turn_ = 0;
    std::vector<std::uint32_t> lanes_;
};

}  // namespace

void form_lanes(Draft& draft, const Room& room) {
    struct Pair {
        std::uint32_t from, to, path;
        auto operator<=>(const Pair&) const = default;
    };
    // The number of a path among those between its ranks, as far as the room goes.
    std::map<Pair, std::uint32_t> numbers;
    std::map<Pair, std::uint32_t> paths;
    std::map<Pair, std::vector<std::uint32_t>> bundles;
    for (std::uint32_t i = 0; i < draft.transfers.size(); ++i) {
        const Transfer& t = draft.transfers[i];
        const auto [number, fresh] = numbers.try_emplace({t.from, t.to, t.path}, 0);
        if (fresh) number->second = paths[{t.from, t.to, 0}]++ % room.paths;
        bundles[{t.from, t.to, number->second}].push_back(i);
    }
    draft.lanes.clear();
    for (const auto& [pair, transfers] : bundles) {
        Bundle bundle(draft, room, transfers.size());
        for (const std::uint32_t i : transfers) bundle.add(i);
    }
}

}  // namespace tutti::compile::msccl

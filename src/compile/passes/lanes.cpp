// Lanes and fusion.
//
// A thread block has one channel, receives from at most one rank and sends to at most one. A receive and the
// send of what it brought become one step (rcs, rrcs, rrs) if the lanes of both belong to one thread block. A
// send may be fused with a receive if that is the only instruction it comes after and it sends exactly what
// was received: then nothing else is waited for, and a fused pair can make no circle.
//
// Lanes: one for each pair of ranks, path between them and channel that the user asks for. A lane delivers in
// order, so its messages are sent and received in the same order of the graph; one that overtakes another, as
// in a schedule on a second path or past a switch, gets a lane of its own. Lanes that would be too long for a
// thread block are split, their messages dealt out in turn. A lane holds few messages. If in the order of the
// graph it never has more than that in flight (`Choice::in_flight`), all waits go forward in that order.
//
// Two lanes of a rank are joined if at least half of the messages of the shorter one can be fused; pairs with
// most of them choose first. Joined lanes have one channel, so a chain of them must not have two lanes
// between the same ranks. What could be fused with a lane that is joined elsewhere gets a lane of its own
// (`peel`), if that is at least half of the shorter lane. Where thread blocks are scarce, lanes are joined
// though nothing can be fused (`pack`).
//
// A fused send goes out when its receive has run, before other sends of its lane perhaps. The order in which
// everything runs (order.cpp) shows whether that is possible; `in_turn` fuses only sends that have no other
// one of their lane between their receive and themselves, so that the order of the graph is one.

#include "compile/lane_chains.hpp"
#include "compile/passes/layout.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <span>
#include <tuple>

namespace tutti::compile::passes {
namespace {

/// The lanes of the messages between two ranks on one path and channel.
class Bundle {
  public:
    Bundle(const Graph& graph, const Choice& choice, std::size_t messages, std::int32_t channel)
        : graph_(graph), choice_(choice) {
        // The user's channel has one lane only.
        if (channel >= 0) return;
        length_ = choice.lane_length;
        turns_ = (messages + length_ - 1) / length_;
    }

    /// The lane of the next message; it may be a new one, the first after those of `lanes`.
    std::uint32_t lane_for(std::uint32_t send, std::uint32_t lanes) {
        const std::size_t turn = turn_++ % turns_;
        // Lanes that wait for their turn are not taken early, or there would never be a second one.
        const bool waits = lanes_.size() < turns_ && turn >= lanes_.size();
        for (std::size_t k = 0; k < lanes_.size() && !waits; ++k) {
            Filling& lane = lanes_[(turn + k) % lanes_.size()];
            if (!takes(lane, send)) continue;
            add(lane, send);
            return lane.number;
        }
        lanes_.push_back({lanes, 0, {}});
        add(lanes_.back(), send);
        return lanes;
    }

  private:
    struct Filling {
        std::uint32_t number = 0;
        std::uint32_t messages = 0;
        std::vector<std::uint32_t> last{};  ///< sends: the last one, or as many as may be in flight
    };
    void add(Filling& lane, std::uint32_t send) const {
        const std::size_t kept = choice_.in_flight == kNone ? 1 : choice_.in_flight;
        if (lane.last.size() < kept) lane.last.resize(kept);
        lane.last[lane.messages++ % kept] = send;
    }
    [[nodiscard]] bool takes(const Filling& lane, std::uint32_t send) const {
        if (lane.messages >= length_) return false;
        const auto received = [&](std::uint32_t one) { return graph_.instructions[one].match; };
        const std::size_t kept = lane.last.size();
        if (received(lane.last[(lane.messages - 1) % kept]) > received(send)) return false;
        const bool full = choice_.in_flight != kNone && lane.messages >= kept;
        return !full || received(lane.last[lane.messages % kept]) < send;
    }

    const Graph& graph_;
    const Choice& choice_;
    std::uint32_t length_ = kNone;
    std::size_t turns_ = 1, turn_ = 0;
    std::vector<Filling> lanes_;
};

/// A lane's way in and a lane's way out that could share a thread block, with what could be fused.
struct Meeting {
    std::uint32_t in = kNone, out = kNone;
    std::vector<std::uint32_t> sends{};  ///< one for each receive
};

/// A receive and a send that could be done in one step.
struct Candidate {
    std::uint32_t in = kNone, out = kNone;  ///< lanes
    std::uint32_t receive = kNone, send = kNone;
    friend auto operator<=>(const Candidate&, const Candidate&) = default;
};

class Former {
  public:
    Former(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout)
        : graph_(graph), clock_(clock), choice_(choice), layout_(layout), feeders_(feeders_of(graph)) {}

    void run() {
        deal_out();
        LaneChains chains;
        for (const Lane& lane : layout_.lanes) chains.add(lane.from, lane.to, lane.wanted_channel);
        if (choice_.fuse) {
            if (choice_.in_turn) list_messages();
            join(chains, meetings());
            if (choice_.peel) peel(chains);
        }
        if (choice_.pack) join_the_rest(chains);
    }

  private:
    /// Every message to a lane of its ranks, path and channel.
    void deal_out() {
        layout_.lane_of.assign(graph_.size(), kNone);
        std::vector<std::uint32_t> sends;
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            if (graph_.instructions[i].sends()) sends.push_back(i);
        }
        const auto key = [&](std::uint32_t i) {
            const Instruction& s = graph_.instructions[i];
            return std::tuple(s.rank, s.peer, s.channel);
        };
        std::ranges::stable_sort(sends, {}, key);
        for (std::size_t begin = 0, end = 0; begin < sends.size(); begin = end) {
            while (end < sends.size() && key(sends[end]) == key(sends[begin])) ++end;
            const std::span all(sends.data() + begin, end - begin);
            number_paths(all);
            if (path_number_.size() == 1) {
                deal_out(all);
                continue;
            }
            const auto path = [&](std::uint32_t i) { return path_number_[graph_.instructions[i].path]; };
            std::ranges::stable_sort(all, {}, path);
            for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
                while (last < all.size() && path(all[last]) == path(all[first])) ++last;
                deal_out(all.subspan(first, last - first));
            }
        }
    }
    /// Paths between two ranks are numbered as they are first taken, as far as there is room for them.
    void number_paths(std::span<const std::uint32_t> sends) {
        path_number_.clear();
        for (const std::uint32_t i : sends) {
            const auto next = static_cast<std::uint32_t>(path_number_.size());
            path_number_.try_emplace(graph_.instructions[i].path, next % choice_.paths);
        }
    }
    void deal_out(std::span<const std::uint32_t> sends) {
        const auto [from, to, channel] =
            std::tuple(graph_.instructions[sends.front()].rank, graph_.instructions[sends.front()].peer,
                       graph_.instructions[sends.front()].channel);
        Bundle bundle(graph_, choice_, sends.size(), channel);
        for (const std::uint32_t i : sends) {
            const auto lanes = static_cast<std::uint32_t>(layout_.lanes.size());
            const std::uint32_t lane = bundle.lane_for(i, lanes);
            if (lane == lanes) layout_.lanes.push_back({.from = from, .to = to, .wanted_channel = channel});
            put(i, lane);
        }
    }
    void put(std::uint32_t send, std::uint32_t lane) {
        std::uint32_t& old = layout_.lane_of[send];
        if (old != kNone) --layout_.lanes[old].messages;
        old = lane;
        layout_.lane_of[graph_.instructions[send].match] = lane;
        ++layout_.lanes[lane].messages;
    }

    /// What could be fused and is not: for every two lanes, of each receive the send with the longest way to
    /// go.
    [[nodiscard]] std::vector<Meeting> meetings() const {
        std::vector<Candidate> found;
        for (std::uint32_t q = 0; q < graph_.size(); ++q) {
            const std::uint32_t p = feeders_[q];
            if (p == kNone || layout_.fused[p] != kNone) continue;
            found.push_back({layout_.lane_of[p], layout_.lane_of[q], p, q});
        }
        std::ranges::sort(found);
        std::vector<Meeting> all;
        for (std::size_t i = 0; i < found.size(); ++i) {
            const Candidate& one = found[i];
            const bool fresh = i == 0 || found[i - 1].in != one.in || found[i - 1].out != one.out;
            if (fresh) all.push_back({one.in, one.out});
            std::vector<std::uint32_t>& sends = all.back().sends;
            if (fresh || found[i - 1].receive != one.receive) {
                sends.push_back(one.send);
            } else if (!choice_.in_turn && clock_.height[one.send] > clock_.height[sends.back()]) {
                sends.back() = one.send;
            }
        }
        for (Meeting& meeting : all) std::ranges::sort(meeting.sends);
        std::ranges::stable_sort(all, std::greater{}, [](const Meeting& m) { return m.sends.size(); });
        return all;
    }
    [[nodiscard]] bool pays(const Meeting& meeting) const {
        const std::uint32_t shorter =
            std::min(layout_.lanes[meeting.in].messages, layout_.lanes[meeting.out].messages);
        return choice_.pack || meeting.sends.size() * 2 >= shorter;
    }

    void join(LaneChains& chains, const std::vector<Meeting>& all) {
        for (const Meeting& meeting : all) {
            Lane& in = layout_.lanes[meeting.in];
            Lane& out = layout_.lanes[meeting.out];
            const bool free = in.onward == kNone && out.inbound == kNone;
            if (!free || !pays(meeting) || !chains.join(meeting.in, meeting.out)) continue;
            in.onward = meeting.out;
            out.inbound = meeting.in;
            fuse(meeting);
        }
    }
    void fuse(const Meeting& meeting) {
        if (choice_.in_turn) return fuse_in_turn(meeting);
        for (const std::uint32_t q : meeting.sends) {
            if (layout_.fused[feeders_[q]] != kNone) continue;
            layout_.fused[feeders_[q]] = q;
            layout_.is_fused[q] = true;
        }
    }

    void list_messages() {
        sends_.resize(layout_.lanes.size());
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            if (graph_.instructions[i].sends()) sends_[layout_.lane_of[i]].push_back(i);
        }
    }
    /// Each receive of a lane with the next send of the other one, where that sends on what came.
    void fuse_in_turn(const Meeting& meeting) {
        const std::vector<std::uint32_t>& out = sends_[meeting.out];
        std::size_t next = 0;  // the first send after the receive
        for (const std::uint32_t sent : sends_[meeting.in]) {
            const std::uint32_t p = graph_.instructions[sent].match;
            while (next < out.size() && out[next] < p) ++next;
            if (next == out.size()) return;
            if (feeders_[out[next]] != p) continue;
            layout_.fused[p] = out[next];
            layout_.is_fused[out[next]] = true;
            ++next;
        }
    }

    /// The lanes that are left, those into a rank with those out of it, in order.
    void join_the_rest(LaneChains& chains) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> leaving;
        for (std::uint32_t l = 0; l < layout_.lanes.size(); ++l) {
            if (layout_.lanes[l].inbound == kNone) leaving[layout_.lanes[l].from].push_back(l);
        }
        for (std::uint32_t in = 0; in < layout_.lanes.size(); ++in) {
            if (layout_.lanes[in].onward != kNone) continue;
            auto& out = leaving[layout_.lanes[in].to];
            const auto joined =
                std::ranges::find_if(out, [&](std::uint32_t lane) { return chains.join(in, lane); });
            if (joined == out.end()) continue;
            layout_.lanes[in].onward = *joined;
            layout_.lanes[*joined].inbound = in;
            out.erase(joined);
        }
    }

    /// Lanes of their own for what comes in on a joined lane and goes out on another. A message that is
    /// fused at one end already stays where it is.
    void peel(LaneChains& chains) {
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> lanes;
        for (const Lane& lane : layout_.lanes) ++lanes[{lane.from, lane.to}];
        for (const Meeting& meeting : meetings()) {
            if (!pays(meeting)) continue;
            Meeting moved{meeting.in, meeting.out};
            for (const std::uint32_t q : meeting.sends) {
                const Instruction& send = graph_.instructions[q];
                const std::uint32_t p = feeders_[q];
                const std::uint32_t sent = graph_.instructions[p].match;
                const bool loose = !layout_.is_fused[sent] && layout_.fused[send.match] == kNone;
                if (loose && layout_.fused[p] == kNone && !layout_.is_fused[q]) moved.sends.push_back(q);
            }
            if (moved.sends.size() * 2 < meeting.sends.size() || moved.sends.size() < 2) continue;
            const Lane in = layout_.lanes[meeting.in], out = layout_.lanes[meeting.out];
            if (in.wanted_channel >= 0 || out.wanted_channel >= 0) continue;
            auto& ins = lanes[{in.from, in.to}];
            auto& outs = lanes[{out.from, out.to}];
            if (ins >= choice_.most_channels || outs >= choice_.most_channels) continue;
            ++ins;
            ++outs;
            split_off(chains, moved);
            layout_.peeled = true;
        }
    }
    void split_off(LaneChains& chains, Meeting& moved) {
        const auto add = [&](std::uint32_t like) {
            const Lane& old = layout_.lanes[like];
            layout_.lanes.push_back({.from = old.from, .to = old.to});
            chains.add(layout_.lanes.back().from, layout_.lanes.back().to);
            return static_cast<std::uint32_t>(layout_.lanes.size() - 1);
        };
        moved.in = add(moved.in);
        moved.out = add(moved.out);
        for (const std::uint32_t q : moved.sends) {
            put(graph_.instructions[feeders_[q]].match, moved.in);
            put(q, moved.out);
        }
        (void)chains.join(moved.in, moved.out);
        layout_.lanes[moved.in].onward = moved.out;
        layout_.lanes[moved.out].inbound = moved.in;
        fuse(moved);
    }

    const Graph& graph_;
    const Clock& clock_;
    const Choice& choice_;
    Layout& layout_;
    std::vector<std::uint32_t> feeders_;
    std::map<std::uint32_t, std::uint32_t> path_number_;  ///< by path, of the ranks at hand
    std::vector<std::vector<std::uint32_t>> sends_;       ///< by lane, in the order of the graph
};

}  // namespace

std::vector<std::uint32_t> feeders_of(const Graph& graph) {
    std::vector<std::uint32_t> feeders(graph.size(), kNone);
    for (std::uint32_t q = 0; q < graph.size(); ++q) {
        const Instruction& send = graph.instructions[q];
        const auto before = graph.before(q);
        if (!send.sends() || before.size() != 1) continue;
        const Instruction& receive = graph.instructions[before[0]];
        if (receive.receives() && receive.target_buffer == send.source_buffer &&
            receive.target == send.source && receive.count == send.count) {
            feeders[q] = before[0];
        }
    }
    return feeders;
}

void form_lanes(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout) {
    layout = {};
    layout.fused.assign(graph.size(), kNone);
    layout.is_fused.assign(graph.size(), false);
    Former(graph, clock, choice, layout).run();
}

}  // namespace tutti::compile::passes

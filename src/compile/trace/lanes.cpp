// Lanes and fusion.
//
// A thread block has one channel, receives from at most one rank and sends to at most one. A receive and the
// send of what it brought become one step (rcs, rrcs, rrs) if the lanes of both belong to one thread block. A
// send may be fused with a receive if that is the only instruction it comes after and it sends exactly what
// was received: then nothing else is waited for, and a fused pair can make no circle.
//
// Lanes: one for each pair of ranks and channel that the user asks for. Two lanes of a rank are joined if at
// least half of the messages of the shorter one can be fused; pairs with most of them choose first. Joined
// lanes have one channel, so a chain of them must not have two lanes between the same ranks. What could be
// fused with a lane that is joined elsewhere gets a lane of its own (`peel`), if that is at least half of the
// shorter lane.

#include "compile/lane_chains.hpp"
#include "compile/trace/layout.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>

namespace tutti::compile::trace {
namespace {

/// A lane's way in and a lane's way out that could share a thread block, with what could be fused.
struct Meeting {
    std::uint32_t in = kNone, out = kNone;
    std::vector<std::uint32_t> sends{};  ///< one for each receive
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
            join(chains, meetings());
            if (choice_.peel) peel(chains);
        }
    }

  private:
    /// Every message to the lane of its ranks and channel, or to the next one of several.
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
            const auto [from, to, channel] = key(sends[begin]);
            while (end < sends.size() && key(sends[end]) == std::tuple(from, to, channel)) ++end;
            const std::span all(sends.data() + begin, end - begin);
            const std::size_t turns = (all.size() + choice_.lane_length - 1) / choice_.lane_length;
            const std::size_t first = layout_.lanes.size();
            // The user's channel has one lane only.
            const std::size_t lanes = channel >= 0 ? 1 : std::max<std::size_t>(turns, 1);
            for (std::size_t k = 0; k < lanes; ++k) {
                layout_.lanes.push_back({.from = from, .to = to, .wanted_channel = channel});
            }
            for (std::size_t k = 0; k < all.size(); ++k) {
                put(all[k], static_cast<std::uint32_t>(first + k % lanes));
            }
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
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::unordered_map<std::uint32_t, std::uint32_t>>
            found;
        for (std::uint32_t q = 0; q < graph_.size(); ++q) {
            const std::uint32_t p = feeders_[q];
            if (p == kNone || layout_.fused[p] != kNone) continue;
            auto& best = found[{layout_.lane_of[p], layout_.lane_of[q]}];
            const auto [entry, fresh] = best.try_emplace(p, q);
            if (!fresh && clock_.height[q] > clock_.height[entry->second]) entry->second = q;
        }
        std::vector<Meeting> all;
        for (auto& [lanes, sends] : found) {
            Meeting meeting{lanes.first, lanes.second};
            for (const auto& [p, q] : sends) meeting.sends.push_back(q);
            std::ranges::sort(meeting.sends);
            all.push_back(std::move(meeting));
        }
        std::ranges::stable_sort(all, std::greater{}, [](const Meeting& m) { return m.sends.size(); });
        return all;
    }
    [[nodiscard]] bool pays(const Meeting& meeting) const {
        const std::uint32_t shorter =
            std::min(layout_.lanes[meeting.in].messages, layout_.lanes[meeting.out].messages);
        return meeting.sends.size() * 2 >= shorter;
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
        for (const std::uint32_t q : meeting.sends) {
            if (layout_.fused[feeders_[q]] != kNone) continue;
            layout_.fused[feeders_[q]] = q;
            layout_.is_fused[q] = true;
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

}  // namespace tutti::compile::trace

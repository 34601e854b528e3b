// The order in which instructions run, found by running them.
//
// All instructions are played: one whose predecessors have run may run; a receive only when it is the first
// on its lane, a send only while its lane has room. Of those that may run the one that comes first by level,
// then with the longest way to go, runs. The order in which the instructions of a thread block ran is its
// order.
//
// The play is the proof that the plan ends: whatever a step waits for (a step before it in its block, a
// dependency, a message, room on a lane) ran before it in the play, so there is no circle of waits, for every
// interleaving. With the order of the graph and lanes without limits the play never gets stuck, unless a
// fused send goes before others of its lane: the first instruction that has not run can always run. Where
// sends are fused in turn only, that order need not even be played.
//
// O((instructions + edges) log instructions).

#include "compile/passes/layout.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

namespace tutti::compile::passes {
namespace {

class Play {
  public:
    Play(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout)
        : graph_(graph), clock_(clock), choice_(choice), layout_(layout), afters_(graph) {
        waits_.resize(graph.size());
        for (std::uint32_t i = 0; i < graph.size(); ++i)
            waits_[i] = static_cast<std::uint32_t>(graph.before(i).size());
        lanes_.resize(layout.lanes.size());
        next_.assign(graph.size(), kNone);
    }

    bool run() {
        layout_.order.clear();
        layout_.order.reserve(graph_.size() -
                              static_cast<std::size_t>(std::ranges::count(layout_.is_fused, true)));
        for (std::uint32_t i = 0; i < graph_.size(); ++i) {
            if (waits_[i] == 0) offer(i);
        }
        std::size_t ran = 0;
        while (!ready_.empty()) {
            const std::uint32_t i = std::get<2>(ready_.top());
            ready_.pop();
            if (!has_room(i)) {
                lanes_[sending_lane(i)].blocked.push_back(i);
                continue;
            }
            layout_.order.push_back(i);
            ++ran;
            finish(i);
            if (graph_.instructions[i].receives() && layout_.fused[i] != kNone) {
                ++ran;
                finish(layout_.fused[i]);
            }
        }
        return ran == graph_.size();
    }

  private:
    struct LaneState {
        // Receives, as their messages were sent: a list through `next_`.
        std::uint32_t first = kNone, last = kNone;
        std::uint32_t held = 0;
        std::vector<std::uint32_t> blocked{};  ///< what waits for room
    };

    void offer(std::uint32_t i) {
        if (layout_.is_fused[i]) return;  // runs with its receive
        const Instruction& one = graph_.instructions[i];
        if (one.receives()) {
            if (lanes_[layout_.lane_of[i]].first != i) return;  // offered when it is
        }
        push(i);
    }
    void push(std::uint32_t i) {
        if (choice_.graph_order) {
            ready_.emplace(0, 0, i);
        } else {
            ready_.emplace(clock_.level[i], ~clock_.height[i], i);
        }
    }
    /// The lane on which it sends, itself or fused; none if it does not.
    [[nodiscard]] std::uint32_t sending_lane(std::uint32_t i) const {
        const Instruction& one = graph_.instructions[i];
        if (one.sends()) return layout_.lane_of[i];
        if (one.receives() && layout_.fused[i] != kNone) return layout_.lane_of[layout_.fused[i]];
        return kNone;
    }
    [[nodiscard]] bool has_room(std::uint32_t i) const {
        const std::uint32_t lane = sending_lane(i);
        return lane == kNone || lanes_[lane].held < choice_.fifo;
    }

    void finish(std::uint32_t i) {
        const Instruction& one = graph_.instructions[i];
        if (one.sends()) {
            LaneState& lane = lanes_[layout_.lane_of[i]];
            (lane.held++ == 0 ? lane.first : next_[lane.last]) = one.match;
            lane.last = one.match;
        }
        if (one.receives()) {
            LaneState& lane = lanes_[layout_.lane_of[i]];
            lane.first = --lane.held == 0 ? kNone : next_[i];
            if (lane.first != kNone && waits_[lane.first] == 0) push(lane.first);
            for (const std::uint32_t b : lane.blocked) push(b);
            lane.blocked.clear();
        }
        for (const std::uint32_t a : afters_.of(i)) {
            if (--waits_[a] == 0) offer(a);
        }
    }

    const Graph& graph_;
    const Clock& clock_;
    const Choice& choice_;
    Layout& layout_;
    Afters afters_;
    std::vector<std::uint32_t> waits_;
    std::vector<LaneState> lanes_;
    std::vector<std::uint32_t> next_;  ///< by receive: the next one on its lane
    using Turn = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
    std::priority_queue<Turn, std::vector<Turn>, std::greater<>> ready_;
};

}  // namespace

bool find_order(const Graph& graph, const Clock& clock, const Choice& choice, Layout& layout) {
    if (choice.graph_order && choice.fifo == kNone && (choice.in_turn || !choice.fuse)) {
        layout.order.clear();
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            if (!layout.is_fused[i]) layout.order.push_back(i);
        }
        return true;
    }
    return Play(graph, clock, choice, layout).run();
}

void drop_sums(const Graph& graph, Layout& layout) {
    layout.drops_sum.assign(graph.size(), false);
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const Instruction& one = graph.instructions[i];
        if (!one.receives() || !one.reduces || layout.fused[i] == kNone) continue;
        // Only the fused send reads the sum, each of its chunks once, and it is no result.
        layout.drops_sum[i] = graph.reads_of[i] == one.count && !graph.leaves_result[i];
    }
}

}  // namespace tutti::compile::passes

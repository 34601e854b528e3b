// Whether an order still runs where lanes hold so many chunks, not messages.
//
// `order` plays with whole messages. Runtimes send a large message chunk by chunk, so one of more chunks than
// a lane holds does not end before the other side takes it: two ranks that send such messages to each other
// first wait for ever. Here the thread blocks run in the order that was found, each step moving the chunks
// that have come and that there is room for. The judge would find the same out, but only from the steps, and
// its verdict is that the plan is right if there is room.
//
// O(instructions + edges + chunks of all messages / room).

#include "compile/passes/layout.hpp"

#include <algorithm>

namespace tutti::compile::passes {
namespace {

class ChunkPlay {
  public:
    ChunkPlay(const Graph& graph, const Layout& layout, std::uint32_t room)
        : graph_(graph), layout_(layout), room_(room), afters_(graph) {
        waits_.resize(graph.size());
        for (std::uint32_t i = 0; i < graph.size(); ++i) {
            // A receive may begin before its send has ended.
            const auto after = static_cast<std::uint32_t>(graph.before(i).size());
            waits_[i] = after - (graph.instructions[i].receives() ? 1 : 0);
        }
        steps_.resize(layout.order.size());
        begin_.assign(layout.blocks.size() + 1, 0);
        for (const std::uint32_t i : layout.order) ++begin_[layout.block_of[i] + 1];
        for (std::size_t b = 1; b < begin_.size(); ++b) begin_[b] += begin_[b - 1];
        next_.assign(begin_.begin(), begin_.end() - 1);
        for (const std::uint32_t i : layout.order) steps_[next_[layout.block_of[i]]++] = i;
        next_.assign(begin_.begin(), begin_.end() - 1);
        left_.assign(layout.blocks.size(), kNone);
        held_.assign(layout.lanes.size(), 0);
        queued_.assign(layout.blocks.size(), false);
    }

    bool run() {
        for (std::uint32_t block = 0; block < layout_.blocks.size(); ++block) wake(block);
        while (!ready_.empty()) {
            const std::uint32_t block = ready_.back();
            ready_.pop_back();
            queued_[block] = false;
            advance(block);
        }
        return ended_ == steps_.size();
    }

  private:
    void wake(std::uint32_t block) {
        if (queued_[block]) return;
        queued_[block] = true;
        ready_.push_back(block);
    }
    /// Runs the block until it has to wait.
    void advance(std::uint32_t block) {
        for (; next_[block] < begin_[block + 1]; ++next_[block]) {
            const std::uint32_t i = steps_[next_[block]];
            if (left_[block] == kNone) {
                if (waits_[i] > 0) return;
                left_[block] = graph_.instructions[i].count;
            }
            if (!transfer(block, i)) return;
            left_[block] = kNone;
            ++ended_;
            finish(i);
            if (graph_.instructions[i].receives() && layout_.fused[i] != kNone) finish(layout_.fused[i]);
        }
    }
    /// Moves as many chunks as it can; true when all are.
    bool transfer(std::uint32_t block, std::uint32_t i) {
        const Instruction& one = graph_.instructions[i];
        const std::uint32_t in = one.receives() ? i : kNone;
        const std::uint32_t out = one.sends() ? i : in != kNone ? layout_.fused[i] : kNone;
        std::uint32_t now = left_[block];
        if (in != kNone) now = std::min(now, held_[layout_.lane_of[in]]);
        if (out != kNone) now = std::min(now, room_ - held_[layout_.lane_of[out]]);
        left_[block] -= now;
        if (in != kNone && now > 0) {
            held_[layout_.lane_of[in]] -= now;
            wake(layout_.block_of[one.match]);
        }
        if (out != kNone && now > 0) {
            held_[layout_.lane_of[out]] += now;
            wake(layout_.block_of[graph_.instructions[out].match]);
        }
        return left_[block] == 0;
    }
    void finish(std::uint32_t i) {
        for (const std::uint32_t after : afters_.of(i)) {
            if (after == graph_.instructions[i].match) continue;
            if (--waits_[after] == 0) wake(layout_.block_of[after]);
        }
    }

    const Graph& graph_;
    const Layout& layout_;
    std::uint32_t room_;
    Afters afters_;
    std::vector<std::uint32_t> waits_;          ///< by instruction: what has to end before it begins
    std::vector<std::uint32_t> steps_, begin_;  ///< the steps of each block
    std::vector<std::uint32_t> next_;           ///< each block's next step
    std::vector<std::uint32_t> left_;           ///< chunks that it has still to move; kNone: it has not begun
    std::vector<std::uint32_t> held_;           ///< by lane: chunks
    std::vector<bool> queued_;
    std::vector<std::uint32_t> ready_;
    std::size_t ended_ = 0;
};

}  // namespace

bool runs_by_chunks(const Graph& graph, const Layout& layout, std::uint32_t room) {
    const auto is_small = [](const Instruction& i) {
        return i.kind == Instruction::Kind::Local || i.count == 1;
    };
    return std::ranges::all_of(graph.instructions, is_small) || ChunkPlay(graph, layout, room).run();
}

}  // namespace tutti::compile::passes

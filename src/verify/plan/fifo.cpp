#include "verify/plan/fifo.hpp"

#include <algorithm>

namespace tutti::verify {
namespace {

/// One run of all thread blocks with a given capacity.
class Simulation {
  public:
    Simulation(const MscclStructure& structure, bool by_chunk)
        : structure_(structure),
          by_chunk_(by_chunk),
          send_on_(structure.blocks.size()),
          receive_on_(structure.blocks.size()) {
        for (std::uint32_t i = 0; i < structure.connections.size(); ++i) {
            send_on_[structure.connections[i].sender] = plan::ConnectionId(i);
            receive_on_[structure.connections[i].receiver] = plan::ConnectionId(i);
        }
    }

    [[nodiscard]] bool ends(std::int64_t capacity) {
        capacity_ = capacity;
        held_.assign(structure_.connections.size(), 0);
        next_.assign(structure_.blocks.size(), 0);
        left_.assign(structure_.blocks.size(), -1);
        waiting_.assign(structure_.blocks.size(), {});
        queued_.assign(structure_.blocks.size(), true);
        ended_.assign(structure_.blocks.size(), false);
        ready_.clear();
        for (std::uint32_t block = 0; block < structure_.blocks.size(); ++block) ready_.push_back(block);
        std::size_t ended = 0;
        while (!ready_.empty()) {
            const std::uint32_t block = ready_.back();
            ready_.pop_back();
            queued_[block] = false;
            if (advance(block) && !ended_[block]) {
                ended_[block] = true;
                ++ended;
            }
        }
        return ended == structure_.blocks.size();
    }

  private:
    /// Executes what the block can do now; true when it has finished.
    bool advance(std::uint32_t block) {
        const MscclStructure::Block& own = structure_.blocks[block];
        const auto& steps = own.block->steps;
        while (next_[block] < steps.size()) {
            const plan::Step& step = steps[next_[block]];
            if (left_[block] < 0) {
                if (!signalled(structure_.waits_for(own, step), block)) return false;
                left_[block] = by_chunk_ ? step.count : 1;
            }
            if (!transfer(block, step)) return false;
            left_[block] = -1;
            ++next_[block];
            if (step.signals && !waiting_[block].empty()) {
                for (const std::uint32_t waiter : waiting_[block]) wake(waiter);
                waiting_[block].clear();
            }
        }
        return true;
    }

    bool signalled(plan::OpId step, std::uint32_t waiter) {
        if (step == plan::kNoOp) return true;
        const std::uint32_t block = structure_.block_of(step);
        if (next_[block] > step - structure_.blocks[block].first) return true;
        waiting_[block].push_back(waiter);
        return false;
    }

    /// Moves as many messages as it can; true when the step is done.
    bool transfer(std::uint32_t block, const plan::Step& step) {
        const bool in = receives(step.type), out = sends(step.type);
        if (!in && !out) return true;
        // A step that sends or receives has a connection to do it on.
        const std::size_t from = in ? (*receive_on_[block]).index() : 0;
        const std::size_t to = out ? (*send_on_[block]).index() : 0;
        std::int64_t now = left_[block];
        if (in) now = std::min(now, held_[from]);
        if (out) now = std::min(now, capacity_ - held_[to]);
        left_[block] -= now;
        if (now > 0 && in) {
            held_[from] -= now;
            wake(structure_.connections[from].sender);
        }
        if (now > 0 && out) {
            held_[to] += now;
            wake(structure_.connections[to].receiver);
        }
        return left_[block] == 0;
    }

    void wake(std::uint32_t block) {
        if (queued_[block]) return;
        queued_[block] = true;
        ready_.push_back(block);
    }

    const MscclStructure& structure_;
    bool by_chunk_;
    std::vector<OptionalId<plan::ConnectionId>> send_on_, receive_on_;  ///< each block's connections
    std::int64_t capacity_ = 1;
    std::vector<std::int64_t> held_;   ///< messages in each connection
    std::vector<std::uint32_t> next_;  ///< each block's next step
    std::vector<std::int64_t> left_;   ///< messages its step has still to move; -1: it has not begun
    std::vector<std::vector<std::uint32_t>> waiting_;  ///< for a signal of this block
    std::vector<bool> queued_, ended_;
    std::vector<std::uint32_t> ready_;
};

std::int64_t least_capacity(Simulation simulation) {
    std::int64_t enough = 1;
    while (!simulation.ends(enough)) enough *= 2;
    std::int64_t least = enough / 2 + 1;  // enough / 2 was too small
    while (least < enough) {
        const std::int64_t middle = least + (enough - least) / 2;
        if (simulation.ends(middle)) {
            enough = middle;
        } else {
            least = middle + 1;
        }
    }
    return enough;
}

}  // namespace

plan::FifoNeed fifo_need(const MscclStructure& structure, plan::Protocol protocol) {
    plan::FifoNeed need;
    need.capacity = plan::fifo_capacity(protocol);
    need.chunks = least_capacity(Simulation(structure, true));
    const bool single = std::ranges::all_of(structure.blocks, [](const MscclStructure::Block& block) {
        return std::ranges::all_of(block.block->steps, [](const plan::Step& step) {
            return step.count <= 1 || !(sends(step.type) || receives(step.type));
        });
    });
    need.steps = single || need.chunks == 1 ? need.chunks : least_capacity(Simulation(structure, false));
    return need;
}

}  // namespace tutti::verify

// Only control matters here: how far each block is. A state is the step of each block and how many messages
// of it have passed; what a FIFO holds follows from that. A fused step takes a message and passes it on in
// one transition, so it waits until the one is there and the other has room.

#include "tests/oracle/fifo_need.hpp"

#include <algorithm>
#include <set>
#include <vector>

namespace tutti::oracle {
namespace {

enum class End { All, None, Unknown };

class Network {
  public:
    Network(const Machine& machine, MessageSize size, std::int64_t capacity, std::uint64_t max_states)
        : machine_(machine), size_(size), capacity_(capacity), max_states_(max_states) {}

    End run() {
        visit(State(machine_.blocks.size() * 2, 0));
        while (!pending_.empty()) {
            if (seen_.size() > max_states_) return End::Unknown;
            const State state = pending_.back();
            pending_.pop_back();
            bool any = false, all_ended = true;
            for (std::size_t b = 0; b < machine_.blocks.size(); ++b) {
                if (at(state, b) == machine_.blocks[b].steps.size()) continue;
                all_ended = false;
                if (!can_go_on(state, b)) continue;
                any = true;
                visit(gone_on(state, b));
            }
            if (!any && !all_ended) return End::None;
        }
        return End::All;
    }

  private:
    using State = std::vector<std::uint8_t>;  ///< per block: step, messages of it

    static std::size_t at(const State& state, std::size_t b) { return state[b * 2]; }

    [[nodiscard]] int messages(const MachineStep& step) const {
        return size_ == MessageSize::Chunk ? std::max(step.count, 1) : 1;
    }

    /// Messages that have gone through one end of a connection.
    [[nodiscard]] std::int64_t passed(const State& state, int connection, int MachineStep::*end) const {
        std::int64_t sum = 0;
        for (std::size_t b = 0; b < machine_.blocks.size(); ++b) {
            const auto& steps = machine_.blocks[b].steps;
            for (std::size_t s = 0; s < std::min(at(state, b) + 1, steps.size()); ++s) {
                if (steps[s].*end != connection) continue;
                sum += s < at(state, b) ? messages(steps[s]) : state[b * 2 + 1];
            }
        }
        return sum;
    }
    [[nodiscard]] std::int64_t held(const State& state, int connection) const {
        return passed(state, connection, &MachineStep::out_connection) -
               passed(state, connection, &MachineStep::in_connection);
    }

    [[nodiscard]] bool can_go_on(const State& state, std::size_t b) const {
        const MachineStep& step = machine_.blocks[b].steps[at(state, b)];
        if (step.wait_block >= 0 && !has_signalled(state, step)) return false;
        if (step.in_connection >= 0 && held(state, step.in_connection) == 0) return false;
        return step.out_connection < 0 || held(state, step.out_connection) < capacity_;
    }

    [[nodiscard]] bool has_signalled(const State& state, const MachineStep& step) const {
        const auto b = static_cast<std::size_t>(step.wait_block);
        for (std::size_t s = static_cast<std::size_t>(step.wait_step); s < at(state, b); ++s) {
            if (machine_.blocks[b].steps[s].signals) return true;
        }
        return false;
    }

    [[nodiscard]] State gone_on(State state, std::size_t b) const {
        if (++state[b * 2 + 1] == messages(machine_.blocks[b].steps[at(state, b)])) {
            ++state[b * 2];
            state[b * 2 + 1] = 0;
        }
        return state;
    }

    void visit(State state) {
        const auto [where, is_new] = seen_.insert(std::move(state));
        if (is_new) pending_.push_back(*where);
    }

    const Machine& machine_;
    MessageSize size_;
    std::int64_t capacity_;
    std::uint64_t max_states_;
    std::set<State> seen_{};
    std::vector<State> pending_{};
};

}  // namespace

std::optional<std::int64_t> least_capacity(const Machine& machine, MessageSize size,
                                           std::uint64_t max_states) {
    for (std::int64_t capacity = 1; capacity <= std::max(machine.slots, 1); ++capacity) {
        const End end = Network(machine, size, capacity, max_states).run();
        if (end == End::All) return capacity;
        if (end == End::Unknown) return std::nullopt;
    }
    return std::nullopt;
}

}  // namespace tutti::oracle

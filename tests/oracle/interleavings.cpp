// What plans may do, found by doing all of it. A state is a place in every thread block, the content of all
// memories and FIFOs and what unfinished steps have read so far; a transition is one access of one thread
// block. States are kept in a set, so that each is left once.
//
// Granularity. A step is taken apart as hardware may do it: it begins (its dependency has signalled, its
// message is there), then for each chunk, in any order among the chunks, its operands are read one by one at
// different moments and afterwards the result is written; a message leaves when all of it has been computed.
// So a write by others may fall between the reads of `re`, or between a read and the write that follows from
// it, and races show that whole steps would hide. A step is finished, and signals, with the last of its
// parts: a later moment could only delay others. Messages are those of whole steps, because the format page
// orders the k-th send before the k-th receive; `message_per_chunk` lets chunks go singly, as runtimes do
// with large data.
//
// Reduction. Sniffed and sending touch only the block's own ends of connections: they commute with all that
// other blocks do, and nothing that others do can disable them. The same holds for an access to a place that
// no other block accesses (or that nobody ever writes). Such a transition is taken first and alone; the
// states that are left out lead to the same ends (a persistent set of one; there are no cycles, every
// transition makes progress). `reduced = false` does without, and a test compares the two.
//
// The network is deterministic in its control: whether a step can begin never depends on data or on luck. So
// either every interleaving hangs or none does; explore() does not rely on it, can_precede() does.

#include "tests/oracle/interleavings.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <unordered_set>

namespace tutti::oracle {
namespace {

using Word = std::uint16_t;
using State = std::vector<Word>;

constexpr Word kEmpty = std::numeric_limits<Word>::max();

/// One transition of a step; `after` are those of the same step that come before it.
struct Part {
    enum class Kind { Begin, Take, Read, Write, Send } kind = Kind::Begin;
    int chunk = 0, place = -1;
    std::uint32_t after = 0;
    bool is_private = true;  ///< commutes with everything that may happen meanwhile
};

struct Hash {
    std::size_t operator()(const State& state) const {
        std::uint64_t hash = 0x9E3779B97F4A7C15ULL;
        for (const Word word : state) hash = (hash ^ word) * 0x100000001B3ULL;
        return hash ^ (hash >> 29);
    }
};

class Explorer {
  public:
    Explorer(Machine& machine, const ExploreOptions& options) : machine_(machine), options_(options) {
        for (const MachineBlock& block : machine.blocks) {
            auto& parts = parts_.emplace_back();
            int most = 0;
            for (const MachineStep& step : block.steps) {
                parts.push_back(parts_of(step));
                most = std::max(most, step.count);
            }
            at_.push_back(size_);
            size_ +=
                3 + static_cast<std::size_t>(most);  // step, parts done (two words), what was read per chunk
        }
        memory_ = size_;
        size_ += machine.start.size();
        slots_ = size_;
        size_ += static_cast<std::size_t>(machine.slots);
        mark_private();
    }

    Exploration run() {
        State start(size_, 0);
        std::ranges::copy(machine_.start, start.begin() + static_cast<std::ptrdiff_t>(memory_));
        std::fill(start.begin() + static_cast<std::ptrdiff_t>(slots_), start.end(), kEmpty);
        result_.outcomes.resize(machine_.outputs.size());
        visit(std::move(start));
        while (!pending_.empty() && !result_.out_of_work) {
            const State state = std::move(pending_.back());
            pending_.pop_back();
            expand(state);
        }
        result_.states = seen_.size();
        return std::move(result_);
    }

  private:
    [[nodiscard]] std::vector<Part> parts_of(const MachineStep& step) const {
        std::vector<Part> parts{{Part::Kind::Begin, 0, -1, 0, true}};
        const auto add = [&](Part part) {
            parts.push_back(part);
            return std::uint32_t{1} << (parts.size() - 1);
        };
        const bool singly = options_.message_per_chunk;
        std::uint32_t all_over = 1, last_taken = 1, last_sent = 1;
        for (int k = 0; k < step.count; ++k) {
            const auto c = static_cast<std::size_t>(k);
            std::uint32_t read = 1;
            if (singly && step.in >= 0) read = last_taken = add({Part::Kind::Take, k, -1, last_taken, true});
            const std::uint32_t begun = read;
            if (!step.sources.empty()) read |= add({Part::Kind::Read, k, step.sources[c], begun, true});
            if (!step.accumulators.empty()) {
                read |= add({Part::Kind::Read, k, step.accumulators[c], begun, true});
            }
            std::uint32_t over = read;
            if (!step.targets.empty()) over |= add({Part::Kind::Write, k, step.targets[c], read, true});
            if (singly && step.out >= 0) last_sent = add({Part::Kind::Send, k, -1, over | last_sent, true});
            all_over |= over;
        }
        if (!singly && step.out >= 0) add({Part::Kind::Send, -1, -1, all_over, true});
        if (parts.size() > 31) throw std::length_error("a step of so many chunks cannot be explored");
        return parts;
    }

    /// An access is private if no other block conflicts with it, nor another chunk of its own step.
    void mark_private() {
        if (!options_.reduced) return;
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            for (std::size_t s = 0; s < parts_[b].size(); ++s) {
                for (Part& part : parts_[b][s]) part.is_private = part.place < 0 || !has_conflict(b, s, part);
            }
        }
    }

    [[nodiscard]] bool has_conflict(std::size_t block, std::size_t step, const Part& part) const {
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            for (std::size_t s = 0; s < parts_[b].size(); ++s) {
                if (b == block && s != step) continue;
                for (const Part& other : parts_[b][s]) {
                    if (other.place != part.place || (b == block && other.chunk == part.chunk)) continue;
                    if (other.kind == Part::Kind::Write || part.kind == Part::Kind::Write) return true;
                }
            }
        }
        return false;
    }

    [[nodiscard]] std::uint32_t done(const State& state, std::size_t b) const {
        return state[at_[b] + 1] | static_cast<std::uint32_t>(state[at_[b] + 2]) << 16;
    }

    [[nodiscard]] bool has_signalled(const State& state, const MachineStep& step) const {
        if (step.wait_block < 0) return true;
        const auto b = static_cast<std::size_t>(step.wait_block);
        for (std::size_t s = static_cast<std::size_t>(step.wait_step); s < state[at_[b]]; ++s) {
            if (machine_.blocks[b].steps[s].signals) return true;
        }
        return false;
    }

    [[nodiscard]] bool can(const State& state, const MachineStep& step, const Part& part) const {
        const auto is_there = [&](int chunk) {
            return state[slots_ + static_cast<std::size_t>(step.in + chunk)] != kEmpty;
        };
        if (part.kind == Part::Kind::Take) return is_there(part.chunk);
        if (part.kind != Part::Kind::Begin) return true;
        if (!has_signalled(state, step)) return false;
        return step.in < 0 || options_.message_per_chunk || is_there(0);
    }

    void expand(const State& state) {
        bool any = false;
        std::vector<std::pair<std::size_t, std::size_t>> shared;
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            const std::size_t s = state[at_[b]];
            if (s == parts_[b].size()) continue;
            const std::uint32_t over = done(state, b);
            for (std::size_t p = 0; p < parts_[b][s].size(); ++p) {
                const Part& part = parts_[b][s][p];
                if ((over >> p & 1) != 0 || (part.after & ~over) != 0) continue;
                if (!can(state, machine_.blocks[b].steps[s], part)) continue;
                any = true;
                if (options_.reduced && part.is_private) {
                    visit(after(state, b, p));
                    return;
                }
                shared.emplace_back(b, p);
            }
        }
        for (const auto& [b, p] : shared) visit(after(state, b, p));
        if (!any) end(state);
    }

    State after(State state, std::size_t b, std::size_t p) {
        const std::size_t s = state[at_[b]];
        const MachineStep& step = machine_.blocks[b].steps[s];
        const Part& part = parts_[b][s][p];
        Word* const read = state.data() + at_[b] + 3;
        const auto take = [&](int k) {
            Word& slot = state[slots_ + static_cast<std::size_t>(step.in + k)];
            read[k] = slot;
            slot = kEmpty;
        };
        const bool is_poison = options_.poison && options_.poison->block == static_cast<int>(b) &&
                               options_.poison->step == static_cast<int>(s) &&
                               options_.poison->place == part.place;
        switch (part.kind) {
            case Part::Kind::Begin:
                for (int k = 0; k < step.count && step.in >= 0 && !options_.message_per_chunk; ++k) take(k);
                break;
            case Part::Kind::Take:
                take(part.chunk);
                break;
            case Part::Kind::Read: {
                const Word value = state[memory_ + static_cast<std::size_t>(part.place)];
                read[part.chunk] = machine_.values.sum(read[part.chunk], is_poison ? Values::kPoison : value);
                break;
            }
            case Part::Kind::Write:
                state[memory_ + static_cast<std::size_t>(part.place)] =
                    is_poison ? Values::kPoison : read[part.chunk];
                break;
            case Part::Kind::Send:
                for (int k = 0; k < step.count; ++k) {
                    if (part.chunk >= 0 && part.chunk != k) continue;
                    state[slots_ + static_cast<std::size_t>(step.out + k)] = read[k];
                }
                break;
        }
        const std::uint32_t over = done(state, b) | std::uint32_t{1} << p;
        const bool is_finished = over + 1 == std::uint32_t{1} << parts_[b][s].size();
        if (is_finished) {
            ++state[at_[b]];
            std::fill_n(read, step.count, Word{0});
        }
        state[at_[b] + 1] = static_cast<Word>(is_finished ? 0 : over & 0xFFFF);
        state[at_[b] + 2] = static_cast<Word>(is_finished ? 0 : over >> 16);
        return state;
    }

    void visit(State state) {
        const auto [where, is_new] = seen_.insert(std::move(state));
        if (is_new) pending_.push_back(*where);
        if (seen_.size() > options_.max_states) result_.out_of_work = true;
    }

    void end(const State& state) {
        for (std::size_t b = 0; b < parts_.size(); ++b) {
            if (state[at_[b]] == parts_[b].size()) continue;
            ++result_.hung;
            result_.stuck.clear();
            for (const std::size_t at : at_) result_.stuck.push_back(state[at]);
            return;
        }
        ++result_.ended;
        for (std::size_t i = 0; i < machine_.outputs.size(); ++i) {
            const Wanted& output = machine_.outputs[i];
            const std::size_t at = memory_ + static_cast<std::size_t>(output.place);
            result_.outcomes[i].insert(state[at]);
            if (output.value && state[at] != *output.value) result_.wrong.insert(i);
            if (result_.outcomes[i].size() > 1) result_.differing.insert(i);
            if (machine_.values.poisoned(state[at])) result_.poisoned = true;
        }
    }

    Machine& machine_;
    const ExploreOptions& options_;
    std::vector<std::vector<std::vector<Part>>> parts_{};  ///< by block and step
    std::vector<std::size_t> at_{};                        ///< where a block's words begin
    std::size_t memory_ = 0, slots_ = 0, size_ = 0;
    std::unordered_set<State, Hash> seen_{};
    std::vector<State> pending_{};
    Exploration result_{};
};

}  // namespace

Exploration explore(Machine& machine, const ExploreOptions& options) {
    return Explorer(machine, options).run();
}

bool can_precede(const Machine& machine, int block, int step, int other_block, int other_step) {
    // Everything that can be done while the other step is held back.
    std::vector<int> at(machine.blocks.size(), 0);
    std::vector<bool> sent(static_cast<std::size_t>(machine.slots), false);
    const auto has_signalled = [&](const MachineStep& waiting) {
        if (waiting.wait_block < 0) return true;
        const auto b = static_cast<std::size_t>(waiting.wait_block);
        for (int s = waiting.wait_step; s < at[b]; ++s) {
            if (machine.blocks[b].steps[static_cast<std::size_t>(s)].signals) return true;
        }
        return false;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t b = 0; b < at.size(); ++b) {
            if (at[b] == std::ssize(machine.blocks[b].steps)) continue;
            if (static_cast<int>(b) == other_block && at[b] == other_step) continue;
            const MachineStep& next = machine.blocks[b].steps[static_cast<std::size_t>(at[b])];
            if (!has_signalled(next)) continue;
            if (next.in >= 0 && !sent[static_cast<std::size_t>(next.in)]) continue;
            if (next.out >= 0) sent[static_cast<std::size_t>(next.out)] = true;
            ++at[b];
            moved = true;
        }
    }
    return at[static_cast<std::size_t>(block)] > step;
}

}  // namespace tutti::oracle

// Ruin and recreate. A move removes the trees of a few chunks and grows them again one by one, in random
// order, each by earliest arrival through the gaps (TreeGrowth). The chunks are one that is late and others
// that use the links into a node where it is late, or random ones. A move is kept if the total lateness does
// not rise, or sometimes if it rises a little. Lateness is the excess of arrivals over the goal, and the goal
// is a little below the best makespan, so that nearly late arrivals count too.
//
// Start from the matcher's result, not from scratch: trees inserted chunk by chunk are a poor start for
// all-gathers.

#include "heuristics/trees/repair.hpp"

#include "heuristics/trees/tree_growth.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace tutti::heuristics {
namespace {

/// Range of the random number that decides how much lateness may rise.
constexpr std::int64_t kDice = 1024;
/// Moves between two polls of the stop.
constexpr std::uint64_t kMovesPerPoll = 16;

class Repair {
  public:
    Repair(const SpreadProblem& problem, SpreadSolution best, Rng& rng)
        : problem_(problem),
          rng_(rng),
          best_(std::move(best)),
          net_(problem),
          busy_(net_.hops()),
          growth_(problem, net_, busy_),
          trees_(problem.spreads.size()),
          is_taken_(problem.spreads.size(), 0),
          fastest_(Ticks::max()) {
        std::unordered_map<ChunkId, std::uint32_t> spread_of;
        for (std::size_t i = 0; i < problem.spreads.size(); ++i) {
            spread_of[problem.spreads[i].chunk] = static_cast<std::uint32_t>(i);
        }
        for (const auto& [hop, chunk, start] : best_.transfers) {
            trees_[spread_of.at(chunk)].sends.push_back({hop.value(), start});
        }
        for (std::size_t h = 0; h < net_.hops(); ++h) fastest_ = std::min(fastest_, net_.times(0, h).transit);
        for (std::size_t i = 0; i < trees_.size(); ++i) reserve(i);
        set_goal();
    }

    SpreadSolution run(const Stop& stop, std::uint64_t max_moves) {
        for (std::uint64_t move = 0; move < max_moves && best_.makespan > problem_.target; ++move) {
            if (move % kMovesPerPoll == 0 && stop.requested()) break;
            take();
            set_allowance();
            if (!regrow() || !is_welcome()) {
                undo();
                continue;
            }
            lateness_ = new_lateness_;
            if (end() < best_.makespan) remember();
        }
        return std::move(best_);
    }

  private:
    struct Tree {
        std::vector<TreeSend> sends;
        Ticks end;
        Ticks lateness;
    };

    void reserve(std::size_t i) {
        Tree& tree = trees_[i];
        for (const TreeSend& send : tree.sends) {
            const Ticks busy = net_.times(net_.size_of[i], send.hop).busy;
            busy_[send.hop].book(send.start, send.start + busy, static_cast<std::uint32_t>(i));
        }
        measure(i);
    }
    void release(std::size_t i) {
        for (const TreeSend& send : trees_[i].sends) {
            const Ticks busy = net_.times(net_.size_of[i], send.hop).busy;
            busy_[send.hop].release(send.start, send.start + busy);
        }
    }
    [[nodiscard]] Ticks arrival(std::size_t i, const TreeSend& send) const {
        return send.start + net_.times(net_.size_of[i], send.hop).transit;
    }
    void measure(std::size_t i) {
        Tree& tree = trees_[i];
        tree.end = tree.lateness = Ticks(0);
        for (const TreeSend& send : tree.sends) {
            const Ticks tick = arrival(i, send);
            tree.end = std::max(tree.end, tick);
            if (tick > goal_) tree.lateness += tick - goal_;
        }
    }
    [[nodiscard]] Ticks end() const {
        Ticks last;
        for (const Tree& tree : trees_) last = std::max(last, tree.end);
        return last;
    }

    void set_goal() {
        goal_ = std::max(problem_.target, best_.makespan - std::min(best_.makespan, fastest_));
        lateness_ = Ticks(0);
        for (std::size_t i = 0; i < trees_.size(); ++i) {
            measure(i);
            lateness_ += trees_[i].lateness;
        }
    }

    void remember() {
        best_.transfers.clear();
        for (std::size_t i = 0; i < trees_.size(); ++i) {
            for (const TreeSend& send : trees_[i].sends) {
                best_.transfers.push_back({HopId(send.hop), problem_.spreads[i].chunk, send.start});
            }
        }
        best_.makespan = end();
        set_goal();
    }

    /// Chooses chunks and removes their trees.
    void take() {
        taken_.clear();
        const std::size_t most = std::clamp<std::size_t>(trees_.size() / 8, 2, problem_.options.repair_trees);
        const std::size_t count = std::min(trees_.size(), 1 + rng_.below(most));
        const std::size_t late = some_late_tree();
        pick(late);
        if (rng_.below(4) != 0 && !trees_[late].sends.empty()) pick_around(late, count);
        for (std::size_t tries = 0; taken_.size() < count && tries < 2 * count; ++tries) {
            pick(rng_.below(trees_.size()));
        }
        old_lateness_ = Ticks(0);
        for (const std::uint32_t i : taken_) {
            release(i);
            old_lateness_ += trees_[i].lateness;
            is_taken_[i] = 0;
        }
        rng_.shuffle(taken_);
    }

    void pick(std::size_t i) {
        if (is_taken_[i] != 0) return;
        is_taken_[i] = 1;
        taken_.push_back(static_cast<std::uint32_t>(i));
    }

    [[nodiscard]] std::size_t some_late_tree() {
        const std::size_t first = rng_.below(trees_.size());
        std::size_t latest = first;
        for (std::size_t k = 0; k < trees_.size(); ++k) {
            const std::size_t i = first + k < trees_.size() ? first + k : first + k - trees_.size();
            if (trees_[i].lateness > Ticks(0)) return i;
            if (trees_[i].end > trees_[latest].end) latest = i;
        }
        return latest;
    }

    /// Chunks that use the links into a node where this one is late.
    void pick_around(std::size_t i, std::size_t count) {
        const auto& sends = trees_[i].sends;
        const std::size_t first = rng_.below(sends.size());
        std::size_t place = first;
        for (std::size_t k = 0; k < sends.size(); ++k) {
            const std::size_t s = first + k < sends.size() ? first + k : first + k - sends.size();
            if (arrival(i, sends[s]) <= goal_) continue;
            place = s;
            break;
        }
        const std::uint32_t node = net_.to(sends[place].hop);
        for (std::size_t tries = 0; taken_.size() < count && tries < 3 * count; ++tries) {
            const auto in = net_.in(node);
            const auto bookings = busy_[in[rng_.below(in.size())].hop.index()].intervals();
            if (!bookings.empty()) pick(bookings[rng_.below(bookings.size())].owner);
        }
    }

    /// Grows them again. False: a target was not reached.
    bool regrow() {
        constexpr std::array<std::int64_t, 4> kPenalties{0, 1, 3, 10};
        const TreeGrowth::Penalties penalties{kPenalties[rng_.below(kPenalties.size())],
                                              kPenalties[rng_.below(kPenalties.size())]};
        old_.resize(std::max(old_.size(), taken_.size()));
        grown_ = 0;
        new_lateness_ = lateness_ - old_lateness_;
        for (const std::uint32_t i : taken_) {
            std::swap(old_[grown_++], trees_[i]);
            if (!growth_.grow(i, penalties, rng_, trees_[i].sends)) {
                trees_[i].sends.clear();
                return false;
            }
            reserve(i);
            new_lateness_ += trees_[i].lateness;
            if (new_lateness_ > lateness_ + allowance_) return false;
        }
        return true;
    }

    /// Draws by how much the lateness may rise: usually little.
    void set_allowance() {
        const auto dice = static_cast<std::int64_t>(rng_.below(kDice));
        const std::int64_t share = dice * dice / kDice * dice / kDice;
        allowance_ = Ticks(fastest_.count() / kDice * share);
    }

    [[nodiscard]] bool is_welcome() const { return new_lateness_ <= lateness_ + allowance_; }

    void undo() {
        for (std::size_t k = 0; k < grown_; ++k) release(taken_[k]);
        for (std::size_t k = 0; k < grown_; ++k) std::swap(old_[k], trees_[taken_[k]]);
        for (const std::uint32_t i : taken_) reserve(i);
    }

    const SpreadProblem& problem_;
    Rng& rng_;
    SpreadSolution best_;
    const FloodNetwork net_;
    std::vector<OwnedIntervals> busy_;  ///< by hop; the owner is the spread
    TreeGrowth growth_;
    std::vector<Tree> trees_, old_;
    std::vector<std::uint32_t> taken_;
    std::vector<std::uint8_t> is_taken_;
    std::size_t grown_ = 0;
    Ticks fastest_, goal_, lateness_, old_lateness_, new_lateness_, allowance_;
};

}  // namespace

std::string why_no_repair(const SpreadProblem& problem) {
    if (!problem.graph.is_simple()) return "chunks pass several links at once through a switch";
    for (std::size_t n = 0; n < problem.graph.nodes(); ++n) {
        if (!problem.graph.branches(NodeId(n))) return "a switch cannot copy";
    }
    return {};
}

SpreadSolution improve(const SpreadProblem& problem, SpreadSolution best, Rng& rng, const Stop& stop,
                       std::uint64_t max_moves) {
    if (problem.spreads.empty() || best.makespan <= problem.target) return best;
    if (!why_no_repair(problem).empty()) return best;
    return Repair(problem, std::move(best), rng).run(stop, max_moves);
}

}  // namespace tutti::heuristics

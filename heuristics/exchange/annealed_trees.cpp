// All-reduces along trees that are found by simulated annealing, on networks of NPUs.
//
// As in sum_trees.cpp every edge of a chunk's tree carries a message each way. Which trees are good depends
// on all of them together: on a torus with a slow row each NPU of that row should have few messages, none of
// them late, and no tree may be deep. So the trees change by one edge at a time (another edge closes a cycle,
// and one of the cycle is left out), and after each change all messages are simulated.
//
// Two things make that work. The aim is a number of steps, two less than the best known, and the cost is by
// how many steps all messages together arrive later than that: a schedule's length alone says nothing about
// which of two plans of that length is nearer to a shorter one. (A torus of 16 with a slow row, 15 to 40 s:
// 11 steps in two of seven runs that aimed at 11, in five of five that aimed at 10.) And time is counted in
// steps of the shortest send, rounded: then a simulation is short, tens of thousands take a second, and
// messages that differ by a latency do not get in each other's way. The messages of a link keep the order of
// the steps when the real times are made.
//
// A change that costs more stays with a probability that falls with what it costs and with time (Metropolis
// 1953, Kirkpatrick 1983). A simulation ends early when it costs more than may stay. A short round comes
// first, then a long one, which begins with the best trees, hot, and cools down until the time is over.
//
// Complexity: O(steps * links + messages) a change.

#include "heuristics/exchange/annealed_trees.hpp"

#include "heuristics/exchange/sum_trees.hpp"

#include <algorithm>
#include <bit>
#include <queue>
#include <tuple>

namespace tutti::heuristics {
namespace {

constexpr std::uint64_t kFirstRound = 20'000;  ///< changes
constexpr double kHot = 1.5, kCold = 0.4;      ///< steps that a change may cost, about
constexpr std::uint32_t kAimBelow = 2;         ///< steps that the aim is below the best known
constexpr std::uint32_t kMostSteps = 1'000;
constexpr std::uint64_t kMostCells = std::uint64_t{1} << 20;  ///< of a table of trees and links
constexpr std::uint32_t kNone = UINT32_MAX;

/// A direction of an edge between two NPUs. The other direction has the number with the last bit changed.
struct Way {
    std::uint32_t from, to;
    HopId hop = {};
    std::uint32_t busy = 1, transit = 1;  ///< in steps
};

struct Plan {
    std::vector<std::vector<std::vector<std::uint32_t>>> ways;  ///< by tree and NPU: those that leave it
};

struct Started {
    std::uint32_t tree, way, step;
};

class Annealing {
  public:
    Annealing(const Exchanges& exchanges, std::uint64_t seed)
        : graph_(exchanges.graph()), instance_(exchanges.instance()), rng_(seed) {
        for (const Exchanges::Set& set : exchanges.sets()) {
            for (std::size_t i = 0; i < set.chunks.size(); ++i) {
                chunks_.push_back(set.chunks[i]);
                roots_.push_back(set.roots[i]);
            }
        }
        add_ways();
    }

    std::optional<Schedule> run(Ticks target, std::uint64_t messages, const Stop& stop) {
        if (ways_.empty() || chunks_.size() * ways_.size() > kMostCells || !begin()) return std::nullopt;
        const std::uint64_t all = 2 * chunks_.size() * (instance_.topology().npus() - 1);
        const std::uint64_t changes = std::max<std::uint64_t>(messages / all, 1);
        const std::uint64_t first = std::min(kFirstRound, changes);
        anneal(first, target, stop);
        if (changes > first) anneal(changes - first, target, stop);
        return schedule_of(instance_, best_moves_);
    }

  private:
    [[nodiscard]] Ticks busy(HopId hop) {
        graph_.hops().leg_times(hop, chunks_.front(), legs_);
        return legs_.front().busy;
    }

    /// Both directions of every edge, with steps of the shortest send.
    void add_ways() {
        Ticks step = Ticks::max();
        for (std::uint32_t u = 0; u < instance_.topology().npus(); ++u) {
            for (const NodeId next : graph_.next(NodeId(u))) {
                if (next.value() < u || !graph_.joins(next, NodeId(u))) continue;
                for (const auto& [a, b] : {std::pair(u, next.value()), std::pair(next.value(), u)}) {
                    ways_.push_back({a, b, graph_.between(NodeId(a), NodeId(b)).front()});
                    step = std::min(step, busy(ways_.back().hop));
                }
            }
        }
        const auto steps = [&](Ticks time) {
            return static_cast<std::uint32_t>(
                std::max<std::int64_t>(1, (time.count() + step.count() / 2) / step.count()));
        };
        for (Way& way : ways_) {
            way.busy = steps(busy(way.hop));
            way.transit = steps(graph_.transit(way.hop, chunks_.front()));
        }
    }

    /// Trees of shortest paths. False: they do not reach everybody, or take too many steps.
    bool begin() {
        const std::size_t npus = instance_.topology().npus();
        std::vector<std::vector<std::uint32_t>> leaving(npus);
        for (std::uint32_t way = 0; way < ways_.size(); ++way) leaving[ways_[way].from].push_back(way);
        for (const NodeId root : roots_) {
            auto& tree = plan_.ways.emplace_back(npus);
            using Entry = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t>;
            std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
            std::vector<bool> reached(npus);
            open.emplace(0, root.value(), kNone);
            std::size_t count = 0;
            while (!open.empty()) {
                const auto [time, node, by] = open.top();
                open.pop();
                if (reached[node]) continue;
                reached[node] = true;
                ++count;
                if (by != kNone) link(tree, by);
                for (const std::uint32_t way : leaving[node])
                    open.emplace(time + 8 * ways_[way].transit + rng_.below(4), ways_[way].to, way);
            }
            if (count != npus) return false;
        }
        tails_.assign(plan_.ways.size() * ways_.size(), 0);
        for (std::size_t tree = 0; tree < plan_.ways.size(); ++tree) set_tails(tree);
        aim_ = kMostSteps;
        const std::uint64_t cost = simulate(UINT64_MAX);
        if (cost == UINT64_MAX) return false;
        keep();
        return true;
    }

    static void unlink_way(std::vector<std::uint32_t>& ways, std::uint32_t way) {
        ways.erase(std::ranges::find(ways, way));
    }
    void link(std::vector<std::vector<std::uint32_t>>& tree, std::uint32_t way) {
        tree[ways_[way].from].push_back(way);
        tree[ways_[way].to].push_back(way ^ 1U);
    }
    void unlink(std::vector<std::vector<std::uint32_t>>& tree, std::uint32_t way) {
        unlink_way(tree[ways_[way].from], way);
        unlink_way(tree[ways_[way].to], way ^ 1U);
    }

    /// The longest chain of messages from each on.
    void set_tails(std::size_t tree) {
        const auto& ways = plan_.ways[tree];
        for (const auto& leaving : ways) {
            for (const std::uint32_t way : leaving) tails_[tree * ways_.size() + way] = 0;
        }
        for (const auto& leaving : ways) {
            if (leaving.size() == 1) (void)tail(tree, leaving.front());
        }
    }
    std::uint32_t tail(std::size_t tree, std::uint32_t way) {
        std::uint32_t& known = tails_[tree * ways_.size() + way];
        if (known > 0) return known;
        std::uint32_t longest = 0;
        for (const std::uint32_t next : plan_.ways[tree][ways_[way].to]) {
            if (next != (way ^ 1U)) longest = std::max(longest, tail(tree, next));
        }
        return known = longest + ways_[way].transit;
    }

    /// By how many steps the messages arrive after the aim; UINT64_MAX: by more than `limit`. Each link takes
    /// the message with the longest tail. Sets steps_ and started_.
    std::uint64_t simulate(std::uint64_t limit) {
        const std::size_t trees = plan_.ways.size();
        waiting_.resize(ways_.size());
        for (auto& waiting : waiting_) waiting.clear();
        free_.assign(ways_.size(), 0);
        missing_.resize(trees * ways_.size());
        for (auto& arrivals : arriving_) arrivals.clear();
        started_.clear();
        std::size_t left = 0;
        for (std::uint32_t tree = 0; tree < trees; ++tree) {
            for (const auto& leaving : plan_.ways[tree]) {
                left += leaving.size();
                for (const std::uint32_t way : leaving)
                    missing_[tree * ways_.size() + way] = static_cast<std::uint32_t>(leaving.size() - 1);
                if (leaving.size() == 1) waiting_[leaving.front()].push_back(tree);
            }
        }
        std::uint64_t cost = 0;
        steps_ = 0;
        for (std::uint32_t step = 0; left > 0; ++step) {
            if (step >= kMostSteps) return UINT64_MAX;
            if (step < arriving_.size()) {
                for (const auto& [tree, way] : arriving_[step]) {
                    --left;
                    steps_ = step;
                    if (step > aim_) cost += step - aim_;
                    for (const std::uint32_t next : plan_.ways[tree][ways_[way].to]) {
                        if (next != (way ^ 1U) && --missing_[tree * ways_.size() + next] == 0)
                            waiting_[next].push_back(tree);
                    }
                }
                // Whatever has not arrived will cost at least one step more.
                if (step >= aim_ && (cost > limit || left > limit - cost)) return UINT64_MAX;
            }
            for (std::uint32_t way = 0; way < ways_.size(); ++way) {
                if (waiting_[way].empty() || free_[way] > step) continue;
                start(way, step);
            }
        }
        return cost;
    }
    void start(std::uint32_t way, std::uint32_t step) {
        auto& waiting = waiting_[way];
        std::size_t best = 0;
        for (std::size_t i = 1; i < waiting.size(); ++i) {
            const std::uint32_t a = tails_[waiting[i] * ways_.size() + way];
            const std::uint32_t b = tails_[waiting[best] * ways_.size() + way];
            if (a > b || (a == b && waiting[i] < waiting[best])) best = i;
        }
        const std::uint32_t tree = waiting[best];
        waiting[best] = waiting.back();
        waiting.pop_back();
        free_[way] = step + ways_[way].busy;
        const std::uint32_t arrival = step + ways_[way].transit;
        if (arrival >= arriving_.size()) arriving_.resize(arrival + 1);
        arriving_[arrival].push_back({tree, way});
        started_.push_back({tree, way, step});
    }

    struct Changed {
        std::uint32_t added = kNone, removed = kNone;  ///< ways
    };
    void undo(std::size_t tree, const Changed& changed) {
        unlink(plan_.ways[tree], changed.added);
        link(plan_.ways[tree], changed.removed);
    }
    /// Another edge for one of some tree's.
    Changed change(std::size_t number) {
        auto& tree = plan_.ways[number];
        for (;;) {
            const auto way = static_cast<std::uint32_t>(rng_.below(ways_.size()));
            const std::uint32_t from = ways_[way].from, to = ways_[way].to;
            if (std::ranges::find(tree[from], way) != tree[from].end()) continue;
            if (rng_.below(ways_[way].busy) > 0) continue;  // slow links seldom
            by_.assign(tree.size(), kNone);
            stack_.assign(1, from);
            while (!stack_.empty() && by_[to] == kNone) {
                const std::uint32_t node = stack_.back();
                stack_.pop_back();
                for (const std::uint32_t next : tree[node]) {
                    const std::uint32_t there = ways_[next].to;
                    if (there == from || by_[there] != kNone) continue;
                    by_[there] = next;
                    stack_.push_back(there);
                }
            }
            stack_.clear();
            for (std::uint32_t node = to; node != from; node = ways_[by_[node]].from)
                stack_.push_back(by_[node]);
            const std::uint32_t old = stack_[rng_.below(stack_.size())];
            link(tree, way);
            unlink(tree, old);
            return {way, old};
        }
    }

    void anneal(std::uint64_t changes, Ticks target, const Stop& stop) {
        if (ways_.size() / 2 < instance_.topology().npus()) return;  // a tree has no other edges
        plan_ = best_plan_;
        for (std::size_t tree = 0; tree < plan_.ways.size(); ++tree) set_tails(tree);
        std::uint64_t cost = simulate(UINT64_MAX);
        const auto time = stop.remaining();
        double done = 0;
        for (std::uint64_t i = 0; i < changes && done < 1 && best_time_ > target; ++i) {
            if (i % 64 == 0) {
                if (stop.requested()) return;
                done = static_cast<double>(i) / static_cast<double>(changes);
                if (time) done = std::max(done, 1 - *stop.remaining() / *time);
            }
            const double heat = kCold + (kHot - kCold) * (1 - done) * (1 - done);
            const std::uint64_t limit = cost + static_cast<std::uint64_t>(heat * luck());
            const std::size_t tree = rng_.below(plan_.ways.size());
            Changed first = change(tree), second;
            if (rng_.below(4) == 0) second = change(tree);
            set_tails(tree);
            const std::uint64_t now = simulate(limit);
            if (now > limit) {
                if (second.added != kNone) undo(tree, second);
                undo(tree, first);
                set_tails(tree);
                continue;
            }
            cost = now;
            if (steps_ >= best_steps_) continue;
            keep();
            cost = simulate(UINT64_MAX);
        }
    }
    /// About exponentially distributed: one more for every coin that shows heads.
    double luck() {
        const int heads = std::countr_zero(rng_.next() | (std::uint64_t{1} << 40U));
        return 0.7 * (heads + static_cast<double>(rng_.below(1024)) / 1024);
    }

    /// Takes the plan with the order of its messages as the best one. Its real times may still be longer.
    void keep() {
        best_plan_ = plan_;
        best_steps_ = steps_;
        aim_ = steps_ - std::min(steps_, kAimBelow);
        std::vector<Ticks> free(ways_.size());
        std::vector<Ticks> arrival(plan_.ways.size() * ways_.size(), Ticks::max());
        std::vector<Move> moves;
        Ticks end;
        // They start in order of steps, so all that one waits for comes before it.
        for (const auto& [tree, way, step] : started_) {
            Ticks start = free[way];
            for (const std::uint32_t other : plan_.ways[tree][ways_[way].from]) {
                if (other != way) start = std::max(start, arrival[tree * ways_.size() + (other ^ 1U)]);
            }
            const HopId hop = ways_[way].hop;
            free[way] = start + busy(hop);
            arrival[tree * ways_.size() + way] = start + graph_.transit(hop, chunks_[tree]);
            end = std::max(end, arrival[tree * ways_.size() + way]);
            moves.push_back({&graph_.hops(), {hop, chunks_[tree], start}});
        }
        // What starts when the message of the other direction is there carries the whole sum.
        for (std::size_t i = 0; i < moves.size(); ++i) {
            const Ticks other = arrival[started_[i].tree * ways_.size() + (started_[i].way ^ 1U)];
            moves[i].op = other <= moves[i].transfer.start ? Op::Copy : Op::Reduce;
        }
        if (end >= best_time_) return;
        best_time_ = end;
        best_moves_ = std::move(moves);
    }

    const MessageGraph& graph_;
    const Instance& instance_;
    Rng rng_;
    std::vector<ChunkId> chunks_;
    std::vector<NodeId> roots_;
    std::vector<Way> ways_;
    Plan plan_, best_plan_;
    std::vector<std::uint32_t> tails_, missing_, free_, by_, stack_;
    std::vector<std::vector<std::uint32_t>> waiting_;                             ///< by way: trees
    std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> arriving_;  ///< by step: tree and way
    std::vector<Started> started_;
    std::uint32_t steps_ = 0, best_steps_ = 0, aim_ = 0;
    std::vector<LegTime> legs_;
    std::vector<Move> best_moves_;
    Ticks best_time_ = Ticks::max();
};

}  // namespace

std::string why_no_annealed_trees(const Instance& instance) {
    if (const std::string why = why_no_sum_trees(instance); !why.empty()) return why;
    const Topology& topology = instance.topology();
    if (topology.switches() > 0) return "the network has switches";
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        const Demand demand = instance.demand(ChunkId(c));
        if (!demand.reduction || demand.holders.size() != topology.npus() ||
            demand.receivers.size() != topology.npus())
            return "a chunk is not for all NPUs, or no sum of theirs";
        if (demand.bytes != instance.demand(ChunkId(0)).bytes) return "the chunks have different sizes";
        if (instance.last_release(ChunkId(c)) > Ticks(0)) return "something is released later";
    }
    return {};
}

std::optional<Schedule> anneal_exchange(const Exchanges& exchanges, Ticks target, std::uint64_t seed,
                                        std::uint64_t messages, const Stop& stop) {
    if (!why_no_annealed_trees(exchanges.instance()).empty()) return std::nullopt;
    return Annealing(exchanges, seed).run(target, messages, stop);
}

}  // namespace tutti::heuristics

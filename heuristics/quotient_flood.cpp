// One tree for each representative chunk, such that no orbit of links is booked twice at once (greedy.md,
// section 5, told the idea). A flood is decoded from priorities: whenever a machine is free it takes, of all
// places next to one that has the chunk and that nobody has claimed yet, the one with the highest priority
// for that machine. A decoding costs 0.3 us per transfer, and there are only as many transfers as NPUs, so
// thousands can be tried:
//
// 1. Starts. First in, first out; random; farthest from the root first, which lets a slow machine open new
// parts
//    of the network instead of filling those that faster ones fill anyway; longest way to go first; and
//    mixtures of these with chance. Faster machines choose before slower ones (sometimes the reverse).
// 2. Search. With the best priorities so far: no machine may start what would arrive after (best - 1); count
//    the places left over. Change a few priorities at random, keep the change if no more are left over, and
//    when none is, there is a better flood. Priorities instead of a schedule as the thing to change: every
//    change gives a feasible schedule without idle machines, so there is nothing to repair.
//
// Measured (1 MiB, 0.5 us, busy alpha+beta; bound): torus 4x4x8 of 200, 100 and 50 GiB/s 195.05 us (195.05)
// in 10 ms, with four chunks 764.36 (764.36) at once; torus 8x8 of 50 and 25 GiB/s 435.19 and 1682.62, both
// the bound; ring 2 x full 8 x one-way ring 8 164.25 (155.9) at once, with four chunks 582.8 (560.9) in 3 s.
// Random priorities alone gave 200.31, 764.36, 435.19, 1701.19, 220.84 and 722.12 in 200 tries.
//
// Arrivals over one machine come in the order of their starts, so there is no queue of events: the next event
// is the least of two numbers per machine.

#include "heuristics/quotient_flood.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <span>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
/// Priorities that may be held.
constexpr std::size_t kMaxKeys = std::size_t{1} << 26;

class Decoder {
  public:
    Decoder(const QuotientNetwork& network, const std::vector<std::uint32_t>& roots)
        : network_(network),
          roots_(roots),
          places_(network.places()),
          machines_(network.machines.size()),
          leaving_(network.orbits),
          claimed_(roots.size() * places_, 0) {
        for (std::uint32_t m = 0; m < machines_.size(); ++m) {
            leaving_[network.machines[m].tails].push_back(m);
            machines_[m].transit = network.machines[m].transit.count();
            machines_[m].busy = network.machines[m].busy.count();
        }
        order_.resize(machines_.size());
    }

    [[nodiscard]] std::size_t keys() const { return machines_.size() * claimed_.size(); }
    [[nodiscard]] std::size_t transfers() const { return claimed_.size(); }

    /// Decodes; an empty span of priorities means first in, first out. Nothing arrives after `deadline`.
    /// Returns how many places are left over.
    std::size_t run(std::span<const std::uint32_t> keys, bool slow_first, std::int64_t deadline);

    [[nodiscard]] std::int64_t makespan() const { return makespan_; }
    /// Of the last run.
    [[nodiscard]] QuotientFlood flood() const;

  private:
    struct Candidate {
        std::uint32_t key, spread, tail;
    };
    struct Move {
        std::uint32_t spread, tail, head;
        std::int64_t start;
    };
    struct Machine {
        std::int64_t transit = 0, busy = 0, free_at = 0;
        std::vector<Candidate> frontier;  ///< a heap by key, or a queue from `first`
        std::size_t first = 0;
        std::vector<Move> moves;
        std::size_t arrived = 0;
    };
    static bool lower(const Candidate& a, const Candidate& b) { return a.key < b.key; }

    void arrive(std::uint32_t spread, std::uint32_t place, std::span<const std::uint32_t> keys);
    bool serve(std::uint32_t m, std::int64_t now, bool queue);

    const QuotientNetwork& network_;
    const std::vector<std::uint32_t>& roots_;
    const std::size_t places_;
    std::vector<Machine> machines_;
    std::vector<std::vector<std::uint32_t>> leaving_;  ///< machines by orbit
    std::vector<std::uint32_t> claimed_;               ///< the round in which it was
    std::vector<std::uint32_t> order_;
    std::uint32_t round_ = 0;
    std::int64_t makespan_ = 0;
};

void Decoder::arrive(std::uint32_t spread, std::uint32_t place, std::span<const std::uint32_t> keys) {
    const std::uint32_t element = place % network_.group;
    for (const std::uint32_t m : leaving_[place / network_.group]) {
        const std::size_t at = spread * places_ + network_.machines[m].heads[element];
        if (claimed_[at] == round_) continue;
        auto& frontier = machines_[m].frontier;
        frontier.push_back({keys.empty() ? 0 : keys[m * claimed_.size() + at], spread, place});
        if (!keys.empty()) std::push_heap(frontier.begin(), frontier.end(), lower);
    }
}

bool Decoder::serve(std::uint32_t m, std::int64_t now, bool queue) {
    Machine& machine = machines_[m];
    auto& frontier = machine.frontier;
    while (machine.first < frontier.size()) {
        Candidate candidate = frontier[machine.first];
        if (queue) {
            ++machine.first;
        } else {
            std::pop_heap(frontier.begin(), frontier.end(), lower);
            candidate = frontier.back();
            frontier.pop_back();
        }
        const std::uint32_t head = network_.machines[m].heads[candidate.tail % network_.group];
        std::uint32_t& claim = claimed_[candidate.spread * places_ + head];
        if (claim == round_) continue;
        claim = round_;
        machine.moves.push_back({candidate.spread, candidate.tail, head, now});
        machine.free_at = now + machine.busy;
        makespan_ = std::max(makespan_, now + machine.transit);
        return true;
    }
    return false;
}

std::size_t Decoder::run(std::span<const std::uint32_t> keys, bool slow_first, std::int64_t deadline) {
    ++round_;
    makespan_ = 0;
    for (Machine& machine : machines_) {
        machine.free_at = 0;
        machine.frontier.clear();
        machine.moves.clear();
        machine.first = machine.arrived = 0;
    }
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::stable_sort(order_, [&](std::uint32_t a, std::uint32_t b) {
        return slow_first ? machines_[a].busy > machines_[b].busy : machines_[a].busy < machines_[b].busy;
    });
    const bool queue = keys.empty();
    std::size_t left = claimed_.size() - roots_.size();
    for (std::uint32_t s = 0; s < roots_.size(); ++s) claimed_[s * places_ + roots_[s]] = round_;
    for (std::uint32_t s = 0; s < roots_.size(); ++s) arrive(s, roots_[s], keys);
    for (std::int64_t now = 0; left > 0;) {
        // Among equally fast machines the one with the fewest candidates chooses first.
        if (queue) {
            for (std::size_t i = 1; i < order_.size(); ++i) {
                const auto waiting = [&](std::size_t k) {
                    const Machine& machine = machines_[order_[k]];
                    return machine.frontier.size() - machine.first;
                };
                for (std::size_t k = i; k > 0 && machines_[order_[k]].busy == machines_[order_[k - 1]].busy &&
                                        waiting(k) < waiting(k - 1);
                     --k)
                    std::swap(order_[k], order_[k - 1]);
            }
        }
        for (const std::uint32_t m : order_) {
            const Machine& machine = machines_[m];
            if (machine.free_at > now || machine.first == machine.frontier.size()) continue;
            if (machine.transit > deadline - now) continue;
            if (serve(m, now, queue)) --left;
        }
        std::int64_t next = kNever;
        for (const Machine& machine : machines_) {
            if (machine.free_at > now) next = std::min(next, machine.free_at);
            if (machine.arrived < machine.moves.size())
                next = std::min(next, machine.moves[machine.arrived].start + machine.transit);
        }
        if (next == kNever) break;
        now = next;
        for (Machine& machine : machines_) {
            for (; machine.arrived < machine.moves.size() &&
                   machine.moves[machine.arrived].start + machine.transit == now;
                 ++machine.arrived) {
                const Move& move = machine.moves[machine.arrived];
                arrive(move.spread, move.head, keys);
            }
        }
    }
    return left;
}

QuotientFlood Decoder::flood() const {
    QuotientFlood result{Ticks(makespan_), {}};
    for (std::uint32_t m = 0; m < machines_.size(); ++m) {
        for (const Move& move : machines_[m].moves)
            result.transfers.push_back({move.spread, m, move.tail, Ticks(move.start)});
    }
    std::ranges::stable_sort(result.transfers, {}, &QuotientTransfer::start);
    return result;
}

/// How far each place is from a root, and how much further the ways over it lead.
struct Distances {
    std::vector<std::int64_t> from_root, beyond;
};

Distances distances(const QuotientNetwork& network, const std::vector<std::vector<std::uint32_t>>& leaving,
                    std::uint32_t root) {
    Distances result{std::vector<std::int64_t>(network.places(), kNever),
                     std::vector<std::int64_t>(network.places(), 0)};
    using Entry = std::pair<std::int64_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<std::uint32_t> settled;
    const auto each_out = [&](std::uint32_t place, auto&& visit) {
        for (const std::uint32_t m : leaving[place / network.group]) {
            const auto& machine = network.machines[m];
            visit(machine.heads[place % network.group], machine.transit.count());
        }
    };
    result.from_root[root] = 0;
    queue.emplace(0, root);
    while (!queue.empty()) {
        const auto [distance, place] = queue.top();
        queue.pop();
        if (distance != result.from_root[place]) continue;
        settled.push_back(place);
        each_out(place, [&](std::uint32_t head, std::int64_t transit) {
            if (distance + transit >= result.from_root[head]) return;
            result.from_root[head] = distance + transit;
            queue.emplace(distance + transit, head);
        });
    }
    for (auto place = settled.rbegin(); place != settled.rend(); ++place) {
        each_out(*place, [&](std::uint32_t head, std::int64_t transit) {
            if (result.from_root[head] != result.from_root[*place] + transit) return;
            result.beyond[*place] = std::max(result.beyond[*place], result.beyond[head] + transit);
        });
    }
    return result;
}

enum class Bias { None, Far, Long };
struct Start {
    Bias bias;
    std::uint32_t weight;  ///< of the bias against chance, out of 8
    bool slow_first;
};
constexpr std::array<Start, 10> kStarts{{{Bias::None, 0, false},
                                         {Bias::Far, 8, false},
                                         {Bias::Long, 8, false},
                                         {Bias::Far, 4, false},
                                         {Bias::Long, 2, false},
                                         {Bias::None, 0, true},
                                         {Bias::Far, 7, false},
                                         {Bias::Long, 4, false},
                                         {Bias::Far, 6, true},
                                         {Bias::Long, 1, false}}};

class Search {
  public:
    Search(const QuotientNetwork& network, const std::vector<std::uint32_t>& roots, Ticks target,
           std::uint64_t effort, Rng& rng, const Stop& stop)
        : network_(network),
          roots_(roots),
          target_(target.count()),
          decoder_(network, roots),
          tries_(std::max<std::uint64_t>(effort / std::max<std::size_t>(decoder_.transfers(), 1), 2)),
          rng_(rng),
          stop_(stop) {}

    std::optional<QuotientFlood> run() {
        if (stop_.requested() || decoder_.run({}, false, kNever) > 0) return std::nullopt;
        keep();
        if (decoder_.keys() <= kMaxKeys) {
            start();
            improve();
        }
        return std::move(best_);
    }

  private:
    [[nodiscard]] bool done() {
        return best_->makespan.count() <= target_ || tries_ == 0 ||
               ((++polls_ % 64 == 0 || decoder_.transfers() > 4096) && stop_.requested());
    }
    void keep() { best_ = decoder_.flood(); }

    void start() {
        // A spread's bias comes from its root; chunks of one root share it.
        std::vector<std::vector<std::uint32_t>> leaving(network_.orbits);
        for (std::uint32_t m = 0; m < network_.machines.size(); ++m)
            leaving[network_.machines[m].tails].push_back(m);
        std::vector<Distances> of_root;
        keys_.resize(decoder_.keys());
        const std::uint64_t starts = std::max<std::uint64_t>(tries_ / 4, 1);
        for (std::uint64_t i = 0; i < starts && !done(); ++i, --tries_) {
            const Start& how = kStarts[i % kStarts.size()];
            if (how.bias != Bias::None && of_root.empty()) {
                for (std::size_t s = 0; s < roots_.size(); ++s) {
                    const auto same =
                        std::find(roots_.begin(), roots_.begin() + static_cast<std::ptrdiff_t>(s), roots_[s]);
                    const auto known = static_cast<std::size_t>(same - roots_.begin());
                    of_root.push_back(known < s ? of_root[known] : distances(network_, leaving, roots_[s]));
                }
            }
            draw(how, of_root);
            if (decoder_.run(keys_, how.slow_first, best_->makespan.count() - 1) > 0) continue;
            keep();
            best_keys_ = keys_;
            slow_first_ = how.slow_first;
        }
    }

    void draw(const Start& how, const std::vector<Distances>& of_root) {
        constexpr std::uint64_t kFull = std::uint64_t{1} << 28;
        std::size_t i = 0;
        for (std::size_t m = 0; m < network_.machines.size(); ++m) {
            for (std::size_t s = 0; s < roots_.size(); ++s) {
                const std::vector<std::int64_t>* bias = nullptr;
                if (how.bias == Bias::Far) bias = &of_root[s].from_root;
                if (how.bias == Bias::Long) bias = &of_root[s].beyond;
                const auto most = bias != nullptr ? static_cast<std::uint64_t>(std::ranges::max(*bias)) : 1;
                // In units that keep products within 64 bits.
                const std::uint64_t unit = most / kFull + 1;
                for (std::size_t p = 0; p < network_.places(); ++p, ++i) {
                    std::uint64_t key = (8 - how.weight) * rng_.below(kFull / 8);
                    if (bias != nullptr && most > 0)
                        key += how.weight *
                               (static_cast<std::uint64_t>((*bias)[p]) / unit * (kFull / 8) / (most / unit));
                    // Ties are broken by chance.
                    keys_[i] = static_cast<std::uint32_t>(key * 8 + rng_.below(8));
                }
            }
        }
    }

    void improve() {
        if (best_keys_.empty()) {
            draw(kStarts[0], {});
            best_keys_ = keys_;
        }
        if (done()) return;
        keys_ = best_keys_;
        std::size_t left = decoder_.run(keys_, slow_first_, best_->makespan.count() - 1);
        std::vector<std::pair<std::size_t, std::uint32_t>> before;
        for (; !done(); --tries_) {
            before.clear();
            for (std::uint64_t changes = 1 + rng_.below(4); changes > 0; --changes) {
                const std::size_t i = rng_.below(keys_.size());
                before.emplace_back(i, keys_[i]);
                keys_[i] = static_cast<std::uint32_t>(rng_.next() >> 33);
            }
            const std::size_t now = decoder_.run(keys_, slow_first_, best_->makespan.count() - 1);
            if (now <= left) {
                left = now;
                while (left == 0 && best_->makespan.count() > target_) {
                    keep();
                    left = decoder_.run(keys_, slow_first_, best_->makespan.count() - 1);
                }
            } else {
                for (auto change = before.rbegin(); change != before.rend(); ++change)
                    keys_[change->first] = change->second;
            }
        }
    }

    const QuotientNetwork& network_;
    const std::vector<std::uint32_t>& roots_;
    const std::int64_t target_;
    Decoder decoder_;
    std::uint64_t tries_;
    Rng& rng_;
    const Stop& stop_;
    std::uint64_t polls_ = 0;
    std::optional<QuotientFlood> best_;
    std::vector<std::uint32_t> keys_, best_keys_;
    bool slow_first_ = false;
};

}  // namespace

std::optional<QuotientFlood> quotient_flood(const QuotientNetwork& network,
                                            const std::vector<std::uint32_t>& roots, Ticks target,
                                            std::uint64_t effort, Rng& rng, const Stop& stop) {
    return Search(network, roots, target, effort, rng, stop).run();
}

}  // namespace tutti::heuristics

// One tree for each representative chunk, such that no orbit of links is booked twice at once. A flood is
// decoded from priorities (quotient_decoder), and there are only as many transfers as NPUs, so thousands can
// be tried:
//
// 1. Starts. First in, first out; random; farthest from the root first, which lets a slow machine reach new
//    parts of the network instead of those that faster ones serve anyway; longest remaining path first;
//    mixtures of these with random numbers. Faster machines choose before slower ones, sometimes the reverse.
//    In some starts a machine first takes transfers into a new part of the network: one in which no place
//    joined with the head by faster machines has claimed the chunk.
// 2. QuotientSearch. With the best priorities so far: no machine may start what would arrive after (best -
// 1);
//    count the places that are not reached. Change a few priorities at random, keep the change if the number
//    does not grow; at zero there is a better flood. The search changes priorities, not a schedule: every
//    change gives a schedule without conflicts or idle machines, so there is nothing to repair.
//
// Measured (all-gather of 1 MiB, 0.5 us, busy alpha+beta; in brackets the bound): torus 4x4x8 of 200, 100 and
// 50 GiB/s 195.05 us (195.05), with four chunks 764.36 (764.36), torus 8x8 of 50 and 25 GiB/s 435.19 and
// 1682.62 (both the bound), all within 2 ms; ring 2 x full 8 x one-way ring 8 164.25 (161.25) in 3 ms, with
// four chunks 585.4 (560.9) in 10 ms and 581.9 in 2 s. 200 starts of random priorities alone gave 200.31,
// 764.36, 435.19, 1701.19, 220.84 and 722.12; farthest first alone 644 on the last. The networks are
// vertex-transitive, so "longest remaining path" has little effect there; it is kept for those with several
// orbits.

#include "heuristics/symmetry/quotient_flood.hpp"

#include "heuristics/symmetry/quotient_decoder.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <queue>

namespace tutti::heuristics {
namespace {

/// The most priorities in memory.
constexpr std::size_t kMaxKeys = std::size_t{1} << 26;

/// The distance of each place from a root, and the longest remaining path over it.
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
    Style style;
};
constexpr Style kSlowFirst{true, false}, kFreshFirst{false, true};
constexpr std::array<Start, 14> kStarts{{{Bias::None, 0, {}},
                                         {Bias::Far, 8, {}},
                                         {Bias::Far, 8, kFreshFirst},
                                         {Bias::Long, 8, {}},
                                         {Bias::None, 0, kFreshFirst},
                                         {Bias::Far, 4, {}},
                                         {Bias::Long, 2, {}},
                                         {Bias::Far, 4, kFreshFirst},
                                         {Bias::None, 0, kSlowFirst},
                                         {Bias::Far, 7, {}},
                                         {Bias::Long, 4, kFreshFirst},
                                         {Bias::Long, 4, {}},
                                         {Bias::Far, 6, kSlowFirst},
                                         {Bias::Long, 1, {}}}};

class QuotientSearch {
  public:
    QuotientSearch(const QuotientNetwork& network, const std::vector<std::uint32_t>& roots, Ticks target,
                   std::uint64_t effort, Rng& rng, const Stop& stop)
        : network_(network),
          roots_(roots),
          target_(target.count()),
          decoder_(network, roots),
          tries_(std::max<std::uint64_t>(effort / std::max<std::size_t>(decoder_.transfers(), 1), 2)),
          rng_(rng),
          stop_(stop) {}

    std::optional<QuotientFlood> run() {
        if (stop_.requested() || decoder_.run({}, {}, kNever) > 0) return std::nullopt;
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
            if (decoder_.run(keys_, how.style, best_->makespan.count() - 1) > 0) continue;
            keep();
            best_keys_ = keys_;
            style_ = how.style;
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
                    // Ties are broken at random.
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
        std::size_t left = decoder_.run(keys_, style_, best_->makespan.count() - 1);
        std::vector<std::pair<std::size_t, std::uint32_t>> before;
        for (; !done(); --tries_) {
            before.clear();
            for (std::uint64_t changes = 1 + rng_.below(4); changes > 0; --changes) {
                const std::size_t i = rng_.below(keys_.size());
                before.emplace_back(i, keys_[i]);
                keys_[i] = static_cast<std::uint32_t>(rng_.next() >> 33);
            }
            const std::size_t now = decoder_.run(keys_, style_, best_->makespan.count() - 1);
            if (now <= left) {
                left = now;
                while (left == 0 && best_->makespan.count() > target_) {
                    keep();
                    left = decoder_.run(keys_, style_, best_->makespan.count() - 1);
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
    Style style_;
};

}  // namespace

std::optional<QuotientFlood> quotient_flood(const QuotientNetwork& network,
                                            const std::vector<std::uint32_t>& roots, Ticks target,
                                            std::uint64_t effort, Rng& rng, const Stop& stop) {
    return QuotientSearch(network, roots, target, effort, rng, stop).run();
}

}  // namespace tutti::heuristics

// The busiest machine bounds the makespan, so the paths are chosen to balance the loads of the machines.
// Several shortest-path trees, at prices that rise with the load of the earlier trees, give each job a few
// candidate paths. Jobs with one candidate are fixed first; the others take, one by one and again in further
// rounds, the cheapest path at the current loads. The two directions to the opposite NPU of a ring are such a
// choice: deciding it immediately instead of last would cost a quarter.
//
// Prices are doubles, but only combined by sums, products and quotients, which give the same result on every
// machine.

#include "heuristics/symmetry/quotient_paths.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>

namespace tutti::heuristics {
namespace {

constexpr std::uint32_t kNoPath = ~0U;
/// Shortest-path trees from which paths are taken.
constexpr std::size_t kTrees = 12;
/// The most hops of all jobs together: larger problems are left to other heuristics.
constexpr std::uint64_t kMostHops = std::uint64_t{1} << 26;

class BalancedPaths {
  public:
    BalancedPaths(const QuotientNetwork& network, const std::vector<QuotientJob>& jobs, Rng& rng)
        : network_(network),
          jobs_(jobs),
          rng_(rng),
          leaving_(network.orbits),
          load_(network.machines.size(), 0) {
        for (std::uint32_t m = 0; m < network.machines.size(); ++m)
            leaving_[network.machines[m].tails].push_back(m);
    }

    /// One path for each job. None: a job has none, or there are too many hops.
    std::optional<std::vector<JobPath>> choose(const Stop& stop) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> by_origin;
        for (std::uint32_t j = 0; j < jobs_.size(); ++j) by_origin[jobs_[j].from].push_back(j);
        choices_.resize(jobs_.size());
        for (std::size_t t = 0; t < kTrees; ++t) {
            const auto lengths = this->lengths();
            std::uint64_t hops = 0;
            for (const auto& [origin, own] : by_origin) {
                if (stop.requested()) return std::nullopt;
                grow_tree(origin, lengths);
                for (const std::uint32_t j : own) {
                    if (jobs_[j].to != origin && parent_[jobs_[j].to] == kNoPath) return std::nullopt;
                    JobPath path = path_to(origin, jobs_[j].to);
                    for (const Run& run : path) {
                        load_[run.machine] += static_cast<double>(run.count) * busy(run.machine);
                        hops += run.count;
                    }
                    auto& known = choices_[j];
                    if (std::ranges::find(known, path) == known.end()) known.push_back(std::move(path));
                }
            }
            if (hops > kMostHops) return std::nullopt;
        }
        return settle();
    }

  private:
    [[nodiscard]] double busy(std::uint32_t machine) const {
        return static_cast<double>(network_.machines[machine].busy.count());
    }

    /// The price of a hop over each machine: its time, and far more where the trees so far have put most
    /// load.
    std::vector<double> lengths() {
        double most = 0;
        for (const double load : load_) most = std::max(most, load);
        std::vector<double> lengths;
        for (std::uint32_t m = 0; m < load_.size(); ++m) {
            const double part = most > 0 ? load_[m] / most : 1;
            const double cube = part * part * part;
            const double chance = 1 + static_cast<double>(rng_.below(1024)) / 65536;
            lengths.push_back(busy(m) * (0.05 + cube * cube) * chance);
        }
        return lengths;
    }

    void grow_tree(std::uint32_t origin, const std::vector<double>& lengths) {
        distance_.assign(network_.places(), std::numeric_limits<double>::infinity());
        parent_.assign(network_.places(), kNoPath);
        over_.assign(network_.places(), kNoPath);
        using Entry = std::pair<double, std::uint32_t>;
        std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
        distance_[origin] = 0;
        queue.emplace(0.0, origin);
        while (!queue.empty()) {
            const auto [distance, place] = queue.top();
            queue.pop();
            if (distance > distance_[place]) continue;
            for (const std::uint32_t m : leaving_[place / network_.group]) {
                const std::uint32_t head = network_.machines[m].heads[place % network_.group];
                if (distance + lengths[m] >= distance_[head]) continue;
                distance_[head] = distance + lengths[m];
                parent_[head] = place;
                over_[head] = m;
                queue.emplace(distance_[head], head);
            }
        }
    }

    [[nodiscard]] JobPath path_to(std::uint32_t origin, std::uint32_t to) const {
        JobPath path;
        for (std::uint32_t place = to; place != origin; place = parent_[place]) {
            if (path.empty() || path.back().machine != over_[place]) path.push_back({over_[place], 0});
            ++path.back().count;
        }
        std::ranges::reverse(path);
        if (network_.orbits > 1) return path;
        // The order does not matter: one run for each machine.
        std::ranges::sort(path);
        JobPath merged;
        for (const Run& run : path) {
            if (merged.empty() || merged.back().machine != run.machine) {
                merged.push_back(run);
            } else {
                merged.back().count += run.count;
            }
        }
        return merged;
    }

    /// How much more expensive the machines get by taking the way, where expensive is what is loaded.
    [[nodiscard]] double cost(const JobPath& path) const {
        double sum = 0;
        for (const Run& run : path) {
            const double work = static_cast<double>(run.count) * busy(run.machine);
            const double after = (load_[run.machine] + work) / scale_;
            sum += work / scale_ * (after * after * after + 1e-6);
        }
        return sum;
    }
    void put(const JobPath& path, double sign) {
        for (const Run& run : path)
            load_[run.machine] += sign * static_cast<double>(run.count) * busy(run.machine);
    }

    std::vector<JobPath> settle() {
        scale_ = 1;
        for (const double load : load_) scale_ = std::max(scale_, load / static_cast<double>(kTrees));
        std::ranges::fill(load_, 0.0);
        std::vector<std::uint32_t> order(jobs_.size());
        for (std::uint32_t j = 0; j < order.size(); ++j) order[j] = j;
        std::ranges::stable_sort(order, {}, [&](std::uint32_t j) { return choices_[j].size(); });
        std::vector<std::size_t> chosen(jobs_.size(), 0);
        for (int round = 0; round < 3; ++round) {
            for (const std::uint32_t j : order) {
                const auto& choices = choices_[j];
                if (round > 0) put(choices[chosen[j]], -1);
                std::size_t best = 0;
                double least = cost(choices[0]);
                for (std::size_t i = 1; i < choices.size(); ++i) {
                    const double c = cost(choices[i]);
                    if (c < least) {
                        least = c;
                        best = i;
                    }
                }
                chosen[j] = best;
                put(choices[best], 1);
            }
        }
        std::vector<JobPath> paths;
        for (std::size_t j = 0; j < jobs_.size(); ++j) paths.push_back(std::move(choices_[j][chosen[j]]));
        return paths;
    }

    const QuotientNetwork& network_;
    const std::vector<QuotientJob>& jobs_;
    Rng& rng_;
    std::vector<std::vector<std::uint32_t>> leaving_;
    std::vector<double> load_, distance_;
    double scale_ = 1;
    std::vector<std::uint32_t> parent_, over_;
    std::vector<std::vector<JobPath>> choices_;
};

}  // namespace

std::optional<std::vector<JobPath>> balanced_paths(const QuotientNetwork& network,
                                                   const std::vector<QuotientJob>& jobs, Rng& rng,
                                                   const Stop& stop) {
    return BalancedPaths(network, jobs, rng).choose(stop);
}

}  // namespace tutti::heuristics

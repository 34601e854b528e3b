// All-to-all and its like under symmetry: each representative chunk is a job that takes its hops one after
// the other, each on the machine (link orbit) that the hop's link belongs to.
//
// 1. Ways. The busiest machine bounds the makespan, so the ways are chosen to level the machines: some
// shortest
//    path trees under prices that rise with the load of the trees before give each job a few ways; then jobs
//    without choice are fixed first, and the others take, one by one and in a second round again, the way
//    that costs least where the load is. Half of a ring either way round is such a choice: settled inline
//    instead of last it would cost a quarter (greedy.md, section 5).
// 2. Order. On a regular action of an abelian group the hops of a way may come in any order: from every NPU
// the
//    same machines leave, and the sum of the hops is the same. That makes it an open shop; otherwise a job
//    keeps the order of its way. List scheduling: the machine with the most work left chooses first, and
//    takes of the jobs that are at rest the one with the longest way to go, ties by chance. A few draws of
//    chance; the best counts. Tori and hypercubes of up to 4096 NPUs come out at the load of the busiest
//    machine.
//
// Prices are doubles, but only sums, products and quotients of them are formed, which are the same
// everywhere.

#include "heuristics/quotient_routes.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <span>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kNone = ~0U;
/// Shortest path trees from which ways are taken.
constexpr std::size_t kTrees = 12;
/// Hops of all jobs together: more are left to others.
constexpr std::uint64_t kMaxHops = std::uint64_t{1} << 26;

/// Some hops over one machine.
struct Run {
    std::uint32_t machine, count;
    friend auto operator<=>(const Run&, const Run&) = default;
};
using Way = std::vector<Run>;

class Ways {
  public:
    Ways(const QuotientNetwork& network, const std::vector<QuotientJob>& jobs, Rng& rng)
        : network_(network),
          jobs_(jobs),
          rng_(rng),
          leaving_(network.orbits),
          load_(network.machines.size(), 0) {
        for (std::uint32_t m = 0; m < network.machines.size(); ++m)
            leaving_[network.machines[m].tails].push_back(m);
    }

    /// One way for each job. None: a job has none, or there are too many hops.
    std::optional<std::vector<Way>> choose(const Stop& stop) {
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
                    if (jobs_[j].to != origin && parent_[jobs_[j].to] == kNone) return std::nullopt;
                    Way way = way_to(origin, jobs_[j].to);
                    for (const Run& run : way) {
                        load_[run.machine] += static_cast<double>(run.count) * busy(run.machine);
                        hops += run.count;
                    }
                    auto& known = choices_[j];
                    if (std::ranges::find(known, way) == known.end()) known.push_back(std::move(way));
                }
            }
            if (hops > kMaxHops) return std::nullopt;
        }
        return settle();
    }

  private:
    [[nodiscard]] double busy(std::uint32_t machine) const {
        return static_cast<double>(network_.machines[machine].busy.count());
    }

    /// What a hop over each machine costs: its time, and far more where the trees so far have put most load.
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
        parent_.assign(network_.places(), kNone);
        over_.assign(network_.places(), kNone);
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

    [[nodiscard]] Way way_to(std::uint32_t origin, std::uint32_t to) const {
        Way way;
        for (std::uint32_t place = to; place != origin; place = parent_[place]) {
            if (way.empty() || way.back().machine != over_[place]) way.push_back({over_[place], 0});
            ++way.back().count;
        }
        std::ranges::reverse(way);
        if (network_.orbits > 1) return way;
        // The order is free: one run for each machine.
        std::ranges::sort(way);
        Way merged;
        for (const Run& run : way) {
            if (merged.empty() || merged.back().machine != run.machine) {
                merged.push_back(run);
            } else {
                merged.back().count += run.count;
            }
        }
        return merged;
    }

    /// How much dearer the machines get by taking the way, where dear is what is loaded.
    [[nodiscard]] double cost(const Way& way) const {
        double sum = 0;
        for (const Run& run : way) {
            const double work = static_cast<double>(run.count) * busy(run.machine);
            const double after = (load_[run.machine] + work) / scale_;
            sum += work / scale_ * (after * after * after + 1e-6);
        }
        return sum;
    }
    void put(const Way& way, double sign) {
        for (const Run& run : way)
            load_[run.machine] += sign * static_cast<double>(run.count) * busy(run.machine);
    }

    std::vector<Way> settle() {
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
        std::vector<Way> ways;
        for (std::size_t j = 0; j < jobs_.size(); ++j) ways.push_back(std::move(choices_[j][chosen[j]]));
        return ways;
    }

    const QuotientNetwork& network_;
    const std::vector<QuotientJob>& jobs_;
    Rng& rng_;
    std::vector<std::vector<std::uint32_t>> leaving_;
    std::vector<double> load_, distance_;
    double scale_ = 1;
    std::vector<std::uint32_t> parent_, over_;
    std::vector<std::vector<Way>> choices_;
};

/// List scheduling of the ways.
class Shop {
  public:
    Shop(const QuotientNetwork& network, const std::vector<QuotientJob>& jobs, const std::vector<Way>& ways)
        : network_(network), jobs_(jobs), ways_(ways), any_order_(network.orbits == 1) {
        for (const Way& way : ways) {
            for (const Run& run : way) hops_ += run.count;
        }
    }

    [[nodiscard]] std::uint64_t hops() const { return hops_; }

    std::optional<QuotientFlood> run(Rng& rng, const Stop& stop) {
        begin(rng);
        QuotientFlood result{Ticks(0), {}};
        result.transfers.reserve(hops_);
        std::vector<std::uint32_t> order(machines_.size());
        for (std::uint32_t m = 0; m < order.size(); ++m) order[m] = m;
        std::uint64_t ticks = 0;
        for (std::int64_t now = 0; result.transfers.size() < hops_;) {
            if (++ticks % 1024 == 0 && stop.requested()) return std::nullopt;
            std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
                return std::pair(-machines_[a].work, a) < std::pair(-machines_[b].work, b);
            });
            for (const std::uint32_t m : order) {
                if (machines_[m].free_at <= now) serve(m, now, result);
            }
            std::int64_t next = kNever;
            for (const Machine& machine : machines_) {
                if (machine.free_at > now && !machine.waiting.empty()) next = std::min(next, machine.free_at);
                if (machine.arrived < machine.moving.size())
                    next = std::min(next, machine.moving[machine.arrived].first);
            }
            if (next == kNever) break;
            now = next;
            for (Machine& machine : machines_) {
                for (;
                     machine.arrived < machine.moving.size() && machine.moving[machine.arrived].first == now;
                     ++machine.arrived) {
                    offer(machine.moving[machine.arrived].second);
                }
            }
        }
        return result;
    }

  private:
    struct Waiting {
        std::int64_t way_left;
        std::uint32_t chance, job, run, hop;
        [[nodiscard]] auto key() const { return std::pair(way_left, chance); }
    };
    struct Machine {
        std::int64_t free_at = 0, work = 0;
        std::vector<Waiting> waiting;  ///< a heap; jobs that have moved on are stale
        std::vector<std::pair<std::int64_t, std::uint32_t>> moving;  ///< arrival and job, in order
        std::size_t arrived = 0;
    };
    struct Job {
        std::uint32_t place = 0, hop = 0, chance = 0;
        std::int64_t way_left = 0;
        bool rests = true;
    };
    static bool lower(const Waiting& a, const Waiting& b) { return a.key() < b.key(); }
    [[nodiscard]] std::int64_t transit(std::uint32_t m) const { return network_.machines[m].transit.count(); }
    [[nodiscard]] std::int64_t busy(std::uint32_t m) const { return network_.machines[m].busy.count(); }

    void begin(Rng& rng) {
        machines_.assign(network_.machines.size(), {});
        jobs_now_.assign(jobs_.size(), {});
        left_.clear();
        first_run_.clear();
        for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
            first_run_.push_back(left_.size());
            jobs_now_[j].place = jobs_[j].from;
            jobs_now_[j].chance = static_cast<std::uint32_t>(rng.next() >> 32);
            for (const Run& run : ways_[j]) {
                left_.push_back(run.count);
                jobs_now_[j].way_left += run.count * transit(run.machine);
                machines_[run.machine].work += run.count * busy(run.machine);
            }
        }
        for (std::uint32_t j = 0; j < jobs_.size(); ++j) offer(j);
    }

    /// The job is at rest: it waits at every machine that it may use next.
    void offer(std::uint32_t j) {
        Job& job = jobs_now_[j];
        job.rests = true;
        for (std::uint32_t r = 0; r < ways_[j].size(); ++r) {
            if (left_[first_run_[j] + r] == 0) continue;
            auto& waiting = machines_[ways_[j][r].machine].waiting;
            waiting.push_back({job.way_left, job.chance, j, r, job.hop});
            std::push_heap(waiting.begin(), waiting.end(), lower);
            if (!any_order_) break;
        }
    }

    void serve(std::uint32_t m, std::int64_t now, QuotientFlood& result) {
        Machine& machine = machines_[m];
        while (!machine.waiting.empty()) {
            std::pop_heap(machine.waiting.begin(), machine.waiting.end(), lower);
            const Waiting next = machine.waiting.back();
            machine.waiting.pop_back();
            Job& job = jobs_now_[next.job];
            if (!job.rests || job.hop != next.hop) continue;
            result.transfers.push_back({next.job, m, job.place, Ticks(now)});
            result.makespan = std::max(result.makespan, Ticks(now + transit(m)));
            job.place = network_.machines[m].heads[job.place % network_.group];
            job.rests = false;
            ++job.hop;
            job.way_left -= transit(m);
            --left_[first_run_[next.job] + next.run];
            machine.work -= busy(m);
            machine.free_at = now + busy(m);
            machine.moving.emplace_back(now + transit(m), next.job);
            return;
        }
    }

    const QuotientNetwork& network_;
    const std::vector<QuotientJob>& jobs_;
    const std::vector<Way>& ways_;
    const bool any_order_;
    std::uint64_t hops_ = 0;
    std::vector<Machine> machines_;
    std::vector<Job> jobs_now_;
    std::vector<std::uint32_t> left_;     ///< hops by run
    std::vector<std::size_t> first_run_;  ///< of each job
};

}  // namespace

std::optional<QuotientFlood> quotient_routes(const QuotientNetwork& network,
                                             const std::vector<QuotientJob>& jobs, Ticks target,
                                             std::uint64_t effort, Rng& rng, const Stop& stop) {
    const auto ways = Ways(network, jobs, rng).choose(stop);
    if (!ways) return std::nullopt;
    Shop shop(network, jobs, *ways);
    std::optional<QuotientFlood> best;
    const std::uint64_t tries = std::max<std::uint64_t>(effort / std::max<std::uint64_t>(shop.hops(), 1), 2);
    for (std::uint64_t i = 0; i < tries && !(best && best->makespan <= target); ++i) {
        auto flood = shop.run(rng, stop);
        if (!flood) break;
        if (!best || flood->makespan < best->makespan) best = std::move(flood);
    }
    return best;
}

}  // namespace tutti::heuristics

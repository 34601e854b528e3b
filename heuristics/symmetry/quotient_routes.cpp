// Unicast demands (all-to-all) under symmetry: each representative chunk is a job that makes its hops in
// sequence, each on the machine (link orbit) of the hop's link. quotient_paths chooses the paths; this file
// computes the times.
//
// Under a regular action of an abelian group the hops of a path may be made in any order: the same machines
// leave every NPU, and the sum of the hops is the same. That makes it an open shop; otherwise a job keeps the
// order of its path. List scheduling: the machine with the most remaining work chooses first, and takes the
// idle job with the longest remaining path, ties at random. The best of a few random runs is kept. Tori and
// hypercubes of up to 512 NPUs reach the load of the busiest machine.

#include "heuristics/symmetry/quotient_routes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tutti::heuristics {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

/// List scheduling of the paths.
class OpenShop {
  public:
    OpenShop(const QuotientNetwork& network, const std::vector<QuotientJob>& jobs,
             const std::vector<JobPath>& paths)
        : network_(network), jobs_(jobs), paths_(paths), any_order_(network.orbits == 1) {
        for (const JobPath& path : paths) {
            for (const Run& run : path) hops_ += run.count;
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
        std::int64_t time_left;
        std::uint32_t chance, job, run, hop;
        [[nodiscard]] auto key() const { return std::pair(time_left, chance); }
    };
    struct Machine {
        std::int64_t free_at = 0, work = 0;
        std::vector<Waiting> waiting;  ///< a heap; jobs that have moved on are stale
        std::vector<std::pair<std::int64_t, std::uint32_t>> moving;  ///< arrival and job, in order
        std::size_t arrived = 0;
    };
    struct Job {
        std::uint32_t place = 0, hop = 0, chance = 0;
        std::int64_t time_left = 0;
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
            for (const Run& run : paths_[j]) {
                left_.push_back(run.count);
                jobs_now_[j].time_left += run.count * transit(run.machine);
                machines_[run.machine].work += run.count * busy(run.machine);
            }
        }
        for (std::uint32_t j = 0; j < jobs_.size(); ++j) offer(j);
    }

    /// Adds an idle job to the queue of every machine that it may use next.
    void offer(std::uint32_t j) {
        Job& job = jobs_now_[j];
        job.rests = true;
        for (std::uint32_t r = 0; r < paths_[j].size(); ++r) {
            if (left_[first_run_[j] + r] == 0) continue;
            auto& waiting = machines_[paths_[j][r].machine].waiting;
            waiting.push_back({job.time_left, job.chance, j, r, job.hop});
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
            job.time_left -= transit(m);
            --left_[first_run_[next.job] + next.run];
            machine.work -= busy(m);
            machine.free_at = now + busy(m);
            machine.moving.emplace_back(now + transit(m), next.job);
            return;
        }
    }

    const QuotientNetwork& network_;
    const std::vector<QuotientJob>& jobs_;
    const std::vector<JobPath>& paths_;
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
    const auto paths = balanced_paths(network, jobs, rng, stop);
    if (!paths) return std::nullopt;
    OpenShop shop(network, jobs, *paths);
    std::optional<QuotientFlood> best;
    const std::uint64_t tries = std::max<std::uint64_t>(effort / std::max<std::uint64_t>(shop.hops(), 1), 2);
    for (std::uint64_t i = 0; i < tries && !(best && best->makespan <= target); ++i) {
        // A run with few jobs ends before it polls the stop itself.
        if (best && stop.requested()) break;
        auto flood = shop.run(rng, stop);
        if (!flood) break;
        if (!best || flood->makespan < best->makespan) best = std::move(flood);
    }
    return best;
}

}  // namespace tutti::heuristics

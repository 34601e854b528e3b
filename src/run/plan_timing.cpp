#include "run/plan_timing.hpp"

#include "run/call_size.hpp"
#include "run/msccl_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::run {
namespace {

void note_range(const plan::MscclPlan& plan, Bytes call, JobTiming& timing) {
    const bool too_small = plan.min_bytes && call.count < *plan.min_bytes;
    const bool too_large = plan.max_bytes && *plan.max_bytes > 0 && call.count > *plan.max_bytes;
    if (!too_small && !too_large) return;
    timing.notes.push_back(fmt::format(
        "the plan says that it is for {} to {} bytes", plan.min_bytes.value_or(0),
        plan.max_bytes.value_or(0) > 0 ? std::to_string(*plan.max_bytes) : std::string("any number of")));
}

/// Fills in what the call's size means.
void set_sizes(const Topology& topology, const TimingWish& wish, JobTiming& timing) {
    if (topology.units() == Units::Abstract) {
        if (wish.bytes.count > 0) {
            timing.notes.push_back(
                "the topology is in abstract ticks: a chunk takes its links' beta, whatever its bytes");
        }
        return;
    }
    timing.call = wish.bytes;
    timing.chunk = chunk_bytes(wish.bytes, timing.chunks);
}

class Together {
  public:
    explicit Together(const Topology& topology) : topology_(topology) {}

    void add(const plan::MscclPlan& plan, const TimingWish& wish) {
        JobTiming& timing = jobs_.emplace_back();
        if (plan.ranks < 1 || plan.chunks_per_loop < 1)
            throw InputError("the plan has no ranks or no chunks");
        timing.ranks = plan.ranks;
        timing.goal = wish.goal ? *wish.goal
                                : plan::goal_of(plan.collective.value_or("none")).value_or(plan::Goal::None);
        timing.chunks = chunks_of_call(timing.goal, plan.ranks, plan.chunks_per_loop);
        timing.fifo_capacity = wish.fifo_capacity.value_or(plan::fifo_capacity(plan.protocol));
        if (timing.fifo_capacity < 1) throw InputError("expected FIFOs that hold at least one message");
        set_sizes(topology_, wish, timing);
        if (timing.call.count > 0) note_range(plan, timing.call, timing);
        program_.part_begin.push_back(static_cast<TaskId>(program_.tasks.size()));
        Placement placement(topology_, program_, wish, timing);
        append_tasks(program_, placement, plan, timing.fifo_capacity);
    }

    PlanTiming time(std::span<const TimedJob> jobs, bool keep_uses, const Stop& stop) {
        count_transfers();
        Timeline line = simulate(topology_, program_, keep_uses, stop);
        if (line.stuck) complain(jobs, *line.stuck);
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            JobTiming& job = jobs_[i];
            job.makespan = line.ends[i];
            if (job.call.count == 0) continue;
            job.algbw_GBps = bandwidth_GBps(job.call, job.makespan);
            const auto factor = bus_factor(job.goal, job.ranks);
            if (job.algbw_GBps && factor) job.busbw_GBps = *job.algbw_GBps * *factor;
        }
        return {line.makespan, std::move(jobs_), std::move(line.links), std::move(line.uses)};
    }

  private:
    void count_transfers() {
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const std::size_t end = i + 1 < jobs_.size() ? program_.part_begin[i + 1] : program_.tasks.size();
            for (std::size_t task = program_.part_begin[i]; task < end; ++task) {
                const TimedTask& timed = program_.tasks[task];
                if (timed.route != kNoRoute && timed.size != kNoData) ++jobs_[i].transfers;
            }
        }
    }

    [[noreturn]] void complain(std::span<const TimedJob> jobs, TaskId task) const {
        const auto part =
            std::ranges::upper_bound(program_.part_begin, task) - program_.part_begin.begin() - 1;
        const auto job = static_cast<std::size_t>(part);
        const TaskId first = program_.part_begin[job];
        const std::string place =
            std::visit([&](const auto* plan) { return place_of(*plan, first, task); }, jobs[job].plan);
        throw InputError(
            fmt::format("the plan does not end where connections hold {} messages: {} waits for ever",
                        jobs_[job].fifo_capacity, place));
    }

    const Topology& topology_;
    TimedProgram program_;
    std::vector<JobTiming> jobs_;
};

}  // namespace

PlanTiming time_plans(std::span<const TimedJob> jobs, const Topology& topology, bool keep_uses,
                      const Stop& stop) {
    Together together(topology);
    for (const TimedJob& job : jobs) {
        std::visit([&](const auto* plan) { together.add(*plan, job.wish); }, job.plan);
    }
    return together.time(jobs, keep_uses, stop);
}

}  // namespace tutti::run

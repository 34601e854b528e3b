#include "timing/plan_timing.hpp"

#include "plan/call_sizes.hpp"
#include "timing/call_size.hpp"
#include "timing/execution_tasks.hpp"
#include "timing/msccl_tasks.hpp"
#include "timing/send_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tutti::timing {
namespace {

constexpr std::uint64_t kAnySize = std::numeric_limits<std::uint64_t>::max();

void note_range(std::uint64_t least, std::uint64_t most, JobTiming& timing) {
    const auto bytes = static_cast<std::uint64_t>(timing.call.count);
    if (timing.call.count == 0 || (bytes >= least && bytes <= most)) return;
    timing.notes.push_back(most == kAnySize
                               ? fmt::format("the plan says that it is for {} bytes or more", least)
                               : fmt::format("the plan says that it is for {} to {} bytes", least, most));
}

/// Fills in the sizes that follow from the call's size.
void set_sizes(const Topology& topology, const TimingOptions& options, JobTiming& timing) {
    if (topology.units() == Units::Abstract) {
        if (options.bytes.count > 0) {
            timing.notes.push_back(
                "the topology is in abstract ticks: a chunk takes its links' beta, whatever its bytes");
        }
        return;
    }
    timing.call = options.bytes;
    timing.chunk = chunk_bytes(options.bytes, timing.chunks);
}

class Together {
  public:
    explicit Together(const Topology& topology) : topology_(topology) {}

    void add(const plan::MscclPlan& plan, const TimingOptions& options) {
        if (plan.ranks < 1 || plan.chunks_per_loop < 1)
            throw InputError("the plan has no ranks or no chunks");
        JobTiming& timing = jobs_.emplace_back();
        timing.ranks = plan.ranks;
        timing.goal = options.goal.value_or(plan::stated_goal(plan));
        timing.chunks = chunks_of_call(timing.goal, plan);
        timing.fifo_capacity = options.fifo_capacity.value_or(plan::fifo_capacity(plan.protocol));
        if (*timing.fifo_capacity < 1) throw InputError("expected FIFOs that hold at least one message");
        set_sizes(topology_, options, timing);
        const std::int64_t most = plan.max_bytes.value_or(0);
        note_range(static_cast<std::uint64_t>(std::max<std::int64_t>(plan.min_bytes.value_or(0), 0)),
                   most > 0 ? static_cast<std::uint64_t>(most) : kAnySize, timing);
        append(options, timing,
               [&](Placement& placement) { append_tasks(program_, placement, plan, *timing.fifo_capacity); });
    }

    void add(const plan::ExecutionPlan& plan, const TimingOptions& options) {
        if (plan.gpus.empty()) throw InputError("the plan has no ranks");
        JobTiming& timing = jobs_.emplace_back();
        const std::int64_t parts = checked_parts_per_chunk(plan);
        timing.ranks = static_cast<std::int32_t>(plan.gpus.size());
        timing.goal = options.goal.value_or(plan::stated_goal(plan));
        timing.chunks = chunks_of_call(timing.goal, plan) * static_cast<std::uint64_t>(parts);
        set_sizes(topology_, options, timing);
        note_range(plan.min_bytes, plan.max_bytes, timing);
        append(options, timing,
               [&](Placement& placement) { append_tasks(program_, placement, plan, parts); });
    }

    void add(const plan::ScclPlan& plan, const TimingOptions& options) { add(plan, plan.runtime, options); }
    void add(const plan::EpochSchedule& schedule, const TimingOptions& options) {
        add(sends_of(schedule), "", options);
    }

    void add(const plan::TacosPlan& plan, const TimingOptions& options) {
        JobTiming& timing = begin(plan.nodes, goal_of(options, "allgather"));
        timing.chunks = chunks_of_call(plan);
        set_sizes(topology_, options, timing);
        append(options, timing, [&](Placement& placement) {
            append_tasks(program_, placement, sends_of(plan, timing.goal, options.root.value_or(Rank(0))));
        });
    }

    void add(const plan::ForestCollPlan& plan, const TimingOptions& options) {
        JobTiming& timing = begin(plan.nodes(), goal_of(options, "allgather"));
        timing.chunks = chunks_of_call(plan);
        set_sizes(topology_, options, timing);
        append(options, timing,
               [&](Placement& placement) { append_tasks(program_, placement, plan, timing.goal); });
    }

    PlanTiming time(bool keep_uses, const Stop& stop) {
        count_transfers();
        Timeline line = simulate(topology_, program_, keep_uses, stop);
        if (line.stuck) complain(*line.stuck);
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            JobTiming& job = jobs_[i];
            job.makespan = line.ends[i];
            if (job.call.count == 0) continue;
            job.algbw_GBps = bandwidth_GBps(job.call, job.makespan);
            const auto factor = bus_factor(job.goal, static_cast<std::size_t>(job.ranks));
            if (job.algbw_GBps && factor) job.busbw_GBps = *job.algbw_GBps * *factor;
        }
        return {line.makespan, std::move(jobs_), std::move(line.links), std::move(line.uses)};
    }

  private:
    void add(const plan::SendProgram& sends, const std::string& named, const TimingOptions& options) {
        JobTiming& timing = begin(sends.nodes, goal_of(options, named));
        timing.chunks = chunks_of_call(timing.goal, sends);
        set_sizes(topology_, options, timing);
        append(options, timing, [&](Placement& placement) { append_tasks(program_, placement, sends); });
    }

    JobTiming& begin(std::int32_t nodes, CollectiveKind goal) {
        if (nodes < 1) throw InputError("the plan has no nodes");
        JobTiming& timing = jobs_.emplace_back();
        timing.ranks = nodes;
        timing.goal = goal;
        return timing;
    }

    static CollectiveKind goal_of(const TimingOptions& options, const std::string& named) {
        return options.goal ? *options.goal : kind_in_plan(named).value_or(CollectiveKind::Custom);
    }

    template <class Write>
    void append(const TimingOptions& options, JobTiming& timing, const Write& write) {
        program_.part_begin.push_back(static_cast<TaskId>(program_.tasks.size()));
        Placement placement(topology_, program_, options, timing);
        write(placement);
        owners_.push_back(std::move(placement).owners());
    }

    void count_transfers() {
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            const std::size_t end = i + 1 < jobs_.size() ? program_.part_begin[i + 1] : program_.tasks.size();
            for (std::size_t task = program_.part_begin[i]; task < end; ++task) {
                const TimedTask& timed = program_.tasks[task];
                if (timed.kind == TaskKind::Transfer) ++jobs_[i].transfers;
            }
        }
    }

    [[noreturn]] void complain(TaskId task) const {
        const auto& begins = program_.part_begin;
        const auto job =
            static_cast<std::size_t>(std::ranges::upper_bound(begins, task) - begins.begin() - 1);
        const auto after = std::ranges::upper_bound(owners_[job], task, {}, &Placement::Owner::first);
        const Placement::Owner& owner = *std::prev(after);
        const auto& capacity = jobs_[job].fifo_capacity;
        throw InputError(
            fmt::format("the plan does not end{}: gpu {}{} waits for ever",
                        capacity ? fmt::format(" where connections hold {} messages", *capacity) : "",
                        owner.gpu, owner.block ? fmt::format(", tb {}", *owner.block) : ""));
    }

    const Topology& topology_;
    TimedProgram program_;
    std::vector<JobTiming> jobs_;
    std::vector<std::vector<Placement::Owner>> owners_;  ///< per job
};

}  // namespace

PlanTiming time_plans(std::span<const TimedJob> jobs, const Topology& topology, bool keep_uses,
                      const Stop& stop) {
    Together together(topology);
    for (const TimedJob& job : jobs) {
        std::visit([&](const auto* plan) { together.add(*plan, job.options); }, job.plan);
    }
    return together.time(keep_uses, stop);
}

}  // namespace tutti::timing

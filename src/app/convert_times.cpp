#include "app/convert_times.hpp"

#include "app/plan_cost.hpp"
#include "timing/call_size.hpp"

#include <algorithm>
#include <vector>

namespace tutti::app {
namespace {

std::uint64_t chunks_of_call(CollectiveKind goal, const AnyPlan& plan) {
    if (const auto* msccl = std::get_if<plan::MscclPlan>(&plan)) return timing::chunks_of_call(goal, *msccl);
    if (const auto* execution = std::get_if<plan::ExecutionPlan>(&plan))
        return timing::chunks_of_call(goal, *execution);
    return 0;
}

/// Plans start at once, and their chunks have one size.
bool plans_can_say(const Collective& collective) {
    return last_release(collective) == Ticks(0) &&
           std::ranges::all_of(collective.demands, [&](const CustomDemand& demand) {
               return demand.bytes.value_or(collective.chunk_bytes).count == collective.chunk_bytes.count;
           });
}

/// The size of the call in which the plan's chunks have the collective's size; none where there is none.
std::optional<Bytes> call_of(const MadePlan& made, const Collective& collective) {
    const std::uint64_t chunks = chunks_of_call(goal_of(made.verdict), *made.plan);
    Bytes bytes{};
    if (chunks == 0 || __builtin_mul_overflow(collective.chunk_bytes.count, chunks, &bytes.count))
        return std::nullopt;
    return bytes;
}

}  // namespace

std::optional<PlanTimes> times_of(const Instance& instance, const Verdict& verdict,
                                  std::span<const WrittenPlan> plans) {
    constexpr std::uint64_t kMostSends = 200'000;  // timed in a fraction of a second
    if (plans.empty() || verdict.sends > kMostSends || verdict.finish.empty()) return std::nullopt;
    Ticks schedule(0);
    std::vector<CostJob> jobs;
    for (const WrittenPlan& written : plans) {
        const MadePlan& made = written.plan;
        const auto plan = made.plan ? timed(*made.plan) : std::nullopt;
        const Collective& collective = instance.collective(made.collective);
        const auto bytes = plan ? call_of(made, collective) : std::nullopt;
        if (!bytes || !plans_can_say(collective)) return std::nullopt;
        jobs.push_back({*plan, made.verdict, *bytes, made.npus});
        schedule = std::max(schedule, verdict.finish[made.collective.index()]);
    }
    try {
        return PlanTimes{schedule, timing_of(jobs, instance.topology()).makespan};
    } catch (const InputError&) {
        return std::nullopt;
    }
}

}  // namespace tutti::app

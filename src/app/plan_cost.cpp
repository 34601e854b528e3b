#include "app/plan_cost.hpp"

#include "app/bug.hpp"
#include "app/plan_bound.hpp"
#include "core/outcome.hpp"
#include "io/bound_json.hpp"
#include "synth/bounding.hpp"
#include "synth/reachability.hpp"
#include "text/format.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::app {
namespace {

/// The FIFO capacity that the plan needs, if that is more than its protocol has.
std::optional<std::int64_t> capacity_of(const plan::PlanVerdict& verdict) {
    if (!verdict.fifo || verdict.fifo->chunks <= verdict.fifo->capacity) return std::nullopt;
    return verdict.fifo->chunks;
}

/// Computes the bound for algorithms that divide the data finer.
void ask_finer(PlanCost& cost, std::span<const BoundJob> jobs, const Topology& topology, const Stop& stop) {
    const auto finer = finer_instance_of(jobs, topology);
    if (!finer) return;
    // One that is no smaller than the plan's own says nothing more.
    const Bound bound = synth::bounds_of(finer->instance, cost.bound->value, stop).best();
    if (bound.value >= cost.bound->value) return;
    cost.finer = PlanCost::Finer{finer->times, bound, gap(cost.timing.makespan, bound.value).value_or(0)};
}

/// Why a plan has no instance whose bounds would hold for it.
std::string why_no_instance(std::span<const BoundJob> jobs) {
    using enum CollectiveKind;
    for (const BoundJob& job : jobs) {
        if (job.timing.ranks < 2) return "one rank alone";
        if (plan_kind_of(job.goal) == Custom && job.condition == nullptr)
            return "nobody says what the plan is for";
        if (plan_kind_of(job.goal) == Custom)
            return "the condition asks for sums that overlap, or for nothing, or for too much";
    }
    return "too many chunks, or a share that is not whole";
}

void hold_against(const Bound& bound, PlanCost& cost, const CostJob& first) {
    cost.bound = bound;
    if (cost.timing.makespan < bound.value) {
        throw InternalError(fmt::format("the plan '{}' takes {} ticks, below the lower bound {} ({})",
                                        first.verdict.name, cost.timing.makespan.count(), bound.value.count(),
                                        bound.kind));
    }
    cost.gap = gap(cost.timing.makespan, bound.value);
}

/// Computes bound and gap, where the collectives of all plans are known.
void hold_against_bound(PlanCost& cost, std::span<const CostJob> jobs, const Topology& topology,
                        const Stop& stop, KnownBounds* known) {
    std::vector<BoundJob> asked;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const plan::PlanVerdict& verdict = jobs[i].verdict;
        const bool is_proven =
            verdict.verdict == plan::PlanClass::Valid || verdict.verdict == plan::PlanClass::ValidIfBuffered;
        if (!is_proven) {
            cost.no_bound = "nobody says what the plan is for (--condition or --as does)";
            return;
        }
        asked.push_back(
            {cost.timing.jobs[i], cost.timing.jobs[i].goal, verdict.root, jobs[i].condition.get()});
    }
    const auto instance = instance_of(asked, topology);
    if (!instance) {
        cost.no_bound = why_no_instance(asked);
        return;
    }
    const std::pair key(cost.timing.jobs.front().chunks, cost.timing.jobs.front().chunk);
    with_instance(*instance, [&] {
        if (known != nullptr && known->contains(key)) return hold_against(known->at(key), cost, jobs.front());
        if (synth::unreachable(*instance)) {
            cost.no_bound = "a rank cannot be reached";
            return;
        }
        const synth::Bounding bounding = synth::bounds_of(*instance, cost.timing.makespan, stop);
        cost.skipped = bounding.skipped();
        hold_against(bounding.best(), cost, jobs.front());
        if (known != nullptr) known->emplace(key, bounding.best());
    });
    if (cost.bound && known == nullptr) ask_finer(cost, asked, topology, stop);
}

template <class Value>
io::Json or_null(const std::optional<Value>& value) {
    return value ? io::Json(*value) : io::Json(nullptr);
}

io::Json json_of(const timing::JobTiming& job, Units units) {
    const bool sized = units == Units::Physical;
    return {{"makespan", job.makespan.count()},
            {"algbw_GBps", or_null(job.algbw_GBps)},
            {"busbw_GBps", or_null(job.busbw_GBps)},
            {"bytes", sized ? io::Json(job.call.count) : io::Json(nullptr)},
            {"chunk_bytes", sized ? io::Json(job.chunk.count) : io::Json(nullptr)},
            {"chunks", job.chunks},
            {"transfers", job.transfers},
            {"connections", job.connections},
            {"relayed_connections", job.relayed},
            {"fifo_capacity", or_null(job.fifo_capacity)}};
}

}  // namespace

double utilisation(const timing::LinkLoad& load, const timing::PlanTiming& timing) {
    if (timing.makespan <= Ticks(0)) return 0;
    return static_cast<double>(load.busy.count()) / static_cast<double>(timing.makespan.count());
}

CollectiveKind goal_of(const plan::PlanVerdict& verdict) {
    return kind_in_plan(verdict.collective).value_or(CollectiveKind::Custom);
}

timing::PlanTiming timing_of(std::span<const CostJob> jobs, const Topology& topology, const Stop& stop) {
    std::vector<timing::TimedJob> timed;
    for (const CostJob& job : jobs) {
        timing::TimingOptions options{job.bytes, job.group};
        options.goal = goal_of(job.verdict);
        options.root = job.verdict.root;
        options.fifo_capacity = capacity_of(job.verdict);
        timed.push_back({job.plan, std::move(options)});
    }
    return timing::time_plans(timed, topology, false, stop);
}

PlanCost cost_of(std::span<const CostJob> jobs, const Topology& topology, const Stop& stop,
                 KnownBounds* known) {
    PlanCost cost;
    for (const CostJob& job : jobs) {
        cost.labels.push_back(job.label.empty() ? fmt::format("plan {}", cost.labels.size() + 1) : job.label);
        if (const auto capacity = capacity_of(job.verdict)) {
            cost.notes.push_back(
                fmt::format("timed with connections that hold {} messages, without which "
                            "the plan can hang (its protocol has {})",
                            *capacity, job.verdict.fifo->capacity));
        }
    }
    cost.timing = timing_of(jobs, topology, stop);
    for (std::size_t i = 0; i < cost.timing.jobs.size(); ++i) {
        const timing::JobTiming& job = cost.timing.jobs[i];
        std::vector<std::string> notes = job.notes;
        if (job.relayed > 0) {
            notes.push_back(fmt::format("{} of {} lead through other NPUs, which store and forward",
                                        job.relayed, text::count_text(job.connections, "connection")));
        }
        for (const std::string& note : notes)
            cost.notes.push_back(jobs.size() > 1 ? fmt::format("{}: {}", cost.labels[i], note) : note);
    }
    hold_against_bound(cost, jobs, topology, stop, known);
    return cost;
}

io::Json json_of(const PlanCost& cost, const Topology& topology) {
    io::Json json{{"makespan", cost.timing.makespan.count()},
                  {"lower_bound", cost.bound ? io::Json(cost.bound->value.count()) : io::Json(nullptr)},
                  {"bound_kind", cost.bound ? io::Json(cost.bound->kind) : io::Json(nullptr)},
                  {"gap", or_null(cost.gap)},
                  {"skipped", io::skipped_json(cost.skipped)},
                  {"no_bound", cost.no_bound.empty() ? io::Json(nullptr) : io::Json(cost.no_bound)},
                  {"finer", nullptr},
                  {"cost_notes", cost.notes}};
    if (cost.finer) {
        json["finer"] = {{"times", cost.finer->times},
                         {"lower_bound", cost.finer->bound.value.count()},
                         {"bound_kind", cost.finer->bound.kind},
                         {"gap", cost.finer->gap}};
    }
    io::Json& links = json["links"] = io::Json::array();
    for (const timing::LinkLoad& load : cost.timing.links) {
        const Link& link = topology.link(load.link);
        links.push_back({{"link", load.link.value()},
                         {"src", link.src.value()},
                         {"dst", link.dst.value()},
                         {"busy", load.busy.count()},
                         {"utilisation", utilisation(load, cost.timing)},
                         {"transfers", load.transfers}});
        if (topology.units() == Units::Physical) links.back()["bytes"] = load.bytes;
    }
    if (cost.timing.jobs.size() == 1) {
        json.update(json_of(cost.timing.jobs.front(), topology.units()));
        return json;
    }
    io::Json& jobs = json["jobs"] = io::Json::array();
    for (const timing::JobTiming& job : cost.timing.jobs) jobs.push_back(json_of(job, topology.units()));
    return json;
}

}  // namespace tutti::app

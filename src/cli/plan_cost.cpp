#include "cli/plan_cost.hpp"

#include "bounds/bounds.hpp"
#include "cli/failure.hpp"
#include "cli/plan_bound.hpp"
#include "core/outcome.hpp"
#include "synth/reachability.hpp"
#include "text/format.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::cli {
namespace {

/// Up to here all bounds together take less than the verdict of a plan; beyond, the near-linear ones must do.
constexpr std::size_t kSmallNodes = 12;
constexpr std::size_t kSmallChunksTimesLinks = 4'000;

/// As deep as the plan needs, if that is more than its protocol has.
std::optional<std::int64_t> capacity_of(const plan::PlanVerdict& verdict) {
    if (!verdict.fifo || verdict.fifo->chunks <= verdict.fifo->capacity) return std::nullopt;
    return verdict.fifo->chunks;
}

std::optional<Bound> bound_of(const Instance& instance, const Stop& stop) {
    if (synth::unreachable(instance)) return std::nullopt;
    const bool is_small = instance.topology().nodes() <= kSmallNodes &&
                          instance.chunks() * instance.topology().links().size() <= kSmallChunksTimesLinks;
    const auto bounds = is_small ? bounds::all_bounds(instance, stop) : bounds::simple_bounds(instance, stop);
    return bounds.front();
}

/// What algorithms could reach that cut the data finer.
void ask_finer(PlanCost& cost, std::span<const BoundJob> jobs, const Topology& topology, const Stop& stop) {
    const auto finer = finer_instance_of(jobs, topology);
    if (!finer) return;
    const Bound bound = bounds::simple_bounds(finer->instance, stop).front();
    if (bound.value >= cost.bound->value) return;
    cost.finer = PlanCost::Finer{finer->times, bound, gap(cost.timing.makespan, bound.value).value_or(0)};
}

/// Compares with the bound, where the meaning of all plans is known.
void hold_against_bound(PlanCost& cost, std::span<const CostJob> jobs, const Topology& topology,
                        const Stop& stop) {
    std::vector<BoundJob> asked;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const plan::PlanVerdict& verdict = jobs[i].verdict;
        const bool is_proven =
            verdict.verdict == plan::PlanClass::Valid || verdict.verdict == plan::PlanClass::ValidIfBuffered;
        if (!is_proven) return;
        asked.push_back({cost.timing.jobs[i], cost.timing.jobs[i].goal, verdict.root});
    }
    const auto instance = instance_of(asked, topology);
    if (!instance) return;
    with_reproducer(*instance, [&] {
        cost.bound = bound_of(*instance, stop);
        if (!cost.bound) return;
        if (cost.timing.makespan < cost.bound->value) {
            throw InternalError(fmt::format("the plan '{}' takes {} ticks, below the lower bound {} ({})",
                                            jobs.front().verdict.name, cost.timing.makespan.count(),
                                            cost.bound->value.count(), cost.bound->kind));
        }
        cost.gap = gap(cost.timing.makespan, cost.bound->value);
    });
    if (cost.bound) ask_finer(cost, asked, topology, stop);
}

std::string bandwidth_text(const std::optional<double>& value) {
    return value ? fmt::format("{:.3f} GB/s", *value) : "-";
}

/// One of several plans, in a line.
std::string job_text(const timing::JobTiming& job, Units units) {
    const std::string end = "ends at " + text::ticks_text(job.makespan, units);
    if (!job.algbw_GBps) return end;
    return fmt::format("{}, algbw {}, busbw {}", end, bandwidth_text(job.algbw_GBps),
                       bandwidth_text(job.busbw_GBps));
}

/// The busiest links, the first of equals.
std::vector<const timing::LinkLoad*> busiest(const timing::PlanTiming& timing, std::size_t most) {
    std::vector<const timing::LinkLoad*> loads;
    for (const timing::LinkLoad& load : timing.links) loads.push_back(&load);
    std::ranges::stable_sort(loads, std::ranges::greater{},
                             [](const timing::LinkLoad* load) { return load->busy; });
    loads.resize(std::min(most, loads.size()));
    return loads;
}

double utilisation(const timing::LinkLoad& load, const timing::PlanTiming& timing) {
    if (timing.makespan <= Ticks(0)) return 0;
    return static_cast<double>(load.busy.count()) / static_cast<double>(timing.makespan.count());
}

std::string links_text(const PlanCost& cost, const Topology& topology) {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> shown;
    for (const timing::LinkLoad* load : busiest(cost.timing, kShown)) {
        shown.push_back(
            fmt::format("{} {:.1f} %", name_of(topology, load->link), 100 * utilisation(*load, cost.timing)));
    }
    return fmt::format("{} of {} used{}{}", cost.timing.links.size(), topology.links().size(),
                       shown.empty() ? "" : "; busiest ", fmt::join(shown, ", "));
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

PlanCost cost_of(std::span<const CostJob> jobs, const Topology& topology, const Stop& stop) {
    std::vector<timing::TimedJob> timed;
    PlanCost cost;
    for (const CostJob& job : jobs) {
        timing::TimingOptions options{job.bytes, job.group};
        options.goal = kind_in_plan(job.verdict.collective).value_or(CollectiveKind::Custom);
        options.root = job.verdict.root;
        options.fifo_capacity = capacity_of(job.verdict);
        if (options.fifo_capacity) {
            cost.notes.push_back(
                fmt::format("timed with connections that hold {} messages, without which "
                            "the plan can hang (its protocol has {})",
                            *options.fifo_capacity, job.verdict.fifo->capacity));
        }
        timed.push_back({job.plan, std::move(options)});
    }
    cost.timing = timing::time_plans(timed, topology, false, stop);
    for (std::size_t i = 0; i < cost.timing.jobs.size(); ++i) {
        const timing::JobTiming& job = cost.timing.jobs[i];
        std::vector<std::string> notes = job.notes;
        if (job.relayed > 0) {
            notes.push_back(fmt::format("{} of {} lead through other NPUs, which store and forward",
                                        job.relayed, text::count_text(job.connections, "connection")));
        }
        for (const std::string& note : notes)
            cost.notes.push_back(jobs.size() > 1 ? fmt::format("plan {}: {}", i + 1, note) : note);
    }
    hold_against_bound(cost, jobs, topology, stop);
    return cost;
}

std::vector<std::pair<std::string, std::string>> facts_of(const PlanCost& cost, const Topology& topology) {
    const Units units = topology.units();
    std::vector<std::pair<std::string, std::string>> facts{
        {"makespan", text::ticks_text(cost.timing.makespan, units)}};
    if (cost.bound) {
        facts.emplace_back(
            "bound", fmt::format("{}, {}", text::ticks_text(cost.bound->value, units), cost.bound->kind));
        facts.emplace_back("gap", fmt::format("{}, for chunks of this size", text::gap_text(cost.gap)));
    }
    if (cost.finer) {
        facts.emplace_back(
            "finer", fmt::format("{}, {}, gap {}: the bound for chunks {} times smaller",
                                 text::ticks_text(cost.finer->bound.value, units), cost.finer->bound.kind,
                                 text::gap_text(cost.finer->gap), cost.finer->times));
    }
    const bool is_alone = cost.timing.jobs.size() == 1;
    for (std::size_t i = 0; i < cost.timing.jobs.size(); ++i) {
        const timing::JobTiming& job = cost.timing.jobs[i];
        if (is_alone && job.algbw_GBps) {
            facts.emplace_back("algbw", bandwidth_text(job.algbw_GBps));
            facts.emplace_back("busbw", bandwidth_text(job.busbw_GBps));
        } else if (!is_alone) {
            facts.emplace_back(fmt::format("plan {}", i + 1), job_text(job, units));
        }
    }
    facts.emplace_back("links", links_text(cost, topology));
    for (const std::string& note : cost.notes) facts.emplace_back("note", note);
    return facts;
}

io::Json json_of(const PlanCost& cost, const Topology& topology) {
    io::Json json{{"makespan", cost.timing.makespan.count()},
                  {"lower_bound", cost.bound ? io::Json(cost.bound->value.count()) : io::Json(nullptr)},
                  {"bound_kind", cost.bound ? io::Json(cost.bound->kind) : io::Json(nullptr)},
                  {"gap", or_null(cost.gap)},
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

}  // namespace tutti::cli

#include "cli/plan_cost_text.hpp"

#include "text/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::cli {
namespace {

/// One of several plans, in a line.
std::string job_text(const timing::JobTiming& job, Units units) {
    const std::string end = "ends at " + text::ticks_text(job.makespan, units);
    if (!job.algbw_GBps) return end;
    return fmt::format("{}, algbw {}, busbw {}", end, text::bandwidth_text(job.algbw_GBps),
                       text::bandwidth_text(job.busbw_GBps));
}

/// The busiest links; equally busy ones in order.
std::vector<const timing::LinkLoad*> busiest(const timing::PlanTiming& timing, std::size_t most) {
    std::vector<const timing::LinkLoad*> loads;
    for (const timing::LinkLoad& load : timing.links) loads.push_back(&load);
    std::ranges::stable_sort(loads, std::ranges::greater{},
                             [](const timing::LinkLoad* load) { return load->busy; });
    loads.resize(std::min(most, loads.size()));
    return loads;
}

std::string links_text(const app::PlanCost& cost, const Topology& topology) {
    constexpr std::size_t kShown = 3;
    std::vector<std::string> shown;
    for (const timing::LinkLoad* load : busiest(cost.timing, kShown)) {
        shown.push_back(fmt::format("{} {:.1f} %", name_of(topology, load->link),
                                    100 * app::utilisation(*load, cost.timing)));
    }
    return fmt::format("{} of {} used{}{}", cost.timing.links.size(), topology.links().size(),
                       shown.empty() ? "" : "; busiest ", fmt::join(shown, ", "));
}

}  // namespace

text::Facts facts_of(const app::PlanCost& cost, const Topology& topology) {
    const Units units = topology.units();
    text::Facts facts{{"makespan", text::ticks_text(cost.timing.makespan, units)}};
    if (cost.bound) {
        facts.emplace_back(
            "bound", fmt::format("{}, {}", text::ticks_text(cost.bound->value, units), cost.bound->kind));
        facts.emplace_back("gap", fmt::format("{}, for chunks of this size", text::gap_text(cost.gap)));
        const bool has_gap = cost.timing.makespan > cost.bound->value;
        if (has_gap && !cost.skipped.empty()) facts.emplace_back("skipped", text::skipped_text(cost.skipped));
    }
    if (!cost.bound && !cost.no_bound.empty()) facts.emplace_back("bound", "none: " + cost.no_bound);
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
            facts.emplace_back("algbw", text::bandwidth_text(job.algbw_GBps));
            facts.emplace_back("busbw", text::bandwidth_text(job.busbw_GBps));
        } else if (!is_alone) {
            facts.emplace_back(cost.labels[i], job_text(job, units));
        }
    }
    facts.emplace_back("links", links_text(cost, topology));
    for (const std::string& note : cost.notes) facts.emplace_back("note", note);
    return facts;
}

}  // namespace tutti::cli

#include "app/plan_comparison.hpp"

#include <algorithm>

namespace tutti::app {
namespace {

bool is_comparable(const JudgedPlan& judged) {
    using enum plan::PlanClass;
    const bool is_right = judged.verdict.verdict == Valid || judged.verdict.verdict == ValidIfBuffered;
    return is_right &&
           std::ranges::all_of(judged.sizes, [](const SizedCost& at) { return at.cost.has_value(); });
}

bool same_condition(const JudgedPlan& a, const JudgedPlan& b) {
    const auto &one = a.condition.condition, &other = b.condition.condition;
    return one == other || (one && other && *one == *other);
}

/// Those with the same goal, in the order of the files.
std::vector<PlanComparison> grouped(std::span<const JudgedPlan> judged) {
    std::vector<PlanComparison> groups;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (!is_comparable(judged[i])) continue;
        const plan::PlanVerdict& verdict = judged[i].verdict;
        auto group = std::ranges::find_if(groups, [&](const PlanComparison& known) {
            return known.collective == verdict.collective && known.ranks == verdict.ranks &&
                   same_condition(judged[known.plans.front()], judged[i]);
        });
        PlanComparison& own = group != groups.end()
                                  ? *group
                                  : groups.emplace_back(PlanComparison{verdict.collective, verdict.ranks});
        own.plans.push_back(i);
    }
    return groups;
}

/// The plans of the group that take least time.
std::vector<std::size_t> least_of(const PlanComparison& group, const std::vector<Ticks>& times) {
    const Ticks least = *std::ranges::min_element(times);
    std::vector<std::size_t> fastest;
    for (std::size_t i = 0; i < times.size(); ++i) {
        if (times[i] == least) fastest.push_back(group.plans[i]);
    }
    return fastest;
}

io::Json files_of(std::span<const std::size_t> plans, std::span<const JudgedPlan> judged) {
    io::Json files = io::Json::array();
    for (const std::size_t i : plans) files.push_back(judged[i].file);
    return files;
}

}  // namespace

std::vector<PlanComparison> compare_plans(std::span<const JudgedPlan> judged, const PlanNetwork& network,
                                          const PlanOptions& options, const Stop& stop) {
    auto groups = grouped(judged);
    std::vector<std::int64_t> sizes;
    for (const Bytes size : network.sizes) sizes.push_back(size.count);
    for (PlanComparison& group : groups) {
        if (group.plans.size() < 2) continue;
        for (std::size_t s = 0; s < sizes.size(); ++s) {
            std::vector<Ticks> times;
            for (const std::size_t i : group.plans) times.push_back(judged[i].sizes[s].cost->timing.makespan);
            group.fastest.push_back(least_of(group, times));
        }
        group.crossovers = searched_crossovers(sizes, [&](std::int64_t bytes) {
            const auto listed = std::ranges::lower_bound(sizes, bytes);
            if (listed != sizes.end() && *listed == bytes)
                return group.fastest[static_cast<std::size_t>(listed - sizes.begin())];
            std::vector<Ticks> times;
            for (const std::size_t i : group.plans)
                times.push_back(makespan_of(judged[i], network, Bytes{bytes}, group_of(options, i), stop));
            return least_of(group, times);
        });
    }
    return groups;
}

io::Json json_of(const PlanComparison& comparison, std::span<const JudgedPlan> judged,
                 const PlanNetwork& network) {
    io::Json json{{"collective", comparison.collective},
                  {"ranks", comparison.ranks},
                  {"files", files_of(comparison.plans, judged)}};
    io::Json& sizes = json["sizes"] = io::Json::array();
    for (std::size_t s = 0; s < comparison.fastest.size(); ++s) {
        sizes.push_back(
            {{"bytes", network.sizes[s].count}, {"fastest", files_of(comparison.fastest[s], judged)}});
    }
    io::Json& crossovers = json["crossovers"] = io::Json::array();
    for (const Crossover& crossover : comparison.crossovers) {
        crossovers.push_back({{"before", judged[crossover.before].file},
                              {"below", crossover.below},
                              {"after", judged[crossover.after].file},
                              {"from", crossover.from},
                              {"exact", crossover.exact()}});
    }
    return json;
}

}  // namespace tutti::app

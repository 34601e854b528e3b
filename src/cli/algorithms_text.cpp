#include "cli/algorithms_text.hpp"

#include "text/format.hpp"
#include "text/size_table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::cli {
namespace {

text::SizeRow row_of(const app::JudgedPlan& judged, std::size_t size, bool fastest) {
    const app::PlanCost& cost = *judged.sizes[size].cost;
    const timing::JobTiming& job = cost.timing.jobs.front();
    text::SizeRow row{fastest, judged.file, static_cast<std::uint64_t>(judged.sizes[size].bytes.count)};
    row.time = cost.timing.makespan;
    if (cost.bound) row.bound = cost.bound->value;
    row.gap = cost.gap;
    row.algbw_GBps = job.algbw_GBps;
    row.busbw_GBps = job.busbw_GBps;
    return row;
}

/// Connections between ranks that no link joins are routed; of the fastest ones that is worth knowing.
text::SafeText notes_on(const app::JudgedPlan& judged) {
    text::SafeText lines;
    if (judged.verdict.verdict != plan::PlanClass::Valid)
        lines += text::safe_text("note: {} is {}\n", judged.file, name_of(judged.verdict.verdict));
    for (const std::string& note : judged.sizes.front().cost->notes)
        lines += text::safe_text("note: {}: {}\n", judged.file, note);
    return lines;
}

}  // namespace

text::SafeText algorithms_page(const app::ComparedAlgorithms& compared) {
    const auto& plans = compared.plans.compared;
    std::vector<std::string> names;
    for (const app::JudgedPlan& judged : plans) names.push_back(judged.file);
    std::vector<text::SizeRow> rows;
    std::vector<std::size_t> used;
    for (std::size_t s = 0; s < compared.network.sizes.size(); ++s) {
        std::vector<std::size_t> best;
        for (const auto& choice : compared.choices) best.push_back(choice.best[s]);
        std::ranges::stable_sort(
            best, {}, [&](std::size_t plan) { return plans[plan].sizes[s].cost->timing.makespan; });
        for (const std::size_t plan : best)
            rows.push_back(row_of(plans[plan], s, plan == best.front() && best.size() > 1));
        if (std::ranges::find(used, best.front()) == used.end()) used.push_back(best.front());
    }
    const plan::PlanVerdict& verdict = plans.front().verdict;
    const auto ranks = static_cast<std::uint64_t>(verdict.ranks);
    std::size_t tried = 0;
    for (const auto& choice : compared.choices) tried += choice.tried;
    text::SafeText page = text::safe_text("{}, {}: {} of the library in {}, each with its best parameters\n",
                                          verdict.collective, text::count_text(ranks, "rank"),
                                          text::count_text(compared.choices.size(), "algorithm"),
                                          text::count_text(tried, "variant"));
    page += text::size_table("algorithm", rows, compared.network.topology.units());
    for (const app::PlanComparison& comparison : compared.plans.comparisons)
        page += text::crossover_lines(names, comparison.crossovers);
    for (const std::size_t plan : used) page += notes_on(plans[plan]);
    for (const auto& [name, reason] : compared.left_out)
        page += text::safe_text("cannot be used here: {}: {}\n", name, reason);
    return page;
}

}  // namespace tutti::cli

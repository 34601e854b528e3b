#include "cli/plan_comparison_text.hpp"

#include "text/format.hpp"
#include "text/size_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tutti::cli {
namespace {

/// Only where there is a choice.
bool is_fastest(const app::JudgedPlans& plans, std::size_t plan, std::size_t size) {
    return std::ranges::any_of(plans.comparisons, [&](const app::PlanComparison& comparison) {
        return size < comparison.fastest.size() &&
               std::ranges::find(comparison.fastest[size], plan) != comparison.fastest[size].end();
    });
}

text::SizeRow row_of(const app::JudgedPlan& judged, const app::SizedCost& at, bool fastest) {
    text::SizeRow row{fastest, judged.file, static_cast<std::uint64_t>(at.bytes.count)};
    if (!at.cost) {
        row.remark = "not timed: " + at.not_timed;
        return row;
    }
    const timing::JobTiming& job = at.cost->timing.jobs.front();
    row.time = at.cost->timing.makespan;
    if (at.cost->bound) row.bound = at.cost->bound->value;
    row.gap = at.cost->gap;
    row.algbw_GBps = job.algbw_GBps;
    row.busbw_GBps = job.busbw_GBps;
    return row;
}

std::string goal_of(const app::JudgedPlan& judged) {
    return fmt::format("{}, {}", judged.verdict.collective,
                       text::count_text(static_cast<std::uint64_t>(judged.verdict.ranks), "rank"));
}

/// The plans that were timed, by what they are for, in the order of the files.
using Positions = std::vector<std::size_t>;
using Goals = std::vector<std::pair<std::string, Positions>>;
Goals timed_by_goal(const app::JudgedPlans& plans) {
    Goals goals;
    for (std::size_t i = 0; i < plans.compared.size(); ++i) {
        if (plans.compared[i].sizes.empty()) continue;
        const std::string goal = goal_of(plans.compared[i]);
        const auto known = std::ranges::find(goals, goal, &Goals::value_type::first);
        (known != goals.end() ? *known : goals.emplace_back(goal, Positions{})).second.push_back(i);
    }
    return goals;
}

/// What there is to be said of a plan: its verdict, and each note with the sizes that it is of.
text::SafeText notes_on(const app::JudgedPlan& judged) {
    text::SafeText lines;
    if (judged.verdict.verdict != plan::PlanClass::Valid)
        lines += text::safe_text("note: {} is {}\n", judged.file, name_of(judged.verdict.verdict));
    using Notes = std::vector<std::pair<std::string, std::vector<std::string>>>;
    Notes notes;
    for (const app::SizedCost& at : judged.sizes) {
        if (!at.cost) continue;
        for (const std::string& note : at.cost->notes) {
            const auto known = std::ranges::find(notes, note, &Notes::value_type::first);
            (known != notes.end() ? *known : notes.emplace_back(note, std::vector<std::string>()))
                .second.push_back(text::call_size_text(static_cast<std::uint64_t>(at.bytes.count)));
        }
    }
    for (const auto& [note, sizes] : notes) {
        lines += sizes.size() == judged.sizes.size()
                     ? text::safe_text("note: {}: {}\n", judged.file, note)
                     : text::safe_text("note: {} at {}: {}\n", judged.file,
                                       fmt::format("{}", fmt::join(sizes, ", ")), note);
    }
    return lines;
}

}  // namespace

text::SafeText comparison_page(const app::JudgedPlans& plans, const app::PlanNetwork& network) {
    std::vector<std::string> names;
    for (const app::JudgedPlan& judged : plans.compared) names.push_back(judged.file);
    text::SafeText page;
    for (const auto& [goal, members] : timed_by_goal(plans)) {
        std::vector<text::SizeRow> rows;
        for (std::size_t s = 0; s < network.sizes.size(); ++s) {
            for (const std::size_t i : members)
                rows.push_back(
                    row_of(plans.compared[i], plans.compared[i].sizes[s], is_fastest(plans, i, s)));
        }
        if (!page.empty()) page += text::safe_text("\n");
        page += text::safe_text("{}\n{}", goal, text::size_table("plan", rows, network.topology.units()));
        for (const app::PlanComparison& comparison : plans.comparisons) {
            if (!comparison.plans.empty() && goal_of(plans.compared[comparison.plans.front()]) == goal)
                page += text::crossover_lines(names, comparison.crossovers);
        }
        for (const std::size_t i : members) page += notes_on(plans.compared[i]);
    }
    return page;
}

text::SafeText comparison_line(const app::JudgedPlans& plans, const app::PlanNetwork& network) {
    io::Json files = io::Json::array(), comparisons = io::Json::array();
    for (const app::JudgedPlan& judged : plans.compared) files.push_back(judged.file);
    for (const app::PlanComparison& comparison : plans.comparisons)
        comparisons.push_back(app::json_of(comparison, plans.compared, network));
    const io::Json json{
        {"files", std::move(files)}, {"verdict", nullptr}, {"comparisons", std::move(comparisons)}};
    return text::SafeText::lines(io::json_line(json) + "\n");
}

}  // namespace tutti::cli

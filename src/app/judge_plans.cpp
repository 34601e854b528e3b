#include "app/judge_plans.hpp"

#include "app/ordered_pool.hpp"
#include "core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <thread>

namespace tutti::app {
namespace {

namespace fs = std::filesystem;

unsigned threads_of(const JudgeOptions& options) {
    return options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::string> all_candidates(const FilesToJudge& files) {
    std::vector<std::string> all = files.plans;
    for (const std::string& folder : files.folders) {
        const auto found = candidates_below(folder);
        all.insert(all.end(), found.begin(), found.end());
    }
    // A folder may be inside another that was named too.
    std::vector<std::string> once;
    std::ranges::sort(all);
    std::ranges::unique_copy(all, std::back_inserter(once));
    return once;
}

void expect_group_fits(const JudgedPlan& judged, std::span<const std::int32_t> group) {
    const auto ranks = static_cast<std::size_t>(judged.verdict.ranks);
    if (group.empty() || ranks == 0 || ranks == group.size()) return;
    throw InputError(fmt::format("the plan is for {} ranks, and --group names {} NPUs", ranks, group.size()),
                     {}, judged.file);
}

/// The plans of one call. Where each has a group of its own and there is a network, they are parts of one job
/// that run at once and are timed together; otherwise each is on its own.
class PlanRun {
  public:
    PlanRun(const std::vector<std::string>& files, PlanJudge::OtherFiles other_files,
            const JudgeOptions& options, const std::optional<PlanNetwork>& network, const Watch& watch,
            const PlanListener& listener)
        : files_(files),
          options_(options),
          network_(network),
          watch_(watch),
          listener_(listener),
          judge_(options, other_files, network.has_value()),
          together_(network && options.plan.groups.size() > 1),
          compares_(network && !network->sizes.empty()),
          judged_(files.size()) {}

    JudgedPlans run() {
        JudgedPlans plans{.files = files_.size()};
        listener_.begin(files_.size());
        try {
            run_ordered({.count = files_.size(),
                         .threads = threads_of(options_),
                         .work = [&](std::size_t i) { work(i); },
                         .deliver = [&](std::size_t i) { deliver(i, plans); },
                         .idle = listener_.idle,
                         .stop = watch_.interrupted});
            if (plans.judged == plans.files && together_) time_together(plans);
            if (plans.judged == plans.files && compares_) compare(plans);
            plans.complete = plans.judged == plans.files;
        } catch (const LimitError&) {
            // Stopped during timing.
        }
        return plans;
    }

  private:
    void work(std::size_t i) {
        JudgedPlan judged = judge_.judge(files_[i], i, watch_.stop());
        const bool fine = judged.plan && judged.verdict.acceptable();
        const auto group = group_of(options_.plan, i);
        if (fine && compares_) {
            time_at_sizes(judged, *network_, group, watch_.stop());
        } else if (fine && !together_) {
            time_plan(judged, *network_, group, watch_.stop());
        }
        if (!together_ && !compares_) judged.plan.reset();
        judged_[i] = std::move(judged);
    }

    void deliver(std::size_t i, JudgedPlans& plans) {
        JudgedPlan& judged = judged_[i];
        expect_group_fits(judged, group_of(options_.plan, i));
        listener_.judged(judged);
        if (!together_ && !compares_) judged = {};
        ++plans.judged;
    }

    void compare(JudgedPlans& plans) {
        plans.comparisons = compare_plans(judged_, *network_, options_.plan, watch_.stop());
        for (JudgedPlan& judged : judged_) judged.plan.reset();
        plans.compared = std::move(judged_);
    }

    void time_together(JudgedPlans& plans) const {
        const auto wrong = std::ranges::find_if(
            judged_, [](const JudgedPlan& judged) { return !judged.plan || !judged.verdict.acceptable(); });
        if (wrong != judged_.end()) {
            plans.not_together = wrong->file;
            return;
        }
        plans.together = app::time_together(judged_, *network_, options_.plan.groups, watch_.stop());
    }

    const std::vector<std::string>& files_;
    const JudgeOptions& options_;
    const std::optional<PlanNetwork>& network_;
    const Watch& watch_;
    const PlanListener& listener_;
    const PlanJudge judge_;
    const bool together_;
    const bool compares_;  ///< at several sizes
    std::vector<JudgedPlan> judged_;
};

/// One for all plans, or one for each.
void expect_number(std::string_view option, std::size_t found, std::size_t plans) {
    if (found <= 1 || found == plans) return;
    throw InputError(
        fmt::format("expected one {}, or one for each of the {} plans; found {}", option, plans, found));
}

}  // namespace

std::vector<std::string> candidates_below(const std::string& folder) {
    constexpr std::array<std::string_view, 3> kSuffixes{".xml", ".json", ".csv"};
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, error);
    if (error) throw InputError("the folder cannot be read: " + error.message(), {}, folder);
    for (; entries != fs::recursive_directory_iterator(); entries.increment(error)) {
        if (error) break;
        std::error_code unknown;
        const std::string suffix = entries->path().extension().string();
        if (std::ranges::find(kSuffixes, suffix) != kSuffixes.end() && entries->is_regular_file(unknown))
            files.push_back(entries->path().string());
    }
    std::ranges::sort(files);
    return files;
}

JudgedPlans judge_plans(const std::vector<std::string>& files, const JudgeOptions& options,
                        const std::optional<PlanNetwork>& network, const Watch& watch,
                        const PlanListener& listener) {
    expect_number("--group", options.plan.groups.size(), files.size());
    expect_number("--condition", options.plan.conditions.size(), files.size());
    return PlanRun(files, PlanJudge::OtherFiles::Malformed, options, network, watch, listener).run();
}

JudgedPlans judge_folders(const FilesToJudge& files, const JudgeOptions& options,
                          const std::optional<PlanNetwork>& network, const Watch& watch,
                          const PlanListener& listener) {
    if (!options.plan.groups.empty())
        throw InputError("--group belongs to the ranks of one plan; expected files, found a folder");
    if (options.plan.conditions.size() > 1)
        throw InputError(
            "several --condition belong to plans in their order; expected files, found a folder");
    std::size_t skipped = 0;
    PlanListener counting = listener;
    counting.judged = [&](const JudgedPlan& judged) {
        if (!judged.skipped.empty()) ++skipped;
        listener.judged(judged);
    };
    const std::vector<std::string> paths = all_candidates(files);
    const JudgedPlans plans =
        PlanRun(paths, PlanJudge::OtherFiles::Skipped, options, network, watch, counting).run();
    if (plans.complete && plans.judged == skipped) {
        throw InputError(fmt::format("no plan was found there ({} skipped)", skipped), {},
                         fmt::format("{}", fmt::join(files.folders, ", ")));
    }
    return plans;
}

}  // namespace tutti::app

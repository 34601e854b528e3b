#pragma once

#include "app/file_kind.hpp"
#include "app/plan_comparison.hpp"
#include "app/watch.hpp"

#include <functional>

namespace tutti::app {

/// Callbacks for plans while they are judged, all called from the calling thread.
struct PlanListener {
    std::function<void(std::size_t files)> begin = [](std::size_t) {};
    std::function<void(const JudgedPlan&)> judged = [](const JudgedPlan&) {};  ///< in the files' order
    std::function<void()> idle = [] {};                                        ///< several times a second
};

/// The result of judging several plans.
struct JudgedPlans {
    std::size_t files = 0;  ///< to be judged
    std::size_t judged = 0;
    /// The cost when they run at once: where each has a group of its own and there is a network.
    std::optional<PlanCost> together{};
    std::string not_together{};  ///< the file that is wrong, where they should have been timed together
    /// Where the network has several sizes: the judged plans, and what of them was compared.
    std::vector<JudgedPlan> compared{};
    std::vector<PlanComparison> comparisons{};
    bool complete = false;  ///< false: interrupted
};

/// Judges the named files as plans and, on a network, times them: together if each has a group of its own.
/// Throws InputError where groups and plans do not fit.
[[nodiscard]] JudgedPlans judge_plans(const std::vector<std::string>& files, const JudgeOptions& options,
                                      const std::optional<PlanNetwork>& network, const Watch& watch,
                                      const PlanListener& listener);

/// Judges every plan below folders, and named plans. Other files are skipped with a reason. Throws InputError
/// if there is no plan at all.
[[nodiscard]] JudgedPlans judge_folders(const FilesToJudge& files, const JudgeOptions& options,
                                        const std::optional<PlanNetwork>& network, const Watch& watch,
                                        const PlanListener& listener);

/// The files below a folder that may be plans, sorted. Unreadable folders are skipped; symbolic links to
/// folders are not followed, to avoid cycles. Throws InputError where the folder itself cannot be read.
[[nodiscard]] std::vector<std::string> candidates_below(const std::string& folder);

}  // namespace tutti::app

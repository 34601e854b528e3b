#pragma once

#include "app/file_kind.hpp"
#include "app/plan_network.hpp"
#include "app/watch.hpp"

#include <functional>

namespace tutti::app {

/// Who hears of plans while they are judged, all from the calling thread.
struct PlanListener {
    std::function<void(std::size_t files)> begin = [](std::size_t) {};
    std::function<void(const JudgedPlan&)> judged = [](const JudgedPlan&) {};  ///< in the files' order
    std::function<void()> idle = [] {};                                        ///< several times a second
};

/// How judging several plans ended.
struct JudgedPlans {
    std::size_t files = 0;  ///< to be judged
    std::size_t judged = 0;
    /// What they take when they run at once: where each has a group of its own and there is a network.
    std::optional<PlanCost> together{};
    std::string not_together{};  ///< the file that is wrong, where they should have been timed together
    bool complete = false;       ///< false: interrupted
};

/// Files that are named, judged as plans and, on a network, timed: together if each has a group of its own.
/// Throws InputError where groups and plans do not fit.
[[nodiscard]] JudgedPlans judge_plans(const std::vector<std::string>& files, const JudgeOptions& options,
                                      const std::optional<PlanNetwork>& network, const Watch& watch,
                                      const PlanListener& listener);

/// Every plan below folders, and plans that are named. What is no plan is skipped with a word. Throws
/// InputError if there is no plan at all.
[[nodiscard]] JudgedPlans judge_folders(const FilesToJudge& files, const JudgeOptions& options,
                                        const std::optional<PlanNetwork>& network, const Watch& watch,
                                        const PlanListener& listener);

}  // namespace tutti::app

#include "mpi/plan_folder.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tutti::mpi {

PlanFolder::PlanFolder(const std::string& folder) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const std::string suffix = entry.path().extension().string();
        const bool condition = entry.path().string().ends_with(".condition.json");
        if ((suffix == ".xml" || suffix == ".json") && !condition) files.push_back(entry.path().string());
    }
    if (error) problems_.push_back(folder + ": " + error.message());
    std::ranges::sort(files);
    for (const std::string& file : files) {
        try {
            plans_.push_back(app::load_plan(file));
            fingerprint_ = fingerprint_ * 31 + plans_.back()->fingerprint;
        } catch (const InputError& problem) {
            problems_.emplace_back(problem.what());
        } catch (const LimitError& problem) {
            problems_.push_back(file + ": " + problem.what());
        }
    }
    std::ranges::stable_sort(plans_, {},
                             [](const auto& plan) { return plan->most_bytes - plan->least_bytes; });
}

const app::LoadedPlan* PlanFolder::find(CollectiveKind kind, std::int32_t ranks, std::int64_t bytes) const {
    for (const auto& plan : plans_) {
        if (plan->goal() == kind && plan->ranks() == ranks && bytes >= plan->least_bytes &&
            bytes <= plan->most_bytes)
            return plan.get();
    }
    return nullptr;
}

bool PlanFolder::has(CollectiveKind kind, std::int32_t ranks) const {
    return std::ranges::any_of(
        plans_, [&](const auto& plan) { return plan->goal() == kind && plan->ranks() == ranks; });
}

}  // namespace tutti::mpi

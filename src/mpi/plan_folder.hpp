#pragma once

#include "app/loaded_plan.hpp"
#include "core/collective.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tutti::mpi {

/// The plans that calls of MPI programs are served by.
class PlanFolder {
  public:
    PlanFolder() = default;
    /// All plans in the folder; for what is no right plan there is a line in problems().
    explicit PlanFolder(const std::string& folder);

    /// The plan for a call of so many bytes of the larger buffer; null: there is none. Of several the one
    /// whose range of sizes is the narrowest counts, then the first by name.
    [[nodiscard]] const app::LoadedPlan* find(CollectiveKind kind, std::int32_t ranks,
                                              std::int64_t bytes) const;
    /// Whether there is any of that kind, whatever the size.
    [[nodiscard]] bool has(CollectiveKind kind, std::int32_t ranks) const;
    [[nodiscard]] const std::vector<std::string>& problems() const { return problems_; }
    [[nodiscard]] std::size_t count() const { return plans_.size(); }
    /// The same in all processes that have the same plans.
    [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

  private:
    std::vector<std::unique_ptr<const app::LoadedPlan>> plans_;
    std::vector<std::string> problems_;
    std::uint64_t fingerprint_ = 0;
};

}  // namespace tutti::mpi

#pragma once

#include "app/plan_network.hpp"
#include "core/crossover.hpp"

#include <span>
#include <string>
#include <vector>

namespace tutti::app {

/// Plans for one collective among as many ranks, held against each other at several sizes of the call.
struct PlanComparison {
    std::string collective{};
    std::int32_t ranks = 0;
    std::vector<std::size_t> plans{};  ///< by position among the judged
    /// By size, the positions of those that take least. Only where there is a choice: two that were timed.
    std::vector<std::vector<std::size_t>> fastest{};
    std::vector<Crossover> crossovers{};  ///< of positions among the judged
};

/// Compares plans that were timed at the network's sizes. Those that were judged not to be right, or of which
/// nobody knows what they are for, are compared with nobody. Where the fastest plan changes from one size to
/// the next, the size at which it does is searched for, to the byte; the plans are timed for that, so they
/// must be there. A plan stays the fastest until another is faster than it. Throws LimitError when stopped.
[[nodiscard]] std::vector<PlanComparison> compare_plans(std::span<const JudgedPlan> judged,
                                                        const PlanNetwork& network,
                                                        const PlanOptions& options, const Stop& stop);

/// `collective`, `ranks`, `files`, `sizes` (each with `bytes` and `fastest`, files) and `crossovers` (each
/// with `before`, `after`, files; `below`, `from`, bytes; `exact`).
[[nodiscard]] io::Json json_of(const PlanComparison& comparison, std::span<const JudgedPlan> judged,
                               const PlanNetwork& network);

}  // namespace tutti::app

#pragma once

#include "app/algorithms.hpp"
#include "app/judge_plans.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

/// The algorithms of the library on a network, each with the parameters that are the best there.
struct ComparedAlgorithms {
    struct Choice {
        std::string algorithm{};
        std::vector<std::size_t> best{};  ///< by size: a position in plans.compared
        std::size_t tried = 0;            ///< settings of its parameters
    };
    struct LeftOut {
        std::string algorithm{}, reason{};
    };
    PlanNetwork network;
    /// Those that are the best of their algorithm at some size, by name and parameters, timed at all sizes.
    JudgedPlans plans{};
    std::vector<std::map<std::string, std::int64_t>> parameters{};  ///< of plans.compared
    std::vector<Choice> choices{};
    std::vector<LeftOut> left_out{};  ///< which cannot be used there

    /// The position of the fastest at a size.
    [[nodiscard]] std::size_t fastest_at(std::size_t size) const;
};

/// All algorithms that serve the collective among all NPUs of the topology, tuned, compiled, verified, and
/// timed at all sizes. Throws InputError, LimitError.
[[nodiscard]] ComparedAlgorithms compare_algorithms(const AlgorithmsOptions& options,
                                                    const Watch& watch = {});

/// `algorithms` (each with `name`, `algorithm`, `parameters`, `verdict`, `steps`, `chunks`, `sizes`: `bytes`,
/// `makespan`, `lower_bound`, `gap`), `best` (by size, the same with `name`), `comparisons`, `left_out`
/// (each with `algorithm`, `reason`).
[[nodiscard]] io::Json json_of(const ComparedAlgorithms& compared);

}  // namespace tutti::app

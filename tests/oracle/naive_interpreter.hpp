#pragma once

#include "plan/msccl_plan.hpp"
#include "tests/oracle/plan_machine.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tutti::oracle {

/// What the runtimes leave open, and what a run is to be made with.
struct NaiveOptions {
    bool message_per_chunk = true;  ///< else one for each step
    std::optional<int> capacity{};  ///< messages of a connection; the protocol's unless given
    std::uint64_t seed = 1;         ///< of the data, and of the turns
    std::size_t elements = 2;       ///< of a chunk
};

struct NaiveEnd {
    std::vector<std::string> stuck{};  ///< which steps wait, and for what; empty: all have run
    std::vector<std::string> wrong{};  ///< results that are not what the collective wants, messages left over
    [[nodiscard]] bool right() const { return stuck.empty() && wrong.empty(); }
};

/// Runs a plan on data with a thread for each thread block. Never hangs: when no thread can go on, all end.
/// Throws std::invalid_argument where a step names memory or a connection that does not exist.
[[nodiscard]] NaiveEnd run_with_threads(const plan::MscclPlan& plan, const PlanCall& call,
                                        const NaiveOptions& options = {});
/// The same in one thread: who goes on next is drawn by lot. The same seed gives the same run.
[[nodiscard]] NaiveEnd run_by_turns(const plan::MscclPlan& plan, const PlanCall& call,
                                    const NaiveOptions& options = {});

}  // namespace tutti::oracle

#pragma once

#include "plan/plan_verdict.hpp"
#include "tests/oracle/interleavings.hpp"
#include "tests/oracle/plan_machine.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tutti::oracle {

/// How to read a plan, as the switches of `tutti verify` have it.
struct PlanQuestion {
    std::optional<CollectiveKind> goal{};
    std::optional<std::int32_t> root{};
    bool operand_is_destination = false, copies_first = false;
    std::optional<plan::Condition> condition{};
};

/// What exhaustive exploration says of a plan.
struct Opinion {
    enum class Kind {
        Fine,       ///< every interleaving ends, and right (without a postcondition: always the same)
        Structure,  ///< cannot be run
        Hangs,
        Wrong,     ///< some interleaving ends with another output than it should
        Undecided  ///< too many states
    } kind = Kind::Fine;
    std::set<std::string> structure{};
    bool always_wrong = false;           ///< Wrong, and the outputs do not differ between interleavings
    std::optional<std::int32_t> root{};  ///< for which it is fine
    std::set<std::pair<std::int32_t, std::int64_t>> wrong{};  ///< gpu and output chunk, for some root
    std::vector<std::set<std::string>> faults_by_root{};
    /// If it hangs: gpu and block, and the step at which that block hangs.
    std::map<std::pair<std::int32_t, std::int32_t>, int> stuck{};
    std::optional<std::int64_t> chunks_needed{}, steps_needed{};  ///< FIFO capacities; only if nothing hangs
    std::uint64_t states = 0;
};

/// The ways to call the plan: for each root that it may have, one or two modes.
[[nodiscard]] std::vector<std::vector<PlanCall>> calls_of(const plan::MscclPlan& plan,
                                                          const PlanQuestion& question);

[[nodiscard]] Opinion opinion_on(const plan::MscclPlan& plan, const PlanQuestion& question,
                                 const ExploreOptions& options = {});

/// What is to be said of a race between two steps.
enum class RaceCheck {
    NoSuchSteps,
    NoConflict,  ///< they touch no place in common, or only read it
    Ordered,     ///< one of the two orders is in no interleaving
    Dead,        ///< what is unordered with a write reaches no output that matters, in any interleaving
    Real
};
[[nodiscard]] RaceCheck race_between(const plan::MscclPlan& plan, const PlanQuestion& question,
                                     const plan::Place& one, const plan::Place& other);

/// Some two steps with a real race between them.
[[nodiscard]] std::optional<std::pair<plan::Place, plan::Place>> some_race(const plan::MscclPlan& plan,
                                                                           const PlanQuestion& question);

}  // namespace tutti::oracle

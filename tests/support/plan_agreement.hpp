#pragma once

#include "plan/msccl_plan.hpp"
#include "tests/oracle/plan_opinion.hpp"

#include <string>

namespace tutti::test {

/// What the verifier and exhaustive exploration make of one plan.
struct PlanComparison {
    std::string difference{};  ///< in words; empty: they agree
    /// "valid", "structure", "deadlock", "race" (outcomes differ), "value" (always wrong), "harmless race"
    /// (all outcomes are right, though a live access is unordered), "undecided".
    std::string kind{};
    bool needs_buffers = false;  ///< more than one message per connection
    std::string verdict{};       ///< the verifier's, in words
};

/// They agree if
///  - what the verifier accepts ends right in every interleaving, with exactly the FIFO capacities that it
///  names, and
///    has no live race;
///  - what it calls deadlock hangs, and the steps that it names are among those that hang;
///  - what it calls a wrong value is wrong in some interleaving, at the output it names;
///  - what it calls a race has both orders and reaches an output; it says so if and only if there is such a
///  pair;
///  - what it refuses for its structure cannot be run, for that reason.
[[nodiscard]] PlanComparison compare(const plan::MscclPlan& plan, const oracle::PlanQuestion& question,
                                     std::uint64_t max_states = 20'000);

}  // namespace tutti::test

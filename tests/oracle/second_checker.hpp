#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"

#include <set>

namespace tutti::oracle {

/// What the second checker thinks of a schedule.
struct Findings {
    std::set<Rule> broken;
    Ticks makespan;             ///< the true one
    std::vector<Ticks> finish;  ///< by collective: its last arrival

    [[nodiscard]] bool valid() const { return broken.empty(); }
};

/// Judges a schedule in memory by src/verify/README.md, slowly and plainly. It shares no code with the
/// verifier. V4 is about streams and never broken here. Time O(sends^2); for tests.
[[nodiscard]] Findings second_check(const Instance& instance, const Schedule& schedule);

}  // namespace tutti::oracle

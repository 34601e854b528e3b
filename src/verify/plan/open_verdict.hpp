#pragma once

#include "verify/plan/findings.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <string>
#include <utility>

namespace tutti::verify {

/// The verdict on a plan that names no collective, while it is being made.
struct OpenVerdict {
    explicit OpenVerdict(const PlanReading& reading)
        : violations(reading.max_findings), warnings(reading.max_findings) {
        warn_of_condition(reading, warnings);
    }

    plan::PlanVerdict verdict{};
    Findings violations, warnings;
    bool undecided = false;  ///< the file does not say enough to tell what is right

    void leave_undecided(const std::string& why) {
        undecided = true;
        warnings.add("lacks", why);
    }
    /// Ends it.
    [[nodiscard]] plan::PlanVerdict settled() {
        using enum plan::PlanClass;
        settle(verdict,
               !violations.empty() ? Invalid
               : undecided         ? StructureOnly
                                   : Valid,
               violations, warnings);
        return std::move(verdict);
    }
};

}  // namespace tutti::verify

#pragma once

#include "plan/plan_verdict.hpp"

#include <string>
#include <utility>
#include <vector>

namespace tutti::verify {

/// Findings of one kind: the first ones are kept, all are counted.
class Findings {
  public:
    explicit Findings(std::size_t most) : most_(most) {}

    void add(std::string code, std::string message, plan::Place place = {},
             std::vector<plan::Place> others = {}) {
        ++count_;
        if (kept_.size() < most_) {
            kept_.push_back({std::move(code), std::move(message), place, std::move(others)});
        }
    }
    void add_all(std::vector<plan::PlanFinding> findings, std::uint64_t count) {
        count_ += count;
        for (plan::PlanFinding& finding : findings) {
            if (kept_.size() < most_) kept_.push_back(std::move(finding));
        }
    }

    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// Whether another finding would be kept; otherwise its message need not be made.
    [[nodiscard]] bool open() const { return kept_.size() < most_; }
    void count_one() { ++count_; }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    [[nodiscard]] const std::vector<plan::PlanFinding>& kept() const { return kept_; }
    [[nodiscard]] std::vector<plan::PlanFinding> take() { return std::move(kept_); }

  private:
    std::size_t most_;
    std::uint64_t count_ = 0;
    std::vector<plan::PlanFinding> kept_;
};

/// Conditions do not apply to plans without buffers.
template <class Reading>
void warn_of_condition(const Reading& reading, Findings& warnings) {
    if (reading.condition)
        warnings.add("ignored", "conditions are for plans with buffers; this one is not used");
}

/// Completes a verdict with the findings and the resulting class.
inline void settle(plan::PlanVerdict& verdict, plan::PlanClass comes_to, Findings& violations,
                   Findings& warnings) {
    verdict.verdict = comes_to;
    verdict.violation_count = violations.count();
    verdict.violations = violations.take();
    verdict.warning_count = warnings.count();
    verdict.warnings = warnings.take();
}

}  // namespace tutti::verify

#pragma once

#include "core/instance.hpp"
#include "core/verdict.hpp"

namespace tutti::verify {

/// Collects violations: keeps the first ones and counts the rest.
class Report {
  public:
    Report(const Instance& instance, std::size_t limit) : instance_(instance), limit_(limit) {}

    /// `describe()` makes the violation without its rule, and is called only while violations are kept; its
    /// collective and group are filled in from its chunk.
    template <class Describe>
    void add(Rule rule, Describe&& describe) {
        ++count_;
        if (violations_.size() >= limit_) return;
        Violation violation = describe();
        violation.rule = rule;
        if (violation.chunk) {
            violation.collective = instance_.collective_of(*violation.chunk).id;
            violation.group = instance_.group_of(*violation.chunk).name;
        }
        violations_.push_back(std::move(violation));
    }

    [[nodiscard]] Verdict verdict() && {
        Verdict verdict;
        verdict.violations = std::move(violations_);
        verdict.violation_count = count_;
        return verdict;
    }

  private:
    const Instance& instance_;
    std::size_t limit_;
    std::vector<Violation> violations_;
    std::uint64_t count_ = 0;
};

}  // namespace tutti::verify

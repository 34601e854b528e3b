#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"

#include <set>
#include <string>

namespace tutti::test {

/// What the verifier and the second checker think of one schedule.
struct Opinions {
    std::set<std::string> verifier;  ///< codes of the rules broken
    std::set<std::string> second;
    Ticks verifier_makespan, second_makespan;
    std::vector<Ticks> verifier_finish, second_finish;  ///< by collective

    [[nodiscard]] bool agree() const {
        return verifier == second && verifier_makespan == second_makespan && verifier_finish == second_finish;
    }
    /// "verifier: link_overlap, makespan 5; second checker: …".
    [[nodiscard]] std::string text() const;
};

[[nodiscard]] Opinions opinions_on(const Instance& instance, const Schedule& schedule);

/// The codes of the rules broken, on which both must agree, as on the makespan: a difference fails the test.
[[nodiscard]] std::set<std::string> broken(const Instance& instance, const Schedule& schedule);

/// The last arrival, on which both must agree.
[[nodiscard]] std::int64_t true_makespan(const Instance& instance, const Schedule& schedule);

[[nodiscard]] std::set<std::string> codes_of(const std::set<Rule>& rules);

}  // namespace tutti::test

#include "tests/support/both_checkers.hpp"

#include "tests/oracle/second_checker.hpp"
#include "tests/support/builders.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

namespace tutti::test {

std::set<std::string> codes_of(const std::set<Rule>& rules) {
    std::set<std::string> codes;
    for (const Rule rule : rules) codes.emplace(code_of(rule));
    return codes;
}

std::string Opinions::text() const {
    const auto counts = [](const std::vector<Ticks>& all) {
        std::vector<std::int64_t> result;
        for (const Ticks ticks : all) result.push_back(ticks.count());
        return result;
    };
    return fmt::format("verifier: [{}], makespan {}, finish {}; second checker: [{}], makespan {}, finish {}",
                       fmt::join(verifier, ", "), verifier_makespan.count(), counts(verifier_finish),
                       fmt::join(second, ", "), second_makespan.count(), counts(second_finish));
}

Opinions opinions_on(const Instance& instance, const Schedule& schedule) {
    const auto verdict = verify::verify(instance, schedule, {std::numeric_limits<std::size_t>::max()});
    const auto findings = oracle::second_check(instance, schedule);
    Opinions opinions;
    for (const Violation& violation : verdict.violations) opinions.verifier.emplace(code_of(violation.rule));
    opinions.second = codes_of(findings.broken);
    opinions.verifier_makespan = verdict.makespan;
    opinions.second_makespan = findings.makespan;
    opinions.verifier_finish = verdict.finish;
    opinions.second_finish = findings.finish;
    return opinions;
}

std::set<std::string> broken(const Instance& instance, const Schedule& schedule) {
    const Opinions opinions = opinions_on(instance, schedule);
    CHECK_MESSAGE(opinions.agree(), opinions.text() << "\n" << text_of(instance, schedule));
    return opinions.verifier;
}

std::int64_t true_makespan(const Instance& instance, const Schedule& schedule) {
    const Opinions opinions = opinions_on(instance, schedule);
    CHECK_MESSAGE(opinions.agree(), opinions.text() << "\n" << text_of(instance, schedule));
    return opinions.verifier_makespan.count();
}

}  // namespace tutti::test

#pragma once

#include "plan/plan_verdict.hpp"
#include "plan/program.hpp"
#include "verify/plan/postcondition.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tutti::verify {

/// How a program is judged.
struct ProgramQuestion {
    Postcondition postcondition{};  ///< its root is ignored where `root` is not given
    std::optional<Rank> root{};     ///< nothing: any root that fits; it is reported
    /// Of sendrecv: every rank may get the input of any other one; who sends to whom is reported.
    bool senders_open = false;
    /// An op in the file's notation, for messages: "rrc i[2] -> o[2]".
    std::function<std::string(plan::OpId)> describe{};
    /// Where an op stands; asked where the program does not know it.
    std::function<plan::Place(plan::OpId)> place{};
    std::size_t max_findings = 20;
};

/// The answer for every interleaving. Codes: `deadlock`, `race`, `packet`, `value`; a race that reaches no
/// output is a warning `dead-race`.
struct ProgramAnswer {
    std::vector<plan::PlanFinding> violations{}, warnings{};
    std::uint64_t violation_count = 0, warning_count = 0;
    std::optional<Rank> root{};  ///< of a rooted goal: given, or found
    /// Where senders are open: whose input each rank gets, if not that of the rank before it.
    std::vector<Rank> senders{};
};

/// Near-linear in the places that all moves touch.
[[nodiscard]] ProgramAnswer decide(const plan::Program& program, const ProgramQuestion& question);
/// The same of a program that nobody needs any more: what has done its work is freed on the way.
[[nodiscard]] ProgramAnswer decide(plan::Program&& program, const ProgramQuestion& question);

}  // namespace tutti::verify

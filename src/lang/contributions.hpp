#pragma once

#include "lang/trace.hpp"
#include "plan/condition.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::lang {

/// How often each contribution is in a place.
using Counted = std::map<plan::Contribution, std::uint32_t>;

/// What is in that place at the end, exactly: only the verbs that lead there are run again.
[[nodiscard]] Counted contributions_of(const Trace& trace, const Slot& slot);

/// What is wrong with a place, and the line that did it, where there is one.
struct Wrong {
    std::string words{}, place{};
};
/// Why a place does not hold what is wanted: what is missing, what is too much, what is counted twice.
[[nodiscard]] Wrong why_wrong(const Trace& trace, const Wanted& wanted);
/// The first output that holds a contribution twice, for custom collectives, which have no other rule.
[[nodiscard]] std::optional<Wrong> counted_twice(const Trace& trace);

/// The pre- and postcondition that say what the trace begins and ends with, in terms of input chunks by their
/// places. Places of the output that hold a contribution twice are left out. Throws InputError where a result
/// depends on what an output buffer of a custom collective held at first.
[[nodiscard]] plan::Condition condition_of(const Trace& trace);

}  // namespace tutti::lang

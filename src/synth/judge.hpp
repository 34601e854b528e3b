#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/verdict.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <string>

namespace tutti::synth {

/// Verifies a schedule before it is returned: throws InternalError, which names `who`, when it is invalid or
/// beats a lower bound. A failure here is a bug in tutti (or in a solver), never the user's. Returns the
/// verdict.
Verdict judge(const Instance& instance, const Schedule& schedule, const Bound& bound, const std::string& who);
/// The same for a schedule that is judged while it is generated.
Verdict judge(const Instance& instance, SendSource& sends, const Bound& bound, const std::string& who);
/// The same for one in generator form, judged as such.
Verdict judge(const Instance& instance, const symmetry::SymmetricSchedule& schedule, const Bound& bound,
              const std::string& who);
/// The same for an existing verdict.
void judge(const Verdict& verdict, const Bound& bound, const std::string& who);
/// Only the comparison of a verified makespan with a bound.
void judge(Ticks makespan, const Bound& bound, const std::string& who);

/// Throws InternalError when the certificate does not prove the bound. False where the check gives up: then
/// the bound must not be used. Not done on very large instances, where checking would take longer than
/// finding.
[[nodiscard]] bool judge(const Instance& instance, const Bound& bound);

/// Whether the above checks at all.
[[nodiscard]] bool is_checkable(const Instance& instance, const Bound& bound);

}  // namespace tutti::synth

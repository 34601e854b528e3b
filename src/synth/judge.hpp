#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/verdict.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <string>

namespace tutti::synth {

/// Nothing leaves unverified, and no solver is believed: throws InternalError, which names `who`, when the
/// schedule is not valid or beats a lower bound. What fails here is a bug of ours (or of a solver), never the
/// user's. What the verifier found out about it.
Verdict judge(const Instance& instance, const Schedule& schedule, const Bound& bound, const std::string& who);
/// The same for one that is judged while it is made.
Verdict judge(const Instance& instance, SendSource& sends, const Bound& bound, const std::string& who);
/// The same for one in generator form, judged as such.
Verdict judge(const Instance& instance, const symmetry::SymmetricSchedule& schedule, const Bound& bound,
              const std::string& who);
/// The same for a verdict that is there already.
void judge(const Verdict& verdict, const Bound& bound, const std::string& who);
/// The part of it that is left when a verified schedule meets a later bound.
void judge(Ticks makespan, const Bound& bound, const std::string& who);

/// Throws InternalError when the certificate does not prove the bound. Not done on very large instances,
/// where checking would take longer than finding.
void judge(const Instance& instance, const Bound& bound);

/// Whether the above checks at all.
[[nodiscard]] bool is_checkable(const Instance& instance, const Bound& bound);

}  // namespace tutti::synth

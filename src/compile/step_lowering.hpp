#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "plan/sccl_plan.hpp"

namespace tutti::compile {

/// The schedule as steps of sends between NPUs, for io::write_sccl_json: demands as chunks, the contributions
/// of a reduction at one address, sends through switches folded, rounds as many as links need. What arrives
/// in SCCL's steps is added to what is there, so where the schedule replaces partial sums (an all-reduce made
/// of halves does) the plan has times and operations instead, as TACCL writes them: a round takes ten units.
///
/// Throws InputError where steps cannot say the schedule: releases, chunks of different sizes, switches that
/// copy or reduce, sums that overtake each other, more than kMostStepNpus NPUs. Precondition: the schedule is
/// valid.
[[nodiscard]] plan::ScclPlan lower_to_steps(const Instance& instance, const Schedule& schedule);

/// The files hold a number for each pair of NPUs.
inline constexpr std::uint32_t kMostStepNpus = 2048;

}  // namespace tutti::compile

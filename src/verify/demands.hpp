#pragma once

#include "verify/holdings.hpp"
#include "verify/reduction_counts.hpp"
#include "verify/report.hpp"

namespace tutti::verify {

/// V15 and V16, when everything has arrived. Chunks for which counting does not suffice are opened in
/// `exact`.
void judge_demands(const Instance& instance, const Tables& tables, const Holdings& plain,
                   ReductionCounts& counted, ExactSums& exact, Report& report);

}  // namespace tutti::verify

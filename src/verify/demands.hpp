#pragma once

#include "verify/counted_sums.hpp"
#include "verify/plain_chunks.hpp"
#include "verify/report.hpp"

namespace tutti::verify {

/// V15 and V16, when everything has arrived. Chunks that cannot be counted on are opened in `exact`.
void judge_demands(const Instance& instance, const Tables& tables, const PlainChunks& plain,
                   CountedSums& counted, ExactSums& exact, Report& report);

}  // namespace tutti::verify

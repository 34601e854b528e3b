#pragma once

#include "core/verdict.hpp"
#include "symmetry/symmetric_schedule.hpp"
#include "verify/schedule_verifier.hpp"

namespace tutti::verify {

/// Judges a schedule in generator form without expanding it. V18 requires that its symmetries are valid and
/// that no chunk is an image twice; a schedule that breaks V18 is judged no further, and one that satisfies
/// it is valid exactly when its expansion is (proof in symmetric_verifier.cpp). Positions in the verdict are
/// those in `schedule.sends`, and a violation stands for all its images; `sends` counts the expansion's.
/// Networks with switches break V18. Time O(sends * log sends + links + chunks + NPUs * generators), and that
/// of merging contributions; memory O(links + chunks + sends) and, for reductions, the values of one chunk at
/// a time.
[[nodiscard]] Verdict verify(const Instance& instance, const symmetry::SymmetricSchedule& schedule,
                             const Options& options = {});

}  // namespace tutti::verify

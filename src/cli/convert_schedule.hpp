#pragma once

#include "cli/options.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/verdict.hpp"
#include "io/schedule_stream.hpp"

#include <atomic>

namespace tutti::cli {

/// Rewrites a schedule as JSON, as a stream or as a trace while it is judged; the file appears only if it is
/// valid. Throws LimitError when interrupted.
[[nodiscard]] Verdict convert_schedule(io::OpenSchedule& schedule, const Instance& instance,
                                       const ConvertOptions& options, const std::atomic<bool>* interrupted);

/// A schedule in memory, and what the verifier says of it.
struct JudgedSchedule {
    Verdict verdict{};
    Schedule schedule{};  ///< whole if the verdict is valid
};

/// Throws LimitError when interrupted, InputError when there are more sends than any plan could hold.
[[nodiscard]] JudgedSchedule judged_schedule(io::OpenSchedule& schedule, const Instance& instance,
                                             const std::atomic<bool>* interrupted);

}  // namespace tutti::cli

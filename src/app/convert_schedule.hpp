#pragma once

#include "app/convert_options.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/stop.hpp"
#include "core/verdict.hpp"
#include "io/schedule_stream.hpp"

namespace tutti::app {

/// Rewrites a schedule as JSON, as a stream or as a trace while verifying it; the file appears only if it is
/// valid. Throws LimitError when stopped.
[[nodiscard]] Verdict convert_schedule(io::OpenSchedule& schedule, const Instance& instance,
                                       const ConvertOptions& options, const Stop& stop);

/// A schedule in memory and its verdict.
struct HeldSchedule {
    Verdict verdict{};
    Schedule schedule{};  ///< whole if the verdict is valid
};

/// Throws LimitError when stopped, InputError when there are more sends than any plan could hold.
[[nodiscard]] HeldSchedule held_schedule(io::OpenSchedule& schedule, const Instance& instance,
                                         const Stop& stop);

}  // namespace tutti::app

#pragma once

#include "app/convert_options.hpp"
#include "app/convert_tensor.hpp"
#include "app/convert_times.hpp"
#include "app/plan_formats.hpp"
#include "app/watch.hpp"
#include "core/verdict.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct Conversion {
    std::string file{};                        ///< the schedule; of a folder the one that is invalid
    Verdict verdict{};                         ///< of that schedule
    std::vector<std::string> notes{};          ///< if it is invalid: for which instance it was made
    Units units{};                             ///< of times
    std::optional<PlanTimes> times{};          ///< of plans: what they take, where that was computed
    std::vector<WrittenPlan> plans{};          ///< none where the schedule stays a schedule
    std::string environment{};                 ///< of a folder: what to set so that its runtime finds it
    std::optional<TensorConversion> tensor{};  ///< of a tensor program; then nothing else is set
};

/// Whether the format is a plan format, and no form of our own schedules.
[[nodiscard]] bool is_plan(ConvertFormat format);

/// Whether it is a format of tensor programs.
[[nodiscard]] bool is_tensor_format(ConvertFormat format);

/// Reads a schedule (for a folder: several), verifies it and writes it in another format; plans are verified
/// again, as plans. An invalid schedule is not written, and the verdict says why. Throws InputError for what
/// the format cannot express, LimitError when interrupted, BugError.
[[nodiscard]] Conversion convert(const ConvertOptions& options, const Watch& watch = {});

/// `file`, `verdict`, `makespan`, `sends`, and `schedule`, or `plans`, `schedule_makespan` and
/// `plan_makespan`; for a folder `directory`, `target`,
/// `environment`, `plans`.
[[nodiscard]] io::Json json_of(const Conversion& conversion, const ConvertOptions& options);

}  // namespace tutti::app

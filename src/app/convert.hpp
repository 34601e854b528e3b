#pragma once

#include "app/convert_options.hpp"
#include "app/plan_formats.hpp"
#include "app/watch.hpp"
#include "core/verdict.hpp"

#include <string>
#include <vector>

namespace tutti::app {

/// A plan made by a conversion; `file` is only a name where nothing was written.
struct WrittenPlan {
    std::string path{};
    MadePlan plan{};
    std::string condition_path{};  ///< empty: no condition was needed
};

struct Conversion {
    std::string file{};                ///< the schedule; of a folder the one that is invalid
    Verdict verdict{};                 ///< of that schedule
    std::vector<WrittenPlan> plans{};  ///< none where the schedule stays a schedule
    std::string environment{};         ///< of a folder: what to set so that its runtime finds it
};

/// Whether the format is a plan format, and no form of our own schedules.
[[nodiscard]] bool is_plan(ConvertFormat format);

/// Reads a schedule (for a folder: several), verifies it and writes it in another format; plans are verified
/// again, as plans. An invalid schedule is not written, and the verdict says why. Throws InputError for what
/// the format cannot express, LimitError when interrupted, BugError.
[[nodiscard]] Conversion convert(const ConvertOptions& options, const Watch& watch = {});

/// `file`, `verdict`, `makespan`, `sends`, and `schedule` or `plans`; for a folder `directory`, `target`,
/// `environment`, `plans`.
[[nodiscard]] io::Json json_of(const Conversion& conversion, const ConvertOptions& options);

}  // namespace tutti::app

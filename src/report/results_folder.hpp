#pragma once

#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::report {

/// The lines of folder/results.jsonl: the last of each key, in the order in which the keys first came. A
/// resumed run has some twice. Throws InputError.
[[nodiscard]] std::vector<io::ResultLine> lines_in(const std::string& folder);

/// Where a line's schedule is: a journal names files as seen from where the run was, and its schedules may
/// also be found below the folder.
[[nodiscard]] std::string schedule_file(const std::string& folder, const io::ResultLine& line);

/// The line that is about this schedule, if it lies below a folder of results. Unreadable results are none.
[[nodiscard]] std::optional<io::ResultLine> line_about(const std::string& schedule);

}  // namespace tutti::report

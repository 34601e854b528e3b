#pragma once

#include "io/json_view.hpp"

#include <cstdint>
#include <string>

namespace tutti::report {

/// Writes the page of a tensor program's timeline: `made` is added to the data (docs/tuning.md has the rest).
/// Returns its size. Throws OutputError.
std::uint64_t write_timeline(const std::string& path, io::Json data);

}  // namespace tutti::report

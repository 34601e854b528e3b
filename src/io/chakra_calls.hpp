#pragma once

#include "core/stop.hpp"
#include "plan/call_list.hpp"

#include <string>
#include <vector>

namespace tutti::io {

/// The communication of execution traces, a file for each rank: Chakra's own (.et, or as JSON by its
/// jsonizer), and those of PyTorch (JSON with "schema" and "nodes"). The rank is the last number in the
/// file's name. A file whose outermost object maps numbers to lists of ranks gives ASTRA-sim's groups. Throws
/// InputError with file and place.
[[nodiscard]] plan::CallList read_chakra_calls(const std::vector<std::string>& files, const Stop& stop = {});

}  // namespace tutti::io

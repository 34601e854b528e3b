#pragma once

#include "core/ticks.hpp"
#include "core/topology.hpp"

#include <string>

namespace tutti::io {

/// "42", or with ticks of 1 ps "1.5 us", in the largest unit that leaves a number of at least 1.
[[nodiscard]] std::string time_text(Ticks ticks, Units units, int digits = 5);

}  // namespace tutti::io

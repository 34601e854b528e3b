#pragma once

#include "verify/plan/sums.hpp"

#include <string>

namespace tutti::verify {

/// "(0,3) + (1,3)": the contributions (rank, chunk) of a sum; long ones are cut. Undefined: "nothing
/// defined".
[[nodiscard]] std::string text_of(const Sums& sums, SumId value, std::int64_t places_per_chunk);

/// "holds … instead of …": what is missing, what is counted too often, what does not belong there.
[[nodiscard]] std::string difference_text(const Sums& sums, SumId value, SumId expected,
                                          std::int64_t places_per_chunk);

}  // namespace tutti::verify

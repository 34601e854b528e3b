#pragma once

#include "models/exact.hpp"

#include <functional>
#include <string>

namespace tutti::models {

/// Looks for schedules where times are long (picoseconds): in small times, with CP-SAT, and in forms that are
/// quick to search (encode/exchange for sums; links pressed for time for everything else). What is found is
/// retimed and offered, if it is shorter than the incumbent: `offer` says whether it is valid. Proves
/// nothing. Ends when a schedule meets the bound, when every question is answered, or with the stop; at once
/// where times cannot be small (small_times.hpp).
void search_in_small_times(const HorizonRequest& request,
                           const std::function<bool(const Schedule&, const std::string& who)>& offer);

}  // namespace tutti::models

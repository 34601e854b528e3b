#pragma once

#include "models/exact.hpp"

namespace tutti::models {

/// Shortens the incumbent where the instance is too large for one model: large neighbourhood search with
/// CP-SAT. Few chunks at a time are routed anew around all others. Proves nothing: the bound comes back as it
/// was. Ends when the incumbent meets the bound, with the stop, or at once where the schedule is not of the
/// form that the models know (HorizonResult::obstacle says why).
[[nodiscard]] HorizonResult search_neighbourhoods(const HorizonRequest& request);

}  // namespace tutti::models

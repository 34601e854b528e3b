#pragma once

/// The JSON type of app's results: each call has a json_of(). For callers that include only app.

#include "io/json_text.hpp"  // IWYU pragma: export
#include "io/json_view.hpp"  // IWYU pragma: export

#pragma once

/// JSON as this room's answers have it: each call has a json_of(). Who only calls this room includes this.

#include "io/json_text.hpp"  // IWYU pragma: export
#include "io/json_view.hpp"  // IWYU pragma: export

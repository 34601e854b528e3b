#pragma once

#include "io/source.hpp"
#include "plan/call_list.hpp"

namespace tutti::io {

/// Calls by rank in tutti's own format (docs/call-order.md). Throws InputError with file and place.
[[nodiscard]] plan::CallList read_call_list_json(Source& source);

}  // namespace tutti::io

#pragma once

#include "app/json.hpp"
#include "core/error.hpp"
#include "core/outcome.hpp"
#include "core/variation.hpp"

#include <string>

namespace tutti::app {

/// From a file, or "-" for standard input, with what takes the place of what it says. Throws InputError with
/// file and place, LimitError when stopped.
[[nodiscard]] Instance read_instance(const std::string& path, const Variation& variation = {},
                                     const Stop& stop = {});

/// The JSON object for a file that cannot be read: `file`, `verdict` malformed, `error`, `place`.
[[nodiscard]] io::Json malformed_json(const std::string& file, const InputError& error);

}  // namespace tutti::app

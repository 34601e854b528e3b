#pragma once

#include "app/compile.hpp"
#include "cli/values.hpp"

namespace tutti::cli {

/// An algorithm of the library: --ranks, --collective, --root, --mode, --set.
[[nodiscard]] lang::AlgorithmRequest algorithm_request(const Values& values);

}  // namespace tutti::cli

#pragma once

#include "core/bound.hpp"
#include "io/json_view.hpp"

#include <optional>
#include <span>

namespace tutti::io {

/// A lower bound as `tutti bound --json` lists it: "kind", "value", "seconds" where given, and "certificate",
/// which is null for trivial bounds.
[[nodiscard]] Json bound_json(const Bound& bound, std::optional<double> seconds = std::nullopt);

}  // namespace tutti::io

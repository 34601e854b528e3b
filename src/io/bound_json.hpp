#pragma once

#include "core/bound.hpp"
#include "io/json_view.hpp"

#include <optional>
#include <span>
#include <vector>

namespace tutti::io {

/// A lower bound as `tutti bound --json` lists it: "kind", "value", "seconds" where given, and "certificate",
/// which is null for trivial bounds.
[[nodiscard]] Json bound_json(const Bound& bound, std::optional<double> seconds = std::nullopt);

/// [{"kind": …, "why": …}, …]
[[nodiscard]] Json skipped_json(std::span<const SkippedBound> skipped);
/// Throws InputError.
[[nodiscard]] std::vector<SkippedBound> read_skipped(const JsonView& view);

}  // namespace tutti::io

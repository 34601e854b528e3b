#pragma once

#include "core/verdict.hpp"
#include "io/json_view.hpp"

#include <optional>
#include <string>

namespace tutti::io {

/// What `tutti verify --json` prints for one file: "file", "verdict" ("valid" or "invalid"), "violations",
/// "violation_count", "makespan", "sends" and, where a bound is known, "lower_bound" and "gap".
[[nodiscard]] Json verdict_json(const std::string& file, const Verdict& verdict,
                                std::optional<Ticks> lower_bound = std::nullopt);

/// The same for a file that could not be read: "verdict" is "malformed", "error" says why and where.
[[nodiscard]] Json malformed_json(const std::string& file, const InputError& error);

/// One violation: "code", "rule" ("V5"), "message", and where known "sends", "tick", "link", "chunk", "node",
/// "collective", "group".
[[nodiscard]] Json violation_json(const Violation& violation);

}  // namespace tutti::io

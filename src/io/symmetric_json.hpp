#pragma once

#include "io/source.hpp"
#include "symmetry/symmetric_schedule.hpp"

#include <string>

namespace tutti::io {

inline constexpr int kSymmetricFormat = 1;

/// Writes a schedule in generator form, as docs/symmetric-schedules.md describes it, to a file (replaced
/// atomically) or, for "-", to standard output. A send per line, in order.
void write_symmetric_json(const std::string& path, const symmetry::SymmetricSchedule& schedule);

/// Reads one. Fields may come in any order, none may be missing, unknown or given twice. Throws InputError
/// with the path ("/symmetry/0/images/3") or "line:column". The verifier checks it against the instance.
[[nodiscard]] symmetry::SymmetricSchedule read_symmetric_json(Source& source);

/// Whether a text begins like such a file written by tutti: with the field that names the format.
[[nodiscard]] bool looks_symmetric(Source& source);

}  // namespace tutti::io

#pragma once

#include "core/schedule.hpp"
#include "io/source.hpp"

namespace tutti::io {

/// The version of the schedule format that this program reads and writes: the number in "tutti_schedule".
inline constexpr std::int64_t kScheduleFormat = 1;

/// The positions of a schedule's sends in the order in which files list them, that of starts_before.
[[nodiscard]] std::vector<std::uint32_t> writing_order(const Schedule& schedule);

/// Writes the schedule in readable form, a send per line in the order of starts_before, to a file (replaced
/// atomically) or, for "-", to standard output.
void write_schedule_json(const std::string& path, const Schedule& schedule);

/// Reads a schedule as instances/README.md describes it, in one pass without holding the text: memory is that
/// of the sends. Fields may come in any order, none may be missing, unknown or given twice. Throws InputError
/// with the path ("/sends/12/start") or "line:column".
/// Nothing is checked against an instance: chunks and links are any 32-bit numbers, starts and the makespan
/// any 64-bit ones; the verifier reports those that do not exist.
[[nodiscard]] Schedule read_schedule_json(Source& source);

}  // namespace tutti::io

#pragma once

#include "core/stop.hpp"
#include "core/variation.hpp"
#include "io/json_view.hpp"

#include <string>

namespace tutti::io {

/// The version of the instance format that this program reads and writes: the number in "tutti".
inline constexpr std::int64_t kInstanceFormat = 1;

/// The name of an unnamed instance from standard input.
inline constexpr std::string_view kStdinName = "stdin";

/// Reads instances/README.md's format from a file or, for "-", from standard input. Throws InputError with
/// the file, the JSON path or "line:column", what was expected and what was found. The variation takes the
/// place of what the file says, or leaves out.
[[nodiscard]] Instance read_instance(const std::string& path, const Variation& variation = {},
                                     const Stop& stop = {});

/// The same for a value; an instance that gives no name gets the fallback.
[[nodiscard]] Instance parse_instance(const Json& json, const std::string& fallback_name,
                                      const Variation& variation = {});

/// Reads back as an equal instance: the same numbering of nodes, links, groups, collectives and chunks.
/// Links are listed, whatever generated them.
[[nodiscard]] Json write_instance(const Instance& instance);

/// To a file (replaced atomically) or, for "-", to standard output.
void save_instance(const std::string& path, const Instance& instance);

}  // namespace tutti::io

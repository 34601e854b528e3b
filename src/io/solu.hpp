#pragma once

#include "core/ticks.hpp"
#include "io/source.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// What is known about an instance, in MIPLIB's terms.
enum class SoluTag {
    Optimal,     ///< =opt= name value: the proven makespan
    Best,        ///< =best= name value: the best makespan known
    BestDual,    ///< =bestdual= name value: the best lower bound known
    Infeasible,  ///< =inf= name
    Unknown      ///< =unkn= name
};

struct SoluEntry {
    SoluTag tag = SoluTag::Unknown;
    std::string name;
    std::optional<Ticks> value;  ///< with the first three tags
    friend bool operator==(const SoluEntry&, const SoluEntry&) = default;
};

/// One entry per line; blank lines and lines that start with '#' are skipped. Throws InputError at "line N"
/// for anything else, and where entries of one instance contradict each other: given twice, optimal besides
/// anything else, a bound above the best makespan.
[[nodiscard]] std::vector<SoluEntry> read_solu(Source& source);
[[nodiscard]] std::vector<SoluEntry> read_solu(const std::string& path);

/// Whether a line can hold the name: it is not empty and has no spaces.
[[nodiscard]] bool can_be_named(std::string_view name);

/// Replaces the file atomically. Throws InputError for a name that is empty or has spaces, which a line
/// cannot hold.
void write_solu(const std::string& path, const std::vector<SoluEntry>& entries);

}  // namespace tutti::io

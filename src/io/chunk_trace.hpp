#pragma once

#include "io/source.hpp"
#include "lang/trace.hpp"

#include <string>
#include <string_view>

namespace tutti::io {

/// Trace files of chunk programs (docs/chunk-programs.md, "Trace files").
inline constexpr std::string_view kTraceSuffix = ".chunks";

/// Throws InputError with the line. Verbs are read, not checked: lang::traced does that.
[[nodiscard]] lang::Trace read_chunk_trace(Source& source);
[[nodiscard]] std::string chunk_trace_text(const lang::Trace& trace);

}  // namespace tutti::io

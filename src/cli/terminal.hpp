#pragma once

#include "cli/exit_code.hpp"
#include "cli/streams.hpp"

#include <cstddef>

namespace tutti::cli {

/// Opens closed standard streams on /dev/null; otherwise the next opened file would get their descriptor, and
/// output would go into it.
void open_standard_descriptors();

/// Standard output and error, with colours on a terminal unless NO_COLOR is set.
[[nodiscard]] Streams process_streams();

/// The width of the terminal on standard error; 80 if unknown.
[[nodiscard]] std::size_t terminal_columns();
/// Its height; 24 if unknown.
[[nodiscard]] std::size_t terminal_rows();

/// Flushes standard output. If that fails, reports it and returns the exit code of bad input, except where
/// the reader closed the pipe (`tutti … | head`).
[[nodiscard]] ExitCode flushed(const Streams& streams, ExitCode code);

}  // namespace tutti::cli

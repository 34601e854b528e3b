#pragma once

#include "cli/exit_code.hpp"
#include "cli/streams.hpp"

#include <cstddef>

namespace tutti::cli {

/// Whoever starts us with standard output or error closed must not find them in the next file that is opened.
void open_standard_descriptors();

/// Standard output and error, with colours where a person watches who does not refuse them (NO_COLOR).
[[nodiscard]] Streams process_streams();

/// The width of the terminal on standard error; 80 where it does not tell.
[[nodiscard]] std::size_t terminal_columns();
/// Its height; 24 where it does not tell.
[[nodiscard]] std::size_t terminal_rows();

/// Flushes the answer. If it could not be written, says so and turns the exit code into that of bad input;
/// except where the reader has gone (`tutti … | head`), who wants no more of it.
[[nodiscard]] ExitCode flushed(const Streams& streams, ExitCode code);

}  // namespace tutti::cli

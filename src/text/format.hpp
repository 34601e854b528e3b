#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Numbers and names as people read them, the same in every table and message.
namespace tutti::text {

/// "12.5 %", or "-" where the gap is undefined.
[[nodiscard]] std::string gap_text(std::optional<double> gap);
/// "0.012": seconds with three decimals, as tables give them.
[[nodiscard]] std::string seconds_text(double seconds);
/// "42 ticks", or with ticks of 1 ps "1500000 ticks (1.5 us)".
[[nodiscard]] std::string ticks_text(Ticks ticks, Units units);
/// "42", or with ticks of 1 ps "1.5 us", in the largest unit that leaves a number of at least 1.
[[nodiscard]] std::string time_text(Ticks ticks, Units units, int digits = 5);
/// "12.3 MiB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);
/// "2 GiB", "512 bytes": a size as messages about files and limits give it.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "64K", "1G", "1000": the size of a call exactly, in the largest power of 1024 that divides it.
[[nodiscard]] std::string call_size_text(std::uint64_t bytes);
/// "28.546 GB/s", or "-" where there is none.
[[nodiscard]] std::string bandwidth_text(const std::optional<double>& GBps);
/// The same as a table has it, with three digits and without the unit: "28.5".
[[nodiscard]] std::string bandwidth_cell(const std::optional<double>& GBps);
/// "1 send", "2 sends".
[[nodiscard]] std::string count_text(std::uint64_t count, std::string_view noun);

/// "cut, flow: no time: …; time-expanded: too large: …".
[[nodiscard]] std::string skipped_text(std::span<const SkippedBound> skipped);

/// Its longest prefix of whole characters with at most that many bytes.
[[nodiscard]] std::string shortened(std::string_view utf8, std::size_t most_bytes);

/// The name as part of a file name: characters that are special to file systems or shells become '_'.
[[nodiscard]] std::string file_name_of(std::string_view name);

/// How a message names an input file: "standard input" for "-".
[[nodiscard]] std::string input_name(const std::string& file);

/// Quoted as one word for a shell.
[[nodiscard]] std::string shell_word(const std::string& text);

/// Natural sort order: numbers within names compare as numbers, so mesh4 is before mesh16.
[[nodiscard]] bool natural_before(std::string_view a, std::string_view b);

/// How many terminal columns a text takes.
[[nodiscard]] std::size_t width_of(std::string_view utf8);

}  // namespace tutti::text

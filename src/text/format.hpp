#pragma once

#include "core/instance.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Numbers and names as people read them, the same in every table and message.
namespace tutti::text {

/// "12.5 %", or "-" where there is no gap to speak of.
[[nodiscard]] std::string gap_text(std::optional<double> gap);
/// "0.012": seconds with three decimals, as tables give them.
[[nodiscard]] std::string seconds_text(double seconds);
/// "42 ticks", or with ticks of 1 ps "1500000 ticks (1.5 us)".
[[nodiscard]] std::string ticks_text(Ticks ticks, Units units);
/// "42", or with ticks of 1 ps "1.5 us", in the largest unit that leaves a number of at least 1.
[[nodiscard]] std::string time_text(Ticks ticks, Units units, int digits = 5);
/// "12.3 MB".
[[nodiscard]] std::string memory_text(std::uint64_t bytes);
/// "2 GiB", "512 bytes": a size as messages about files and limits give it.
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "1 send", "2 sends".
[[nodiscard]] std::string count_text(std::uint64_t count, std::string_view noun);

/// At most so many bytes of it, whole characters.
[[nodiscard]] std::string shortened(std::string_view utf8, std::size_t most_bytes);

/// The name as part of a file name: what a file system or a shell would trip over becomes '_'.
[[nodiscard]] std::string file_name_of(std::string_view name);

/// The text on one line that a terminal shows and does not obey: control characters and bytes that are no
/// UTF-8 are written as \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// As a shell takes it for one word.
[[nodiscard]] std::string shell_word(const std::string& text);

/// Whether people expect `a` before `b`: numbers within names count as numbers, so mesh4 is before mesh16.
[[nodiscard]] bool natural_before(std::string_view a, std::string_view b);

/// The columns that a text takes on a terminal.
[[nodiscard]] std::size_t width_of(std::string_view utf8);

}  // namespace tutti::text

#pragma once

#include <fmt/color.h>
#include <fmt/format.h>

#include <ostream>
#include <string>
#include <string_view>

namespace tutti::cli {

/// Where a command writes: the result to `out`, progress and messages to `err`. Input comes from the files
/// that the options name.
struct Streams {
    std::ostream& out;
    std::ostream& err;
    bool colour_out = false;
    bool colour_err = false;
    bool terminal_err = false;  ///< a person is watching `err`
};

enum class Tone { Good, Bad, Quiet, Strong };

/// The text in the colour of its tone, where colours are on.
[[nodiscard]] inline std::string toned(Tone tone, std::string_view text, bool colours) {
    if (!colours) return std::string(text);
    switch (tone) {
        case Tone::Good:
            return fmt::format(fg(fmt::terminal_color::green) | fmt::emphasis::bold, "{}", text);
        case Tone::Bad:
            return fmt::format(fg(fmt::terminal_color::red) | fmt::emphasis::bold, "{}", text);
        case Tone::Quiet:
            return fmt::format(fmt::emphasis::faint, "{}", text);
        case Tone::Strong:
            return fmt::format(fmt::emphasis::bold, "{}", text);
    }
    return std::string(text);
}

}  // namespace tutti::cli

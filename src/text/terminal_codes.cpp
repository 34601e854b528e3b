#include "text/terminal_codes.hpp"

#include <fmt/color.h>

namespace tutti::text {

class TerminalCodes {
  public:
    static SafeText code(std::string text) { return {std::move(text), SafeText::AsItIs()}; }
};

namespace {

fmt::text_style style_of(Tone tone) {
    switch (tone) {
        case Tone::Good:
            return fg(fmt::terminal_color::green) | fmt::emphasis::bold;
        case Tone::Bad:
            return fg(fmt::terminal_color::red) | fmt::emphasis::bold;
        case Tone::Quiet:
            return fmt::emphasis::faint;
        case Tone::Strong:
            return fmt::emphasis::bold;
        case Tone::Plain:
            break;
    }
    return {};
}

}  // namespace

SafeText toned(Tone tone, const SafeText& text, bool colours) {
    if (!colours || tone == Tone::Plain) return text;
    return TerminalCodes::code(fmt::format(style_of(tone), "{}", text.str()));
}

SafeText line_start(std::size_t lines) {
    return TerminalCodes::code(lines == 0 ? std::string("\r") : fmt::format("\r\033[{}A", lines));
}

SafeText clear_line() { return TerminalCodes::code("\033[K"); }

SafeText clear_below() { return TerminalCodes::code("\033[J"); }

}  // namespace tutti::text

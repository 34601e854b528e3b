#pragma once

#include "text/escape.hpp"

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tutti::text {

template <class Text>
concept TextLike = std::convertible_to<const Text&, std::string_view>;

/// Text that a terminal may be given as it is. Whatever becomes one is escaped on the way, so that nothing
/// out of a file reaches a terminal otherwise and nobody has to think of it: an Output takes nothing else.
/// Newlines and colours are ours alone: they come from the format of safe_text(), from lines() and from
/// text/terminal_codes.hpp.
class SafeText {
  public:
    SafeText() = default;
    /// On one line. Implicit, as it can do no harm.
    template <TextLike Text>
    SafeText(const Text& text) : text_(printable(text)) {}

    /// A layout of several lines. Precondition: what it holds of others is on one line each, as in JSON and
    /// after printable() and csv_cell().
    [[nodiscard]] static SafeText lines(std::string_view text) { return {printable_lines(text), AsItIs()}; }

    [[nodiscard]] const std::string& str() const { return text_; }
    [[nodiscard]] bool empty() const { return text_.empty(); }

    SafeText& operator+=(const SafeText& more) {
        text_ += more.text_;
        return *this;
    }
    friend SafeText operator+(SafeText text, const SafeText& more) { return std::move(text += more); }
    friend bool operator==(const SafeText&, const SafeText&) = default;

  private:
    struct AsItIs {};
    SafeText(std::string text, AsItIs) : text_(std::move(text)) {}
    friend struct SafeFormat;
    friend class TerminalCodes;

    std::string text_;
};

/// How safe_text() is made.
struct SafeFormat {
    /// What an argument is formatted as: a number as it is, all else as a string.
    template <class Arg>
    using Shown = std::conditional_t<std::is_arithmetic_v<Arg> && !std::same_as<Arg, char>, Arg, std::string>;

    template <class Arg>
    static Shown<Arg> shown(const Arg& arg) {
        if constexpr (std::same_as<Arg, SafeText>) {
            return arg.str();
        } else if constexpr (std::same_as<Arg, char>) {
            return printable(std::string_view(&arg, 1));
        } else if constexpr (std::is_arithmetic_v<Arg>) {
            return arg;
        } else {
            static_assert(TextLike<Arg>, "expected a number or a text: format it by fmt::format first");
            return printable(arg);
        }
    }

    static SafeText made_of(std::string text) { return {std::move(text), SafeText::AsItIs()}; }
};

/// As fmt::format, but every argument that is a text is put on one line and escaped, unless it is a SafeText.
template <class... Args>
[[nodiscard]] SafeText safe_text(fmt::format_string<SafeFormat::Shown<Args>...> format, const Args&... args) {
    return SafeFormat::made_of(
        fmt::vformat(fmt::string_view(format), fmt::make_format_args(SafeFormat::shown(args)...)));
}

}  // namespace tutti::text

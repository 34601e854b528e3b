#include "emit/python_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tutti::emit {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::string python_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte == 0x7F) {
            quoted += fmt::format("\\x{:02x}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string python_number(double number) {
    if (std::isnan(number)) return "float(\"nan\")";
    if (std::isinf(number)) return number > 0 ? "float(\"inf\")" : "float(\"-inf\")";
    return fmt::format("{}", number);
}

std::string python_tuple(std::span<const std::string> items) {
    return fmt::format("({}{})", fmt::join(items, ", "), items.size() == 1 ? "," : "");
}

PythonNames::PythonNames() {
    for (const char* keyword :
         {"False", "None",     "True",  "and",    "as",   "assert", "async",  "await",    "break",
          "class", "continue", "def",   "del",    "elif", "else",   "except", "finally",  "for",
          "from",  "global",   "if",    "import", "in",   "is",     "lambda", "nonlocal", "not",
          "or",    "pass",     "raise", "return", "try",  "while",  "with",   "yield"}) {
        taken_.keep(keyword);
    }
}

std::string PythonNames::unique(std::string_view wanted) {
    std::string name;
    for (const char c : wanted) name += is_letter(c) || is_digit(c) ? c : '_';
    if (name.empty() || is_digit(name.front()) || name.front() == '_') name.insert(0, "v");
    return taken_.take(name);
}

}  // namespace tutti::emit

#include "emit/cpp_names.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tutti::emit {
namespace {

constexpr auto kTaken = std::to_array<std::string_view>(
    {"alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
     "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval",
     "constexpr", "constinit", "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype",
     "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
     "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
     "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
     "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
     "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
     "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
     "wchar_t", "while", "xor", "xor_eq",
     // of the header and of the text around
     "std", "tutti", "ranks", "Size", "Shape", "Type", "Array", "Rows", "Reduction", "Interval", "Box",
     "Mesh", "Team", "Rank", "Files", "f64", "f32", "f16", "bf16", "i64", "i32", "u32", "i8", "u8", "truth",
     "nearest", "rounded_f16", "rounded_bf16", "root", "product", "strides", "strides_of", "reduced",
     "quotient", "power", "neutral", "einsum", "reduce", "arranged", "reshaped", "main", "kReplicated",
     "kLocal", "kMesh", "step", "rank", "in", "out", "Inputs", "Outputs", "files", "timed", "argc", "argv",
     // of the headers for GPUs
     "gpu", "number", "view", "philox", "check", "environment", "kCompute", "kNetwork", "Lane", "View",
     "Frame", "Numbering", "Sweep", "Made", "Total", "Pieces", "kGroups", "stored_f16", "stored_bf16",
     "first_element", "all_threads",
     // macros
     "assert", "errno", "stdin", "stdout", "stderr", "linux", "unix", "NULL", "EOF", "NAN", "INFINITY",
     "HUGE_VAL", "HUGE_VALF", "BUFSIZ", "TUTTI_F64", "RAND_MAX", "EXIT_SUCCESS", "EXIT_FAILURE", "DOMAIN",
     "OVERFLOW", "UNDERFLOW", "SING", "PLOSS", "TLOSS"});

}  // namespace

std::string cpp_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte >= 0x7F) {
            quoted += fmt::format("\\{:03o}", byte);
        } else {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string cpp_comment(std::string_view text) {
    std::string line;
    for (const char c : text)
        line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F || c == '\\' ? '?' : c;
    return line;
}

std::string cpp_number(double number) {
    if (std::isnan(number)) return "double(NAN)";
    if (std::isinf(number)) return number > 0 ? "HUGE_VAL" : "-HUGE_VAL";
    const std::string text = fmt::format("{}", number);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

CppNames::CppNames() {
    for (const std::string_view name : kTaken) taken_.keep(name);
}

std::string CppNames::unique(std::string_view wanted) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string name;
    for (const char c : wanted) {
        const bool joins = name.empty() || name.back() != '_';  // two underscores are the compiler's
        if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
            name += c;
        } else if (joins) {
            name += '_';
        }
    }
    while (!name.empty() && name.back() == '_') name.pop_back();
    if (name.empty() || is_digit(name.front()) || name.front() == '_') name.insert(0, "v");
    return taken_.take(name);
}

}  // namespace tutti::emit

#include "cli/values.hpp"

#include "text/size.hpp"

namespace tutti::cli {

std::string size_expected() { return fmt::format("{} (at most 2^50)", text::kSizeExpected); }

std::optional<std::int64_t> byte_size(const Values& values, const char* name, std::int64_t least) {
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    const auto size = text::size_in(*text);
    if (!size || *size < least || *size > kMostBytes)
        values.refuse(fmt::format("option --{}: expected {}, found '{}'", name, size_expected(), *text));
    return size;
}

std::optional<std::uint64_t> memory_limit(const Values& values) {
    const auto size = byte_size(values, "memory-limit", 0);
    if (!size) return std::nullopt;
    if (*size < text::kLeastMemoryLimit) {
        values.refuse(fmt::format(
            "option --memory-limit: expected at least 1M, found '{}'; a number without a unit is bytes",
            *values.text("memory-limit")));
    }
    return static_cast<std::uint64_t>(*size);
}

}  // namespace tutti::cli

#include "cli/values.hpp"

namespace tutti::cli {

std::optional<std::int64_t> byte_size(const Values& values, const char* name, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 50;
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    std::int64_t bytes = -1;
    const char* const last = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), last, bytes);
    const std::string_view suffix(stop, last);
    const std::size_t power = suffix.empty() ? 0 : std::string_view("KMG").find(suffix) + 1;
    const bool known = suffix.empty() || (suffix.size() == 1 && power > 0);
    const int shift = static_cast<int>(10 * power);
    if (error != std::errc() || !known || bytes < least || bytes > kMost >> shift) {
        values.refuse(fmt::format(
            "option --{}: expected a number of bytes like 1048576 or 1M (at most 2^50), found '{}'", name,
            *text));
    }
    return bytes << shift;
}

}  // namespace tutti::cli

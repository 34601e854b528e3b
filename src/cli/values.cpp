#include "cli/values.hpp"

#include "text/size.hpp"

namespace tutti::cli {

std::string size_expected() { return fmt::format("{} (at most 2^50)", text::kSizeExpected); }

namespace {

std::optional<std::int64_t> size_of(std::string_view text, std::int64_t least) {
    const auto size = text::size_in(text);
    return size && *size >= least && *size <= kMostBytes ? size : std::nullopt;
}

/// "64K", or "1K:1G", which is every double of 1K up to 1G.
std::optional<std::vector<std::int64_t>> sizes_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    const auto first = size_of(text.substr(0, colon), 1);
    if (!first) return std::nullopt;
    if (colon == text.npos) return std::vector{*first};
    const std::string_view rest = text.substr(colon + 1);
    const std::size_t second = rest.find(':');
    const auto last = size_of(rest.substr(0, second), 1);
    if (!last || *last < *first) return std::nullopt;
    std::optional<std::int64_t> factor = 2;
    if (second != rest.npos) factor = whole_number<std::int64_t>(2, 1024)(rest.substr(second + 1));
    if (!factor) return std::nullopt;
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = *first; size <= *last; size *= *factor) sizes.push_back(size);
    return sizes;
}

}  // namespace

std::optional<std::int64_t> byte_size(const Values& values, const char* name, std::int64_t least) {
    const auto text = values.text(name);
    if (!text) return std::nullopt;
    const auto size = size_of(*text, least);
    if (!size)
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

std::vector<std::int64_t> byte_sizes(const Values& values, const char* name) {
    const auto lists = comma_list<std::vector<std::int64_t>>(
        values, name, size_expected() + ", or from and to like 1K:1G or 1K:1G:4", sizes_of);
    std::vector<std::int64_t> sizes;
    for (const auto& list : lists) sizes.insert(sizes.end(), list.begin(), list.end());
    return sizes;
}

std::vector<std::uint64_t> chunk_counts(const Values& values) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
    return comma_list<std::uint64_t>(values, "chunks",
                                     fmt::format("whole numbers from 1 to {}, like 1,2,4", kMost),
                                     whole_number<std::uint64_t>(1, kMost));
}

Variation one_variation(const Values& values) {
    const auto sizes = byte_sizes(values, "bytes");
    const auto chunks = chunk_counts(values);
    if (sizes.size() > 1 || chunks.size() > 1)
        values.refuse("expected one size (--bytes) and one number of chunks (--chunks)");
    Variation variation;
    if (!chunks.empty()) variation.chunks = chunks.front();
    if (!sizes.empty()) variation.bytes = Bytes{sizes.front()};
    return variation;
}

}  // namespace tutti::cli

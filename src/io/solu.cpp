#include "io/solu.hpp"

#include "io/atomic_file.hpp"
#include "io/json_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>

namespace tutti::io {
namespace {

constexpr std::array<std::string_view, 5> kTags{"=opt=", "=best=", "=bestdual=", "=inf=", "=unkn="};
constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::uint64_t kMaxSolu = std::uint64_t{1} << 28;

std::string_view text_of(SoluTag tag) { return kTags[static_cast<std::size_t>(tag)]; }
bool has_value(SoluTag tag) { return tag <= SoluTag::BestDual; }

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    for (auto begin = line.find_first_not_of(kBlanks); begin != line.npos;) {
        const auto end = std::min(line.find_first_of(kBlanks, begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        begin = line.find_first_not_of(kBlanks, end);
    }
    return words;
}

SoluTag tag_named(std::string_view word) {
    const auto found = std::ranges::find(kTags, word);
    if (found != kTags.end()) return static_cast<SoluTag>(found - kTags.begin());
    const auto guess = nearest(word, {kTags.begin(), kTags.end()});
    throw InputError(fmt::format("expected one of {}{}", fmt::join(kTags, ", "),
                                 guess ? fmt::format("; did you mean {}?", *guess) : ""));
}

SoluEntry parse_entry(const std::vector<std::string_view>& words) {
    SoluEntry entry{tag_named(words[0]), {}, {}};
    const std::size_t expected = has_value(entry.tag) ? 3 : 2;
    if (words.size() != expected) {
        throw InputError(fmt::format("expected {} and the name of an instance{}, found {} words", words[0],
                                     has_value(entry.tag) ? " and a number of ticks" : " only",
                                     words.size()));
    }
    entry.name = words[1];
    if (!has_value(entry.tag)) return entry;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(words[2].data(), words[2].data() + words[2].size(), value);
    if (error != std::errc() || end != words[2].data() + words[2].size() || value < 0) {
        throw InputError("expected a whole number of ticks as the last word");
    }
    entry.value = Ticks(value);
    return entry;
}

/// Throws if the entries of one instance contradict each other.
void check_together(const std::vector<SoluEntry>& entries) {
    std::optional<Ticks> best, dual;
    for (const SoluEntry& entry : entries) {
        if (std::ranges::count(entries, entry.tag, &SoluEntry::tag) > 1) {
            throw InputError(fmt::format("'{}' has {} twice", entry.name, text_of(entry.tag)));
        }
        const bool alone = entry.tag != SoluTag::Best && entry.tag != SoluTag::BestDual;
        if (alone && entries.size() > 1) {
            throw InputError(fmt::format("'{}' has {} besides {}", entry.name, text_of(entry.tag),
                                         text_of(entries[entries[0] == entry ? 1 : 0].tag)));
        }
        (entry.tag == SoluTag::BestDual ? dual : best) = entry.value;
    }
    if (best && dual && *dual > *best) {
        throw InputError(fmt::format("the bound of '{}', {}, is above its best makespan, {}", entries[0].name,
                                     dual->count(), best->count()));
    }
}

}  // namespace

std::vector<SoluEntry> read_solu(Source& source) {
    const std::string text = read_text(source, kMaxSolu);
    std::vector<SoluEntry> entries;
    std::map<std::string, std::vector<SoluEntry>> by_name;
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const auto words = words_of(std::string_view(text).substr(begin, end - begin));
        begin = end + 1;
        ++number;
        if (words.empty() || words[0].starts_with('#')) continue;
        try {
            entries.push_back(parse_entry(words));
            auto& together = by_name[entries.back().name];
            together.push_back(entries.back());
            check_together(together);
        } catch (const InputError& error) {
            source.fail(error.message(), fmt::format("line {}", number));
        }
    }
    return entries;
}

std::vector<SoluEntry> read_solu(const std::string& path) {
    std::error_code error;
    // Opening a pipe would block until another process writes to it.
    if (path != "-" && std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        throw InputError("expected a file", {}, path);
    Source source(path);
    return read_solu(source);
}

bool can_be_named(std::string_view name) {
    return !name.empty() && name.find_first_of(" \t\r\v\f\n") == name.npos;
}

void write_solu(const std::string& path, const std::vector<SoluEntry>& entries) {
    AtomicFile file(path);
    for (const SoluEntry& entry : entries) {
        if (!can_be_named(entry.name)) {
            throw InputError(fmt::format("expected a name without spaces, found '{}'", entry.name), {}, path);
        }
        if (has_value(entry.tag) != entry.value.has_value())
            throw InternalError("a .solu entry lacks its value");
        file.write(fmt::format("{} {}", text_of(entry.tag), entry.name));
        if (entry.value) file.write(fmt::format(" {}", entry.value->count()));
        file.write("\n");
    }
    file.commit();
}

}  // namespace tutti::io

#include "cli/file_kind.hpp"

#include "core/error.hpp"
#include "io/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti::cli {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    return text;
}

/// The first field's name in the text of an object, unless it is written with escapes.
std::string_view first_field(std::string_view text) {
    text = without_blanks(text);
    if (!text.starts_with('{')) return {};
    text = without_blanks(text.substr(1));
    if (!text.starts_with('"')) return {};
    const std::size_t end = text.find('"', 1);
    return end == text.npos ? std::string_view() : text.substr(1, end - 1);
}

FileKind kind_of(const std::string& path) {
    if (path == "-") return FileKind::Unclear;
    try {
        io::Source source(path);
        return kind_of_beginning(source.peek(io::Source::kBlock));
    } catch (const InputError&) {
        // Whoever reads it in earnest will say so, and of this file only.
        return FileKind::Unclear;
    }
}

}  // namespace

FileKind kind_of_beginning(std::string_view bytes) {
    constexpr std::array<std::string_view, 6> kOfSchedules{
        "tutti_schedule", "tutti_symmetric_schedule", "symmetry", "instance", "makespan", "sends"};
    constexpr std::array<std::string_view, 7> kOfInstances{"tutti",  "name",       "about",      "topology",
                                                           "groups", "forwarding", "collectives"};
    // No JSON starts with a T.
    if (bytes.starts_with('T')) return FileKind::Schedule;
    const std::string_view field = first_field(bytes);
    if (std::ranges::find(kOfSchedules, field) != kOfSchedules.end()) return FileKind::Schedule;
    if (std::ranges::find(kOfInstances, field) != kOfInstances.end()) return FileKind::Instance;
    return FileKind::Unclear;
}

VerifyFiles sorted_out(const VerifyOptions& options) {
    if (options.instance) return {*options.instance, options.files};
    std::vector<FileKind> kinds;
    for (const std::string& file : options.files) kinds.push_back(kind_of(file));
    auto instance = std::ranges::find(kinds, FileKind::Instance);
    if (instance == kinds.end()) instance = std::ranges::find(kinds, FileKind::Unclear);
    if (instance == kinds.end()) {
        throw InputError(
            "expected an instance among the files, found only schedules; --instance FILE names one");
    }
    const auto index = instance - kinds.begin();
    VerifyFiles files{options.files[static_cast<std::size_t>(index)], options.files};
    files.schedules.erase(files.schedules.begin() + index);
    const auto second = std::find(instance + 1, kinds.end(), FileKind::Instance);
    if (*instance == FileKind::Instance && second != kinds.end()) {
        throw InputError(fmt::format("expected one instance, found two: {} and {}", files.instance,
                                     options.files[static_cast<std::size_t>(second - kinds.begin())]));
    }
    return files;
}

}  // namespace tutti::cli

#include "batch/task.hpp"

#include "batch/fnv.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace tutti::batch {

Told unusual_in(const Variant& variant) {
    const Variant usual;
    return {variant.method != usual.method, true, true, variant.seed != usual.seed, true, true};
}

Told differing_among(const std::vector<Variant>& variants) {
    Told told;
    for (const Variant& variant : variants) {
        const Variant& first = variants.front();
        told.method = told.method || variant.method != first.method;
        told.chunks = told.chunks || variant.chunks != first.chunks;
        told.bytes = told.bytes || variant.bytes != first.bytes;
        told.seed = told.seed || variant.seed != first.seed;
        told.heuristic = told.heuristic || variant.heuristic != first.heuristic;
        told.options = told.options || variant.options != first.options;
    }
    return told;
}

std::string name_with(const std::string& label, const Variant& variant, Told told) {
    std::string name = label;
    if (told.method) name += " method=" + variant.method;
    if (told.heuristic && !variant.heuristic.empty()) name += " heuristic=" + variant.heuristic;
    if (told.chunks && variant.chunks) name += fmt::format(" chunks={}", *variant.chunks);
    if (told.bytes && variant.bytes) name += fmt::format(" bytes={}", variant.bytes->count);
    if (told.seed) name += fmt::format(" seed={}", variant.seed);
    if (told.options) {
        for (const auto& [option, value] : changed_options(variant.options))
            name += fmt::format(" {}={}", option, option_text(value));
    }
    return name;
}

std::string details_of(const Variant& variant) { return name_with("", variant, unusual_in(variant)); }

// Names that are too long or have odd characters are changed, and then may be equal. So they get a hash. (A
// number would depend on what else is in the run.)
std::string stem_of(const Job& job, const std::string& details) {
    constexpr std::size_t kLongest = 120, kLongestDetails = 100;
    std::string stem = "schedules/";
    for (const std::filesystem::path& part : std::filesystem::path(job.family))
        stem += text::file_name_of(part.string()) + "/";
    stem += text::shortened(text::file_name_of(job.name), kLongest);
    if (stem != "schedules/" + job.label() || job.name.find('=') != job.name.npos) {
        stem += fmt::format("-{:08x}", fnv(job.label()) >> 32U);
    }
    if (details.empty()) return stem;
    const std::string end = text::file_name_of(details);
    if (end.size() <= kLongestDetails) return stem + end;
    return stem + text::shortened(end, kLongestDetails - 17) + fmt::format("-{:016x}", fnv(details));
}

}  // namespace tutti::batch

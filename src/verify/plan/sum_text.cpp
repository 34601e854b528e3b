#include "verify/plan/sum_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <vector>

namespace tutti::verify {
namespace {

constexpr std::size_t kMostParts = 6;

std::string run_text(const SumRun& run, std::int64_t places_per_chunk) {
    const std::int64_t chunk = run.chunk / places_per_chunk;
    std::string text = run.first == run.last ? fmt::format("({},{})", run.first, chunk)
                                             : fmt::format("({}..{},{})", run.first, run.last, chunk);
    if (run.times > 1) text += fmt::format(" {} times", run.times);
    return text;
}

std::string runs_text(const std::vector<SumRun>& runs, std::string_view between,
                      std::int64_t places_per_chunk) {
    std::vector<std::string> parts;
    for (const SumRun& run : runs) {
        if (parts.size() == kMostParts) {
            parts.push_back(fmt::format("{} more", runs.size() - kMostParts));
            break;
        }
        parts.push_back(run_text(run, places_per_chunk));
    }
    return fmt::format("{}", fmt::join(parts, between));
}

/// The runs of `of` that `without` does not have in the same number, rank by rank; `more`: counted more
/// often.
struct Difference {
    std::vector<SumRun> missing, extra, repeated;
};

Difference difference(std::span<const SumRun> value, std::span<const SumRun> expected) {
    // Per chunk a sweep over the points where either list changes; lists here are short (they are printed).
    std::map<std::pair<std::int64_t, std::int32_t>, std::pair<std::int64_t, std::int64_t>> steps;
    for (const SumRun& run : value) {
        steps[{run.chunk, run.first}].first += run.times;
        steps[{run.chunk, run.last + 1}].first -= run.times;
    }
    for (const SumRun& run : expected) {
        steps[{run.chunk, run.first}].second += run.times;
        steps[{run.chunk, run.last + 1}].second -= run.times;
    }
    Difference result;
    std::int64_t has = 0, wants = 0;
    for (auto at = steps.begin(); at != steps.end(); ++at) {
        has += at->second.first;
        wants += at->second.second;
        const auto next = std::next(at);
        if (has == wants || next == steps.end()) continue;
        const SumRun run{at->first.first, at->first.second, next->first.second - 1,
                         static_cast<std::uint32_t>(has)};
        if (has < wants) {
            result.missing.push_back({run.chunk, run.first, run.last, 1});
        } else {
            (wants == 0 ? result.extra : result.repeated).push_back(run);
        }
    }
    return result;
}

}  // namespace

std::string text_of(const Sums& sums, SumId value, std::int64_t places_per_chunk) {
    if (value == Sums::kUndefined) return "undefined data";
    if (value == Sums::kTooMany) return "a sum of very many contributions";
    const auto runs = sums.runs(value);
    return runs_text({runs.begin(), runs.end()}, " + ", places_per_chunk);
}

std::string difference_text(const Sums& sums, SumId value, SumId expected, std::int64_t places_per_chunk) {
    std::string text = fmt::format("holds {} where {} is expected", text_of(sums, value, places_per_chunk),
                                   text_of(sums, expected, places_per_chunk));
    const auto single = [&](SumId id) {
        const auto runs = sums.runs(id);
        return runs.size() == 1 && runs.front().first == runs.front().last && runs.front().times == 1;
    };
    if (value <= Sums::kTooMany || (single(value) && single(expected))) return text;
    const Difference parts = difference(sums.runs(value), sums.runs(expected));
    std::vector<std::string> words;
    const auto say = [&](std::string_view what, const std::vector<SumRun>& runs) {
        if (!runs.empty())
            words.push_back(fmt::format("{} {}", what, runs_text(runs, ", ", places_per_chunk)));
    };
    say("missing", parts.missing);
    say("added too often", parts.repeated);
    if (!parts.missing.empty() || !parts.repeated.empty()) say("not asked for", parts.extra);
    if (words.empty()) say("not asked for", parts.extra);
    return fmt::format("{} ({})", text, fmt::join(words, "; "));
}

}  // namespace tutti::verify

// Two runs, task by task. A pair is judged by its makespan first: beyond the tolerance it is better or worse.
// Within it, a proof of optimality that is gone is a regression and a new one a gain; the time it took counts
// only if somebody asks, because times differ from run to run by themselves.
//
// Bounds of either run hold for both if the instance is the same, so a makespan below the other run's bound
// means that a bound, the verifier or a file is wrong. That is said first.

#include "batch/compare.hpp"

#include "core/error.hpp"
#include "text/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace tutti::batch {
namespace {

using io::ResultLine;

/// Times of less than this, in seconds, are noise.
constexpr double kLeastSlowdown = 0.05;

/// By label is by what was to be solved, whatever the method and the seed.
std::string name_in(const ResultLine& line, bool by_label) {
    if (!by_label) return line.key;
    std::string name = line.label;
    if (line.asked_chunks) name += fmt::format(" chunks={}", *line.asked_chunks);
    if (line.asked_bytes) name += fmt::format(" bytes={}", *line.asked_bytes);
    return name;
}

std::unordered_map<std::string, const ResultLine*> index_of(const Run& run, bool by_label) {
    std::unordered_map<std::string, const ResultLine*> index;
    for (const ResultLine& line : run.lines) {
        if (!index.emplace(name_in(line, by_label), &line).second) {
            throw InputError(fmt::format("has several results labelled {}; they pair by key only, without "
                                         "--by label",
                                         name_in(line, by_label)),
                             {}, run.name);
        }
    }
    return index;
}

bool is_unique_by_label(const Run& run) {
    std::unordered_set<std::string> names;
    return std::ranges::all_of(
        run.lines, [&](const ResultLine& line) { return names.insert(name_in(line, true)).second; });
}

/// Two runs of one method each, and of other methods or seeds: what pairs is clear without a word.
bool pair_only_by_label(const Run& before, const Run& after) {
    if (before.lines.empty() || after.lines.empty()) return false;
    const auto later = index_of(after, false);
    return std::ranges::none_of(before.lines,
                                [&](const ResultLine& line) { return later.contains(line.key); }) &&
           is_unique_by_label(before) && is_unique_by_label(after);
}

/// Whether bounds of one hold for the other.
bool same_question(const ResultLine& a, const ResultLine& b) {
    return !a.digest.empty() && a.digest == b.digest && a.chunks == b.chunks && a.bytes == b.bytes;
}

/// One of them has a schedule of what the other says cannot be.
bool is_of_the_infeasible(const ResultLine& a, const ResultLine& b) {
    return (a.status == Status::Infeasible && b.makespan && b.verified) ||
           (b.status == Status::Infeasible && a.makespan && a.verified);
}

bool beats_bound(const ResultLine& line, const ResultLine& other) {
    return line.makespan && other.lower_bound && *line.makespan < *other.lower_bound;
}

Change judged(const ResultLine& before, const ResultLine& after, const Comparing& how) {
    if (same_question(before, after) && is_of_the_infeasible(before, after)) return Change::Contradiction;
    const bool failed_before = has_failed(before), failed_after = has_failed(after);
    if (failed_before && failed_after) return Change::StillFailing;
    if (failed_after) return Change::Lost;
    if (failed_before) return Change::Recovered;
    if (same_question(before, after) && (beats_bound(after, before) || beats_bound(before, after)))
        return Change::Contradiction;
    if (before.makespan && !after.makespan) return Change::Lost;
    if (!before.makespan && after.makespan) return Change::Recovered;
    if (before.makespan) {
        const auto was = static_cast<double>(before.makespan->count());
        const auto is = static_cast<double>(after.makespan->count());
        if (*after.makespan > *before.makespan && is > was * (1 + how.tolerance)) return Change::Worse;
        if (*after.makespan < *before.makespan && is < was * (1 - how.tolerance)) return Change::Better;
    }
    const bool optimal_before = before.status == Status::Optimal,
               optimal_after = after.status == Status::Optimal;
    if (optimal_before && !optimal_after && after.gap() != 0.0) return Change::Unproven;
    if (how.time_tolerance && after.seconds > before.seconds * (1 + *how.time_tolerance) &&
        after.seconds - before.seconds > kLeastSlowdown)
        return Change::Slower;
    return !optimal_before && optimal_after ? Change::Proven : Change::Same;
}

/// The mean of b / a as factors, over those where both are above 0.
class RatioMean {
  public:
    void add(double a, double b) {
        if (a <= 0 || b <= 0) return;
        logarithms_ += std::log(b / a);
        ++count_;
    }
    [[nodiscard]] std::optional<double> mean() const {
        if (count_ == 0) return std::nullopt;
        return std::exp(logarithms_ / static_cast<double>(count_));
    }

  private:
    double logarithms_ = 0;
    std::size_t count_ = 0;
};

std::string limit_text(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:g} s", *seconds) : "none";
}

/// "seeds differ in 3 pairs (ring/a: 1, then 2)", if they do.
template <class Text>
void note_difference(const std::vector<ComparedRow>& rows, std::string_view what, Text text,
                     std::vector<std::string>& notes) {
    std::size_t count = 0;
    std::string example;
    for (const ComparedRow& row : rows) {
        if (row.before == nullptr || row.after == nullptr) continue;
        const std::string before = text(*row.before), after = text(*row.after);
        if (before == after || before.empty() || after.empty()) continue;
        if (count++ == 0) example = fmt::format("{}: {}, then {}", row.before->label, before, after);
    }
    if (count > 0)
        notes.push_back(fmt::format("{} differ in {} ({})", what, text::count_text(count, "pair"), example));
}

std::string options_text(const ResultLine& line) {
    std::string text;
    for (const auto& [name, value] : line.options)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, option_text(value));
    return text.empty() ? "the defaults" : text;
}

std::vector<std::string> notes_on(const std::vector<ComparedRow>& rows) {
    std::vector<std::string> notes;
    note_difference(
        rows, "instance files", [](const ResultLine& l) { return l.digest; }, notes);
    note_difference(
        rows, "methods asked for", [](const ResultLine& l) { return l.asked; }, notes);
    note_difference(
        rows, "heuristics asked for",
        [](const ResultLine& l) { return l.asked_heuristic.empty() ? "all" : l.asked_heuristic; }, notes);
    note_difference(rows, "search options", options_text, notes);
    note_difference(
        rows, "seeds", [](const ResultLine& l) { return std::to_string(l.seed); }, notes);
    note_difference(
        rows, "threads", [](const ResultLine& l) { return std::to_string(l.threads); }, notes);
    note_difference(
        rows, "time limits", [](const ResultLine& l) { return limit_text(l.time_limit); }, notes);
    return notes;
}

void sort(std::vector<ComparedRow>& rows) {
    std::ranges::stable_sort(rows, [](const ComparedRow& a, const ComparedRow& b) {
        if (a.change != b.change) return a.change < b.change;
        if (a.any().label != b.any().label) return text::natural_before(a.any().label, b.any().label);
        return text::natural_before(a.any().key, b.any().key);
    });
}

}  // namespace

std::string_view name_of(Change change) {
    constexpr std::array<std::string_view, 11> kNames{"contradiction", "lost",   "worse",        "unproven",
                                                      "slower",        "better", "proven",       "recovered",
                                                      "new",           "same",   "still failing"};
    return kNames[static_cast<std::size_t>(change)];
}

std::optional<double> ComparedRow::makespan_change() const {
    if (before == nullptr || after == nullptr || !before->makespan || !after->makespan) return std::nullopt;
    if (*before->makespan <= Ticks(0)) return std::nullopt;
    return static_cast<double>(after->makespan->count()) / static_cast<double>(before->makespan->count()) - 1;
}

std::size_t Comparison::count(Change change) const {
    return static_cast<std::size_t>(std::ranges::count(rows, change, &ComparedRow::change));
}

std::size_t Comparison::regressions() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(rows, [](const ComparedRow& row) { return is_regression(row.change); }));
}

Comparison compare(const Run& before, const Run& after, const Comparing& how) {
    const bool by_label = how.by_label || pair_only_by_label(before, after);
    const auto earlier = index_of(before, by_label), later = index_of(after, by_label);
    Comparison comparison;
    RatioMean makespans, seconds;
    for (const ResultLine& line : before.lines) {
        const auto found = later.find(name_in(line, by_label));
        if (found == later.end()) {
            comparison.rows.push_back(
                {has_failed(line) ? Change::StillFailing : Change::Lost, &line, nullptr});
            continue;
        }
        const ResultLine& other = *found->second;
        comparison.rows.push_back({judged(line, other, how), &line, &other});
        ++comparison.pairs;
        if (has_failed(line) || has_failed(other)) continue;
        seconds.add(line.seconds, other.seconds);
        if (line.makespan && other.makespan) {
            makespans.add(static_cast<double>(line.makespan->count()),
                          static_cast<double>(other.makespan->count()));
        }
    }
    for (const ResultLine& line : after.lines) {
        if (!earlier.contains(name_in(line, by_label)))
            comparison.rows.push_back({Change::New, nullptr, &line});
    }
    if (comparison.pairs == 0 && !before.lines.empty() && !after.lines.empty()) {
        throw InputError(
            fmt::format("has nothing in common with {}: {} there, {} here{}", before.name,
                        name_in(before.lines.front(), by_label), name_in(after.lines.front(), by_label),
                        by_label ? "" : "; --by label pairs by the instance alone"),
            {}, after.name);
    }
    comparison.notes = notes_on(comparison.rows);
    if (by_label && !how.by_label)
        comparison.notes.insert(comparison.notes.begin(),
                                "no task is in both runs: paired by the instance alone");
    comparison.makespan_ratio = makespans.mean();
    comparison.seconds_ratio = seconds.mean();
    sort(comparison.rows);
    return comparison;
}

}  // namespace tutti::batch

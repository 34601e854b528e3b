#include "models/program.hpp"

#include "core/expects.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::models {
namespace {

// Sums of 64-bit products need more than 64 bits; what does not fit into 128 is caught.
__extension__ using Wide = __int128;

/// None if even 128 bits are too few.
std::optional<Wide> sum_of(std::span<const Term> terms, std::span<const std::int64_t> values) {
    Wide sum = 0;
    for (const Term& term : terms) {
        const Wide product = Wide{term.coefficient} * values[term.var.index];
        if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
    }
    return sum;
}

bool holds(Literal literal, std::span<const std::int64_t> values) {
    return (values[literal.var.index] != 0) != literal.negated;
}

std::string text_of(Literal literal, const Program& program) {
    return (literal.negated ? "not " : "") + program.name(literal.var);
}

/// The first `limit` of `count` things, joined; a row may have a million terms.
template <typename TextOf>
std::string some(std::size_t count, std::string_view between, TextOf text_of_index) {
    constexpr std::size_t kShown = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(count, kShown); ++i) {
        if (i > 0) text += between;
        text += text_of_index(i);
    }
    if (count > kShown) text += fmt::format("{}... ({} in all)", between, count);
    return text;
}

std::string text_of(const Row& row, const Program& program) {
    std::string text = some(row.terms.size(), " + ", [&](std::size_t i) {
        return fmt::format("{} {}", row.terms[i].coefficient, program.name(row.terms[i].var));
    });
    if (row.terms.empty()) text = "0";
    if (row.lower == row.upper) {
        text += fmt::format(" = {}", row.lower);
    } else {
        if (row.lower != kMinusInfinity) text = fmt::format("{} <= {}", row.lower, text);
        if (row.upper != kPlusInfinity) text += fmt::format(" <= {}", row.upper);
    }
    if (row.only_if) text += " if " + text_of(*row.only_if, program);
    return text;
}

std::string text_of(const Choice& choice, const Program& program) {
    const char* const promise = choice.promise == Promise::AtLeastOne  ? "at least"
                                : choice.promise == Promise::AtMostOne ? "at most"
                                                                       : "exactly";
    return fmt::format("{} one of {}", promise, some(choice.literals.size(), ", ", [&](std::size_t i) {
                           return text_of(choice.literals[i], program);
                       }));
}

bool kept(const Row& row, std::span<const std::int64_t> values) {
    if (row.only_if && !holds(*row.only_if, values)) return true;
    const std::optional<Wide> sum = sum_of(row.terms, values);
    return sum && (row.lower == kMinusInfinity || *sum >= row.lower) &&
           (row.upper == kPlusInfinity || *sum <= row.upper);
}

bool kept(const Choice& choice, std::span<const std::int64_t> values) {
    const auto count =
        std::ranges::count_if(choice.literals, [&](Literal literal) { return holds(literal, values); });
    return (choice.promise == Promise::AtMostOne || count >= 1) &&
           (choice.promise == Promise::AtLeastOne || count <= 1);
}

/// Two intervals that overlap, in words.
std::optional<std::string> overlap(const Program& program, std::span<const Interval> intervals,
                                   std::span<const std::int64_t> values) {
    const auto start = [&](const Interval* interval) {
        return Wide{values[interval->start.index]} + interval->offset;
    };
    std::vector<const Interval*> present;
    for (const Interval& interval : intervals) {
        if (!interval.present || holds(*interval.present, values)) present.push_back(&interval);
    }
    std::ranges::sort(present, {}, start);
    for (std::size_t i = 1; i < present.size(); ++i) {
        if (start(present[i - 1]) + present[i - 1]->duration > start(present[i])) {
            return fmt::format("the intervals of {} and {}", program.name(present[i - 1]->start),
                               program.name(present[i]->start));
        }
    }
    return std::nullopt;
}

}  // namespace

Var Program::integer(std::int64_t lower, std::int64_t upper, std::string name) {
    expects(lower <= upper);
    bounds_.push_back({lower, upper});
    names_.push_back(std::move(name));
    return {static_cast<std::uint32_t>(bounds_.size() - 1)};
}

void Program::row(std::span<const Term> terms, std::int64_t lower, std::int64_t upper,
                  std::optional<Literal> only_if) {
    expects(!only_if || is_boolean(only_if->var));
    const std::size_t begin = terms_.size();
    terms_.insert(terms_.end(), terms.begin(), terms.end());
    rows_.push_back({begin, terms_.size(), lower, upper, only_if});
}

void Program::choice(Promise promise, std::span<const Literal> literals) {
    expects(std::ranges::all_of(literals, [&](Literal literal) { return is_boolean(literal.var); }));
    const std::size_t begin = literals_.size();
    literals_.insert(literals_.end(), literals.begin(), literals.end());
    choices_.push_back({begin, literals_.size(), promise});
}

void Program::no_overlap(std::span<const Interval> intervals) {
    expects(std::ranges::all_of(intervals, [](const Interval& interval) { return interval.duration >= 1; }));
    no_overlap_begin_.push_back(intervals_.size());
    intervals_.insert(intervals_.end(), intervals.begin(), intervals.end());
}

Row Program::row(std::size_t i) const {
    const RowShape& shape = rows_[i];
    return {std::span(terms_).subspan(shape.begin, shape.end - shape.begin), shape.lower, shape.upper,
            shape.only_if};
}

Choice Program::choice(std::size_t i) const {
    const ChoiceShape& shape = choices_[i];
    return {shape.promise, std::span(literals_).subspan(shape.begin, shape.end - shape.begin)};
}

std::span<const Interval> Program::no_overlap(std::size_t i) const {
    const std::size_t begin = no_overlap_begin_[i];
    const std::size_t end = i + 1 < no_overlap_begin_.size() ? no_overlap_begin_[i + 1] : intervals_.size();
    return std::span(intervals_).subspan(begin, end - begin);
}

std::vector<std::pair<Var, std::int64_t>> Program::hints() const {
    const auto var_of = [](const auto& hint) { return hint.first; };
    std::vector<std::pair<Var, std::int64_t>> hints(hints_.rbegin(), hints_.rend());
    std::ranges::stable_sort(hints, {}, var_of);
    const auto repeated = std::ranges::unique(hints, {}, var_of);
    hints.erase(repeated.begin(), repeated.end());
    return hints;
}

std::optional<std::int64_t> Program::objective_of(std::span<const std::int64_t> values) const {
    const std::optional<Wide> sum = sum_of(objective_, values);
    if (!sum || *sum < std::numeric_limits<std::int64_t>::min() ||
        *sum > std::numeric_limits<std::int64_t>::max()) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*sum);
}

std::optional<std::string> Program::broken_by(std::span<const std::int64_t> values) const {
    if (values.size() != vars()) return fmt::format("{} values for {} variables", values.size(), vars());
    for (std::uint32_t i = 0; i < vars(); ++i) {
        const auto [lower, upper] = bounds_[i];
        if (values[i] < lower || values[i] > upper) {
            return fmt::format("{} = {}, outside of {} to {}", names_[i], values[i], lower, upper);
        }
    }
    for (std::size_t i = 0; i < rows(); ++i) {
        if (!kept(row(i), values)) return fmt::format("row {}: {}", i, text_of(row(i), *this));
    }
    for (std::size_t i = 0; i < choices(); ++i) {
        if (!kept(choice(i), values)) return fmt::format("choice {}: {}", i, text_of(choice(i), *this));
    }
    for (std::size_t i = 0; i < no_overlaps(); ++i) {
        if (const auto pair = overlap(*this, no_overlap(i), values)) {
            return fmt::format("no_overlap {}: {}", i, *pair);
        }
    }
    return std::nullopt;
}

}  // namespace tutti::models

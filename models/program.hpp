#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tutti::models {

/// A bounded integer of a program; a Boolean is one with bounds 0 and 1.
struct Var {
    std::uint32_t index = 0;
    friend auto operator<=>(Var, Var) = default;
};

/// A Boolean or its negation.
struct Literal {
    Var var;
    bool negated = false;
    [[nodiscard]] Literal operator!() const { return {var, !negated}; }
    friend auto operator<=>(Literal, Literal) = default;
};

struct Term {
    Var var;
    std::int64_t coefficient = 1;
};

/// No bound on that side of a row.
inline constexpr std::int64_t kMinusInfinity = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kPlusInfinity = std::numeric_limits<std::int64_t>::max();

/// lower <= sum of terms <= upper; with `only_if`, only where that literal is true. A variable stands in a
/// row once.
struct Row {
    std::span<const Term> terms;
    std::int64_t lower, upper;
    std::optional<Literal> only_if;
};

/// The constraint on a list of literals.
enum class Promise { AtLeastOne, AtMostOne, ExactlyOne };
struct Choice {
    Promise promise;
    std::span<const Literal> literals;
};

/// [start + offset, start + offset + duration), there where `present` is true (always, if none).
struct Interval {
    Var start;
    std::int64_t duration = 1;
    std::optional<Literal> present = {};
    std::int64_t offset = 0;
};

struct Bounds {
    std::int64_t lower, upper;
};

/// The input of a solver, independent of any solver: bounded integers and Booleans, linear rows (some under a
/// condition), clauses and at-most-ones, intervals that must not overlap, a hint, an objective to be
/// minimised. Written once by an encoding, then read by backends and by the writers of text formats.
///
/// All lists of one kind share one vector, so that a program of millions of literals needs few allocations.
class Program {
  public:
    // Variables. Names are for people, unique by the caller's care, of letters, digits, and _ . only.
    Var integer(std::int64_t lower, std::int64_t upper, std::string name);
    Literal boolean(std::string name) { return {integer(0, 1, std::move(name)), false}; }

    // Constraints. Precondition: a variable stands in a row once; literals are of Booleans.
    void row(std::span<const Term> terms, std::int64_t lower, std::int64_t upper,
             std::optional<Literal> only_if = {});
    void choice(Promise promise, std::span<const Literal> literals);
    void clause(std::initializer_list<Literal> literals) { choice(Promise::AtLeastOne, literals); }
    void implies(Literal a, Literal b) { clause({!a, b}); }
    void fix(Literal literal) { clause({literal}); }
    void no_overlap(std::span<const Interval> intervals);

    /// Where to look first; need not be feasible or complete. Of two hints at one variable the last counts.
    void hint(Var var, std::int64_t value) { hints_.emplace_back(var, value); }
    void hint(Literal literal, bool value) { hint(literal.var, value != literal.negated ? 1 : 0); }
    /// Minimised. Without one, any solution will do.
    void minimise(std::span<const Term> terms) { objective_.assign(terms.begin(), terms.end()); }
    /// Where there is nothing to minimise: a direction in which solutions are more likely, for solvers that
    /// need one (a linear program without an objective ends at any vertex at all). Promises nothing about the
    /// solution.
    void guide(std::span<const Term> terms) { guide_.assign(terms.begin(), terms.end()); }

    [[nodiscard]] std::size_t vars() const { return bounds_.size(); }
    [[nodiscard]] Bounds bounds(Var var) const { return bounds_[var.index]; }
    [[nodiscard]] const std::string& name(Var var) const { return names_[var.index]; }
    [[nodiscard]] bool is_boolean(Var var) const { return bounds(var).lower == 0 && bounds(var).upper == 1; }

    [[nodiscard]] std::size_t rows() const { return rows_.size(); }
    [[nodiscard]] Row row(std::size_t i) const;
    [[nodiscard]] std::size_t choices() const { return choices_.size(); }
    [[nodiscard]] Choice choice(std::size_t i) const;
    [[nodiscard]] std::size_t no_overlaps() const { return no_overlap_begin_.size(); }
    [[nodiscard]] std::span<const Interval> no_overlap(std::size_t i) const;
    /// By variable, each once.
    [[nodiscard]] std::vector<std::pair<Var, std::int64_t>> hints() const;
    [[nodiscard]] std::span<const Term> objective() const { return objective_; }
    [[nodiscard]] std::span<const Term> guide() const { return guide_; }

    /// Terms and literals of all constraints: what a solver has to read.
    [[nodiscard]] std::size_t size() const { return terms_.size() + literals_.size() + intervals_.size(); }

    /// The first constraint that the values break, as text; none if they solve the program.
    [[nodiscard]] std::optional<std::string> broken_by(std::span<const std::int64_t> values) const;
    /// What the values cost; none if that does not fit into 64 bits.
    [[nodiscard]] std::optional<std::int64_t> objective_of(std::span<const std::int64_t> values) const;

  private:
    struct RowShape {
        std::size_t begin, end;
        std::int64_t lower, upper;
        std::optional<Literal> only_if;
    };
    struct ChoiceShape {
        std::size_t begin, end;
        Promise promise;
    };
    std::vector<Bounds> bounds_;
    std::vector<std::string> names_;
    std::vector<Term> terms_;
    std::vector<RowShape> rows_;
    std::vector<Literal> literals_;
    std::vector<ChoiceShape> choices_;
    std::vector<Interval> intervals_;
    std::vector<std::size_t> no_overlap_begin_;
    std::vector<std::pair<Var, std::int64_t>> hints_;
    std::vector<Term> objective_;
    std::vector<Term> guide_;
};

}  // namespace tutti::models

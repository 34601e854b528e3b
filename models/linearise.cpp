// A condition l -> sum >= least becomes sum >= least - M (1 - l), with M = least - (the least sum that the
// variables' bounds allow): where l is false, the row then says nothing. Likewise from above.
//
// Two intervals that must not overlap get a 0/1 variable o that says which comes first:
// start_b - start_a >= duration_a where o and both are present, start_a - start_b >= duration_b where not o
// and both are present. The same big number then stands on each of up to three conditions.
//
// A solver in floating point takes a 0/1 variable of 0.000001 for 0, and M times that is what slips through.
// Beyond 2^31 we refuse.

#include "models/linearise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>

namespace tutti::models {
namespace {

__extension__ using Wide = __int128;
constexpr Wide kLargestMultiplier = Wide{1} << 31;
constexpr Wide kLargestNumber = Wide{1} << 50;  ///< doubles still count in eighths there

class TooBig : public std::runtime_error {
    using runtime_error::runtime_error;
};

/// Rows under any number of conditions, out of the words of the old program.
class RowWriter {
  public:
    explicit RowWriter(Program& target) : target_(target) {}

    void add(Var var, Wide coefficient) {
        if (place_.size() <= var.index) place_.resize(target_.vars(), kNowhere);
        if (place_[var.index] == kNowhere) {
            place_[var.index] = terms_.size();
            terms_.push_back({var, 0});
        }
        std::int64_t& sum = terms_[place_[var.index]].coefficient;
        sum = fitting(sum + coefficient);
    }
    /// A literal counts 1 where it is true; what a negated one adds on its own goes to the other side.
    void add(Literal literal, Wide coefficient) {
        add(literal.var, literal.negated ? -coefficient : coefficient);
        if (literal.negated) constant_ += coefficient;
    }

    /// Ends the row: the sum is at least (at most) `limit` where all the conditions hold.
    void at_least(Wide limit, std::span<const Literal> conditions) {
        const Wide multiplier = limit - least();
        if (multiplier > 0) {  // else it holds anyway
            for (const Literal condition : conditions) add(!condition, multiplier_of(multiplier));
            write(limit - constant_, kPlusInfinity);
        }
        clear();
    }
    void at_most(Wide limit, std::span<const Literal> conditions) {
        for (Term& term : terms_) term.coefficient = -term.coefficient;
        constant_ = -constant_;
        at_least(-limit, conditions);
    }
    void within(Wide lower, Wide upper) {
        write(lower == kMinusInfinity ? lower : lower - constant_,
              upper == kPlusInfinity ? upper : upper - constant_);
        clear();
    }

  private:
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    [[nodiscard]] static std::int64_t fitting(Wide number) {
        if (number > kLargestNumber || number < -kLargestNumber) throw TooBig("a coefficient exceeds 2^50");
        return static_cast<std::int64_t>(number);
    }
    [[nodiscard]] static Wide multiplier_of(Wide multiplier) {
        if (multiplier >= kLargestMultiplier) {
            throw TooBig("a condition needs a multiplier beyond 2^31, which tolerances would hide");
        }
        return multiplier;
    }
    /// The least that the sum can be, constant included.
    [[nodiscard]] Wide least() const {
        Wide sum = constant_;
        for (const Term& term : terms_) {
            const auto [lower, upper] = target_.bounds(term.var);
            sum += Wide{term.coefficient} * (term.coefficient >= 0 ? lower : upper);
        }
        return sum;
    }
    void write(Wide lower, Wide upper) {
        written_.clear();
        std::ranges::copy_if(terms_, std::back_inserter(written_),
                             [](const Term& term) { return term.coefficient != 0; });
        target_.row(written_, lower == kMinusInfinity ? kMinusInfinity : fitting(lower),
                    upper == kPlusInfinity ? kPlusInfinity : fitting(upper));
    }
    void clear() {
        for (const Term& term : terms_) place_[term.var.index] = kNowhere;
        terms_.clear();
        constant_ = 0;
    }

    Program& target_;
    std::vector<Term> terms_;
    std::vector<Term> written_;  ///< those of terms_ that did not cancel out
    Wide constant_ = 0;
    std::vector<std::size_t> place_;  ///< per variable, in terms_
};

void copy_variables(const Program& program, Program& target) {
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        const auto [lower, upper] = program.bounds(Var{i});
        if (lower < -kLargestNumber || upper > kLargestNumber) {
            throw TooBig(fmt::format("the bounds of {} exceed 2^50", program.name(Var{i})));
        }
        target.integer(lower, upper, program.name(Var{i}));
    }
    for (const auto& [var, value] : program.hints()) target.hint(var, value);
    target.minimise(program.objective());
}

void write_row(const Row& row, RowWriter& writer) {
    const auto add_terms = [&] {
        for (const Term& term : row.terms) writer.add(term.var, term.coefficient);
    };
    if (!row.only_if) {
        add_terms();
        return writer.within(row.lower, row.upper);
    }
    const std::array conditions{*row.only_if};
    if (row.lower != kMinusInfinity) {
        add_terms();
        writer.at_least(row.lower, conditions);
    }
    if (row.upper != kPlusInfinity) {
        add_terms();
        writer.at_most(row.upper, conditions);
    }
}

void write_choice(const Choice& choice, RowWriter& writer) {
    for (const Literal literal : choice.literals) writer.add(literal, 1);
    writer.within(choice.promise == Promise::AtMostOne ? Wide{kMinusInfinity} : 1,
                  choice.promise == Promise::AtLeastOne ? Wide{kPlusInfinity} : 1);
}

/// `first` ends before `second` starts, where all the conditions hold.
void write_order(const Interval& first, const Interval& second, std::span<const Literal> conditions,
                 RowWriter& writer) {
    writer.add(second.start, 1);
    writer.add(first.start, -1);
    writer.at_least(first.duration + first.offset - second.offset, conditions);
}

void write_pair(const Interval& a, const Interval& b, Program& target, RowWriter& writer) {
    const auto never_before = [&](const Interval& first, const Interval& second) {
        return Wide{target.bounds(first.start).lower} + first.offset + first.duration >
               Wide{target.bounds(second.start).upper} + second.offset;
    };
    const auto always_before = [&](const Interval& first, const Interval& second) {
        return Wide{target.bounds(first.start).upper} + first.offset + first.duration <=
               Wide{target.bounds(second.start).lower} + second.offset;
    };
    if (always_before(a, b) || always_before(b, a)) return;

    std::vector<Literal> conditions;
    for (const Interval* const interval : {&a, &b}) {
        if (interval->present) conditions.push_back(*interval->present);
    }
    if (never_before(b, a)) return write_order(a, b, conditions, writer);
    if (never_before(a, b)) return write_order(b, a, conditions, writer);
    const Literal order = target.boolean(
        fmt::format("{}.before.{}.{}", target.name(a.start), target.name(b.start), target.vars()));
    conditions.push_back(order);
    write_order(a, b, conditions, writer);
    conditions.back() = !order;
    write_order(b, a, conditions, writer);
}

}  // namespace

Linearised linearise(const Program& program) {
    Linearised result;
    try {
        copy_variables(program, result.program);
        RowWriter writer(result.program);
        for (std::size_t i = 0; i < program.rows(); ++i) write_row(program.row(i), writer);
        for (std::size_t i = 0; i < program.choices(); ++i) write_choice(program.choice(i), writer);
        for (std::size_t k = 0; k < program.no_overlaps(); ++k) {
            const auto intervals = program.no_overlap(k);
            for (std::size_t i = 0; i < intervals.size(); ++i) {
                for (std::size_t j = i + 1; j < intervals.size(); ++j) {
                    write_pair(intervals[i], intervals[j], result.program, writer);
                }
            }
        }
    } catch (const TooBig& reason) {
        result.refusal = reason.what();
    }
    return result;
}

}  // namespace tutti::models

// SMT-LIB. A Boolean is a Bool, and (ite name 1 0) where it is counted; names stand between bars, for a
// symbol may not begin with a digit.

#include "models/export.hpp"

#include <fmt/format.h>

#include <ostream>

namespace tutti::models {
namespace {

class Smt2Writer {
  public:
    Smt2Writer(std::ostream& out, const Program& program) : out_(out), program_(program) {}

    void write() {
        out_ << "(set-option :produce-models true)\n(set-logic QF_LIA)\n";
        for (std::uint32_t i = 0; i < program_.vars(); ++i) write_variable(Var{i});
        for (std::size_t i = 0; i < program_.rows(); ++i) write_row(program_.row(i));
        for (std::size_t i = 0; i < program_.choices(); ++i) write_choice(program_.choice(i));
        for (std::size_t i = 0; i < program_.no_overlaps(); ++i) write_no_overlap(program_.no_overlap(i));
        if (!program_.objective().empty()) {
            out_ << fmt::format("(minimize {})\n", sum(program_.objective()));
        }
        out_ << "(check-sat)\n(get-model)\n";
    }

  private:
    /// SMT-LIB has no negative numerals. The magnitude is taken without a sign, for the least number has no
    /// negation.
    [[nodiscard]] static std::string number(std::int64_t value) {
        return value >= 0 ? fmt::format("{}", value)
                          : fmt::format("(- {})", std::uint64_t{0} - static_cast<std::uint64_t>(value));
    }
    [[nodiscard]] std::string symbol(Var var) const { return fmt::format("|{}|", program_.name(var)); }
    /// A Boolean whose bounds have been fixed is an Int here.
    [[nodiscard]] std::string truth(Literal literal) const {
        const std::string positive = program_.is_boolean(literal.var)
                                         ? symbol(literal.var)
                                         : fmt::format("(> {} 0)", symbol(literal.var));
        return literal.negated ? fmt::format("(not {})", positive) : positive;
    }
    [[nodiscard]] std::string integer(Var var) const {
        return program_.is_boolean(var) ? fmt::format("(ite {} 1 0)", symbol(var)) : symbol(var);
    }
    [[nodiscard]] std::string sum(std::span<const Term> terms) const {
        std::string text;
        for (const Term& term : terms) {
            if (!text.empty()) text += ' ';
            text += term.coefficient == 1
                        ? integer(term.var)
                        : fmt::format("(* {} {})", number(term.coefficient), integer(term.var));
        }
        return terms.empty() ? "0" : terms.size() == 1 ? text : fmt::format("(+ {})", text);
    }
    [[nodiscard]] std::string all(std::span<const Literal> literals, bool as_numbers) const {
        std::string text;
        for (const Literal literal : literals) {
            if (!text.empty()) text += ' ';
            text += as_numbers ? fmt::format("(ite {} 1 0)", truth(literal)) : truth(literal);
        }
        return text;
    }

    void write_variable(Var var) {
        const std::string name = symbol(var);
        if (program_.is_boolean(var)) {
            out_ << fmt::format("(declare-fun {} () Bool)\n", name);
            return;
        }
        const auto [lower, upper] = program_.bounds(var);
        out_ << fmt::format("(declare-fun {} () Int)\n(assert (<= {} {} {}))\n", name, number(lower), name,
                            number(upper));
    }

    void write_row(const Row& row) {
        const std::string total = sum(row.terms);
        const auto assert_side = [&](std::string side) {
            if (row.only_if) side = fmt::format("(=> {} {})", truth(*row.only_if), side);
            out_ << fmt::format("(assert {})\n", side);
        };
        if (row.lower == row.upper) {
            assert_side(fmt::format("(= {} {})", total, number(row.lower)));
            return;
        }
        if (row.lower != kMinusInfinity) assert_side(fmt::format("(>= {} {})", total, number(row.lower)));
        if (row.upper != kPlusInfinity) assert_side(fmt::format("(<= {} {})", total, number(row.upper)));
    }

    void write_choice(const Choice& choice) {
        const std::size_t count = choice.literals.size();
        if (choice.promise != Promise::AtMostOne) {
            const std::string any = all(choice.literals, false);
            out_ << fmt::format("(assert {})\n", count == 0   ? "false"
                                                 : count == 1 ? any
                                                              : "(or " + any + ")");
        }
        if (choice.promise != Promise::AtLeastOne && count > 1) {
            out_ << fmt::format("(assert (<= (+ {}) 1))\n", all(choice.literals, true));
        }
    }

    void write_no_overlap(std::span<const Interval> intervals) {
        const auto before = [&](const Interval& first, const Interval& second) {
            return fmt::format("(<= (+ {} {}) {})", integer(first.start),
                               number(first.offset + first.duration - second.offset), integer(second.start));
        };
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            for (std::size_t j = i + 1; j < intervals.size(); ++j) {
                const Interval &a = intervals[i], &b = intervals[j];
                std::string ways = before(a, b) + ' ' + before(b, a);
                for (const Interval* const interval : {&a, &b}) {
                    if (interval->present) ways += ' ' + truth(!*interval->present);
                }
                out_ << fmt::format("(assert (or {}))\n", ways);
            }
        }
    }

    std::ostream& out_;
    const Program& program_;
};

}  // namespace

void write_smt2(std::ostream& out, const Program& program) { Smt2Writer(out, program).write(); }

}  // namespace tutti::models

// The text format of protobuf for the same message that models/backends/cpsat_messages writes as bytes: one
// line per variable and constraint. A negated literal is -1 - number.

#include "models/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

namespace tutti::models {
namespace {

std::int64_t number_of(Literal literal) {
    const std::int64_t number = literal.var.index;
    return literal.negated ? -1 - number : number;
}

std::string list(std::span<const std::int64_t> numbers) {
    return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string terms_text(std::span<const Term> terms) {
    std::vector<std::int64_t> vars, coefficients;
    for (const Term& term : terms) {
        vars.push_back(term.var.index);
        coefficients.push_back(term.coefficient);
    }
    return fmt::format("vars: {} coeffs: {}", list(vars), list(coefficients));
}

std::string condition(std::optional<Literal> literal) {
    return literal ? fmt::format("enforcement_literal: {} ", number_of(*literal)) : "";
}

void write_rows(std::ostream& out, const Program& program) {
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        out << fmt::format("constraints {{ {}linear {{ {} domain: [{}, {}] }} }}\n", condition(row.only_if),
                           terms_text(row.terms), row.lower, row.upper);
    }
}

void write_choices(std::ostream& out, const Program& program) {
    for (std::size_t i = 0; i < program.choices(); ++i) {
        const Choice choice = program.choice(i);
        const char* const field = choice.promise == Promise::AtLeastOne  ? "bool_or"
                                  : choice.promise == Promise::AtMostOne ? "at_most_one"
                                                                         : "exactly_one";
        std::vector<std::int64_t> literals;
        for (const Literal literal : choice.literals) literals.push_back(number_of(literal));
        out << fmt::format("constraints {{ {} {{ literals: {} }} }}\n", field, list(literals));
    }
}

/// An interval is a constraint, named by its place in the list of all of them.
void write_no_overlaps(std::ostream& out, const Program& program) {
    auto place = static_cast<std::int64_t>(program.rows() + program.choices());
    for (std::size_t i = 0; i < program.no_overlaps(); ++i) {
        std::vector<std::int64_t> places;
        for (const Interval& interval : program.no_overlap(i)) {
            const auto point = [&](std::int64_t offset) {
                return fmt::format("vars: {} coeffs: 1{}", interval.start.index,
                                   offset == 0 ? "" : fmt::format(" offset: {}", offset));
            };
            out << fmt::format(
                "constraints {{ {}interval {{ start {{ {} }} end {{ {} }} size {{ offset: {} }} "
                "}} }}\n",
                condition(interval.present), point(interval.offset),
                point(interval.offset + interval.duration), interval.duration);
            places.push_back(place++);
        }
        out << fmt::format("constraints {{ no_overlap {{ intervals: {} }} }}\n", list(places));
        ++place;
    }
}

}  // namespace

void write_cpsat_text(std::ostream& out, const Program& program) {
    for (std::uint32_t i = 0; i < program.vars(); ++i) {
        const auto [lower, upper] = program.bounds(Var{i});
        out << fmt::format("variables {{ name: \"{}\" domain: [{}, {}] }}\n", program.name(Var{i}), lower,
                           upper);
    }
    write_rows(out, program);
    write_choices(out, program);
    write_no_overlaps(out, program);
    if (!program.objective().empty()) {
        out << fmt::format("objective {{ {} }}\n", terms_text(program.objective()));
    }
    const auto hints = program.hints();
    if (hints.empty()) return;
    std::vector<std::int64_t> vars, values;
    for (const auto& [var, value] : hints) {
        vars.push_back(var.index);
        values.push_back(value);
    }
    out << fmt::format("solution_hint {{ vars: {} values: {} }}\n", list(vars), list(values));
}

}  // namespace tutti::models

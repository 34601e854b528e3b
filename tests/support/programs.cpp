#include "tests/support/programs.hpp"

#include <algorithm>

namespace tutti::test {

using namespace models;

namespace {

std::int64_t between(Rng& rng, std::int64_t lower, std::int64_t upper) {
    return lower + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(upper - lower + 1)));
}

/// Draws parts of a program out of its variables.
struct Draw {
    Rng& rng;
    std::vector<Literal> booleans;
    std::vector<Var> variables;

    Literal literal() {
        const Literal drawn = booleans[rng.below(booleans.size())];
        return rng.below(2) == 0 ? drawn : !drawn;
    }
    std::optional<Literal> maybe_literal() {
        return rng.below(2) == 0 ? std::optional(literal()) : std::nullopt;
    }
    std::vector<Term> terms(std::int64_t largest) {
        rng.shuffle(variables);
        std::vector<Term> drawn;
        for (std::size_t i = 0; i < 1 + rng.below(variables.size()); ++i) {
            drawn.push_back({variables[i], between(rng, -largest, largest)});
        }
        return drawn;
    }
};

void add_row(Program& program, Draw& draw) {
    const std::int64_t middle = between(draw.rng, -3, 8), width = between(draw.rng, 0, 4);
    const auto kind = draw.rng.below(3);
    program.row(draw.terms(3), kind == 1 ? kMinusInfinity : middle,
                kind == 2 ? kPlusInfinity : middle + width, draw.maybe_literal());
}

void add_choice(Program& program, Draw& draw) {
    constexpr Promise kPromises[]{Promise::AtLeastOne, Promise::AtMostOne, Promise::ExactlyOne};
    std::vector<Literal> literals;
    for (std::size_t i = 0; i < 1 + draw.rng.below(4); ++i) literals.push_back(draw.literal());
    program.choice(kPromises[draw.rng.below(3)], literals);
}

void add_no_overlap(Program& program, Draw& draw) {
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < 2 + draw.rng.below(2); ++i) {
        intervals.push_back({draw.variables[draw.rng.below(draw.variables.size())], between(draw.rng, 1, 3),
                             draw.maybe_literal()});
    }
    program.no_overlap(intervals);
}

bool is_true(Literal literal, const std::vector<std::int64_t>& values) {
    return values[literal.var.index] == (literal.negated ? 0 : 1);
}

}  // namespace

Program random_program(Rng& rng) {
    Program program;
    Draw draw{rng, {}, {}};
    for (std::size_t i = 0; i < 1 + rng.below(5); ++i) {
        draw.booleans.push_back(program.boolean("b" + std::to_string(i)));
        draw.variables.push_back(draw.booleans.back().var);
    }
    for (std::size_t i = 0; i < rng.below(4); ++i) {
        const std::int64_t lower = between(rng, -4, 3);
        draw.variables.push_back(program.integer(lower, lower + between(rng, 0, 4), "x" + std::to_string(i)));
    }
    for (std::size_t i = rng.below(4); i > 0; --i) add_row(program, draw);
    for (std::size_t i = rng.below(3); i > 0; --i) add_choice(program, draw);
    if (rng.below(3) == 0) add_no_overlap(program, draw);
    if (rng.below(4) != 0) program.minimise(draw.terms(5));
    return program;
}

bool solves(const Program& program, const std::vector<std::int64_t>& values) {
    for (std::size_t i = 0; i < program.rows(); ++i) {
        const Row row = program.row(i);
        if (row.only_if && !is_true(*row.only_if, values)) continue;
        std::int64_t sum = 0;
        for (const Term& term : row.terms) sum += term.coefficient * values[term.var.index];
        if (sum < row.lower || sum > row.upper) return false;
    }
    for (std::size_t i = 0; i < program.choices(); ++i) {
        const Choice choice = program.choice(i);
        std::int64_t count = 0;
        for (const Literal literal : choice.literals) count += is_true(literal, values) ? 1 : 0;
        if (choice.promise == Promise::AtLeastOne && count < 1) return false;
        if (choice.promise == Promise::AtMostOne && count > 1) return false;
        if (choice.promise == Promise::ExactlyOne && count != 1) return false;
    }
    for (std::size_t k = 0; k < program.no_overlaps(); ++k) {
        const auto intervals = program.no_overlap(k);
        for (std::size_t i = 0; i < intervals.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const Interval &a = intervals[i], &b = intervals[j];
                if ((a.present && !is_true(*a.present, values)) ||
                    (b.present && !is_true(*b.present, values))) {
                    continue;
                }
                const std::int64_t start_a = values[a.start.index], start_b = values[b.start.index];
                if (start_a < start_b + b.duration && start_b < start_a + a.duration) return false;
            }
        }
    }
    return true;
}

void for_assignments(const Program& program,
                     const std::function<void(const std::vector<std::int64_t>&)>& body) {
    std::vector<std::int64_t> values;
    for (std::uint32_t i = 0; i < program.vars(); ++i) values.push_back(program.bounds(Var{i}).lower);
    for (;;) {
        body(values);
        std::uint32_t i = 0;
        for (; i < program.vars(); ++i) {
            if (++values[i] <= program.bounds(Var{i}).upper) break;
            values[i] = program.bounds(Var{i}).lower;
        }
        if (i == program.vars()) return;
    }
}

std::optional<std::int64_t> enumerated_optimum(const Program& program) {
    std::optional<std::int64_t> best;
    for_assignments(program, [&](const std::vector<std::int64_t>& values) {
        if (!solves(program, values)) return;
        std::int64_t cost = 0;
        for (const Term& term : program.objective()) cost += term.coefficient * values[term.var.index];
        best = std::min(best.value_or(cost), cost);
    });
    return best;
}

Program pigeonhole(std::size_t pigeons) {
    Program program;
    std::vector<std::vector<Literal>> in(pigeons);
    for (std::size_t pigeon = 0; pigeon < pigeons; ++pigeon) {
        for (std::size_t hole = 0; hole + 1 < pigeons; ++hole) {
            in[pigeon].push_back(program.boolean("p" + std::to_string(pigeon) + "_" + std::to_string(hole)));
        }
        program.choice(Promise::AtLeastOne, in[pigeon]);
    }
    for (std::size_t hole = 0; hole + 1 < pigeons; ++hole) {
        for (std::size_t a = 0; a < pigeons; ++a) {
            for (std::size_t b = 0; b < a; ++b) program.clause({!in[a][hole], !in[b][hole]});
        }
    }
    return program;
}

}  // namespace tutti::test

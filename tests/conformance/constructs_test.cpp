// Every construct of a program, handed to every backend: small cases with known answers, then random programs
// against enumeration.

#include "tests/conformance/every_backend.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/programs.hpp"

#include <array>

using namespace tutti;
using namespace tutti::models;
using test::for_backends;

namespace {

Answer solved(const Backend& backend, const Program& program) {
    Answer answer = backend.solve(program, {});
    CAPTURE(answer.words);
    CHECK(answer.ended != Ended::Failed);
    if (answer.has_solution()) CHECK(test::solves(program, answer.values));
    return answer;
}

void check_optimum(const Program& program, std::optional<std::int64_t> optimum) {
    for_backends([&](const Backend& backend) {
        const Answer answer = solved(backend, program);
        CAPTURE(answer.words);
        CHECK(answer.ended == (optimum ? Ended::Optimal : Ended::Infeasible));
        CHECK(answer.objective == optimum);
    });
}

/// The least x + 2y + 4z of three Booleans under a promise about literals of them.
void check_promise(Promise promise, std::array<bool, 3> negated, std::int64_t optimum, std::int64_t sign) {
    Program program;
    std::vector<Literal> literals;
    std::vector<Term> cost;
    for (const bool negate : negated) {
        const Literal literal = program.boolean("b" + std::to_string(literals.size()));
        cost.push_back({literal.var, sign * (std::int64_t{1} << literals.size())});
        literals.push_back(negate ? !literal : literal);
    }
    program.choice(promise, literals);
    program.minimise(cost);
    check_optimum(program, optimum);
}

}  // namespace

TEST_CASE("a program without anything is solved by every backend") { check_optimum({}, 0); }

TEST_CASE("variables alone take some value within their bounds") {
    Program program;
    program.integer(-7, -3, "a");
    program.integer(5, 5, "b");
    program.boolean("c");
    check_optimum(program, 0);
}

TEST_CASE("rows that contradict each other have no solution") {
    Program program;
    const Var x = program.integer(0, 10, "x"), y = program.integer(0, 10, "y");
    program.row(std::array{Term{x, 1}, Term{y, 1}}, 7, kPlusInfinity);
    program.row(std::array{Term{x, 1}, Term{y, 1}}, kMinusInfinity, 6);
    check_optimum(program, {});
}

TEST_CASE("a parity that no integers have is infeasible") {
    Program program;
    const Var x = program.integer(-50, 50, "x"), y = program.integer(-50, 50, "y");
    program.row(std::array{Term{x, 2}, Term{y, 4}}, 5, 5);
    check_optimum(program, {});
}

TEST_CASE("a row without terms is a sum of nothing") {
    Program fine, broken;
    fine.boolean("b");
    broken.boolean("b");
    fine.row({}, -1, 0);
    broken.row({}, 1, kPlusInfinity);
    check_optimum(fine, 0);
    check_optimum(broken, {});
}

TEST_CASE("an at-least-one of no literals is infeasible, an at-most-one is not") {
    Program none, most, exactly;
    for (Program* const program : {&none, &most, &exactly}) program->boolean("b");
    none.choice(Promise::AtLeastOne, {});
    most.choice(Promise::AtMostOne, {});
    exactly.choice(Promise::ExactlyOne, {});
    check_optimum(none, {});
    check_optimum(most, 0);
    check_optimum(exactly, {});
}

TEST_CASE("fixed and negative variables count with their values") {
    Program program;
    const Var fixed = program.integer(-5, -5, "fixed"), x = program.integer(-10, -1, "x");
    program.row(std::array{Term{fixed, 2}, Term{x, -3}}, kMinusInfinity, 0);  // -10 - 3x <= 0: x >= -3
    program.minimise(std::array{Term{x, 1}, Term{fixed, 1}});
    check_optimum(program, -8);
}

TEST_CASE("large coefficients are counted exactly") {
    Program program;
    const Var x = program.integer(0, 1000, "x"), y = program.integer(0, 1000, "y");
    program.row(std::array{Term{x, 1'000'003}, Term{y, -999'983}}, 20,
                20);  // x = y = 1 is the first of its kind
    program.row(std::array{Term{x, 1}}, 1, kPlusInfinity);
    program.minimise(std::array{Term{x, 1'000'000}, Term{y, 1}});
    check_optimum(program, 1'000'001);
}

TEST_CASE("clauses, at-most-ones and exactly-ones hold for literals and negated literals") {
    check_promise(Promise::AtLeastOne, {false, false, false}, 1, 1);
    check_promise(Promise::AtLeastOne, {true, true, true}, 0, 1);
    check_promise(Promise::AtLeastOne, {true, true, true}, -6, -1);
    check_promise(Promise::AtMostOne, {false, false, false}, -4, -1);
    check_promise(Promise::AtMostOne, {true, true, true}, 3, 1);
    check_promise(Promise::AtMostOne, {true, false, true}, 1, 1);
    check_promise(Promise::ExactlyOne, {false, false, false}, 1, 1);
    check_promise(Promise::ExactlyOne, {true, true, true}, 3, 1);
    check_promise(Promise::ExactlyOne, {true, true, true}, -6, -1);
}

TEST_CASE("a literal named twice counts twice") {
    Program program;
    const Literal a = program.boolean("a"), b = program.boolean("b");
    program.choice(Promise::AtMostOne, std::array{a, a, b});
    program.minimise(std::array{Term{a.var, -5}, Term{b.var, -1}});
    check_optimum(program, -1);
}

TEST_CASE("a conditional row binds where its literal is true, and nowhere else") {
    for (const bool negated : {false, true}) {
        for (const bool holds : {false, true}) {
            CAPTURE(negated);
            CAPTURE(holds);
            Program program;
            const Literal boolean = program.boolean("b");
            const Var x = program.integer(-20, 20, "x"), y = program.integer(-20, 20, "y");
            const Literal condition = negated ? !boolean : boolean;
            program.row(std::array{Term{x, 1}, Term{y, 2}}, -6, 30, condition);
            program.fix(holds ? condition : !condition);
            program.minimise(std::array{Term{x, 1}, Term{y, 2}});
            check_optimum(program, holds ? -6 : -60);
        }
    }
}

TEST_CASE("the literal of a conditional row may also be a term of the row") {
    Program program;
    const Literal b = program.boolean("b");
    const Var x = program.integer(0, 9, "x");
    program.row(std::array{Term{x, 1}, Term{b.var, -4}}, 0, kPlusInfinity, b);  // b: x >= 4
    program.minimise(std::array{Term{x, 1}, Term{b.var, -10}});
    check_optimum(program, -6);
}

TEST_CASE("intervals on one machine follow each other") {
    Program program;
    std::vector<Interval> intervals;
    const Var end = program.integer(0, 30, "end");
    for (const std::int64_t duration : {3, 1, 4, 2}) {
        const Var start = program.integer(0, 30, "s" + std::to_string(intervals.size()));
        intervals.push_back({start, duration, {}});
        program.row(std::array{Term{end, 1}, Term{start, -1}}, duration, kPlusInfinity);
    }
    program.no_overlap(intervals);
    program.minimise(std::array{Term{end, 1}});
    for_backends([&](const Backend& backend) {
        if (!backend.abilities().intervals) return;
        CHECK(solved(backend, program).objective == 10);
    });
}

TEST_CASE("empty constraints do not shift the intervals of later ones") {
    Program program;
    const Var a = program.integer(0, 1, "a"), b = program.integer(0, 1, "b");
    program.choice(Promise::AtMostOne, {});
    program.no_overlap(std::span<const Interval>{});
    program.row({}, 0, 0);
    program.no_overlap(std::array{Interval{a, 1, {}}, Interval{b, 1, {}}});
    program.minimise(std::array{Term{a, 1}, Term{b, 1}});
    check_optimum(program, 1);
}

TEST_CASE("an interval that is absent takes no time") {
    Program program;
    const Literal here = program.boolean("here"), there = program.boolean("there");
    const Var a = program.integer(0, 3, "a"), b = program.integer(0, 3, "b"), c = program.integer(0, 3, "c");
    program.no_overlap(std::array{Interval{a, 2, {}}, Interval{b, 3, here}, Interval{c, 2, !there}});
    program.row(std::array{Term{a, 1}}, 1,
                2);  // takes 1-2 or 2-3, so that b, which takes 0-2 at least, cannot be
    program.row(std::array{Term{b, 1}}, 0, 1);
    program.minimise(std::array{Term{here.var, -2}, Term{there.var, 1}, Term{c, -1}});
    for_backends([&](const Backend& backend) {
        if (!backend.abilities().intervals) return;
        const Answer answer = solved(backend, program);
        CHECK(answer.objective == -3);  // a at 1, c at 3
    });
}

TEST_CASE("every backend finds the optimum of random programs") {
    std::size_t infeasible = 0, feasible = 0;
    test::for_seeds(test::cases(300), [&](Rng& rng, std::uint64_t) {
        const Program program = test::random_program(rng);
        const auto optimum = test::enumerated_optimum(program);
        (optimum ? feasible : infeasible) += 1;
        check_optimum(program, optimum);
    });
    CHECK(feasible > infeasible);
}

TEST_CASE("a hint changes no answer, be it right, wrong, partial or given twice") {
    test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t) {
        Program program = test::random_program(rng);
        for (std::uint32_t i = 0; i < program.vars(); ++i) {
            if (rng.below(4) == 0) continue;
            const auto [lower, upper] = program.bounds(Var{i});
            const auto width = static_cast<std::uint64_t>(upper - lower + 3);
            program.hint(Var{i}, lower - 1 + static_cast<std::int64_t>(rng.below(width)));
            if (rng.below(4) == 0) program.hint(Var{i}, lower);
        }
        check_optimum(program, test::enumerated_optimum(program));
    });
}

TEST_CASE("the same seed and one thread give the same answer") {
    test::for_seeds(test::cases(10), [&](Rng& rng, std::uint64_t seed) {
        const Program program = test::random_program(rng);
        for_backends([&](const Backend& backend) {
            const SolveLimits limits{.stop = Stop{}, .threads = 1, .seed = seed};
            CHECK(backend.solve(program, limits).values == backend.solve(program, limits).values);
        });
    });
}

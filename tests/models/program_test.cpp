#include "models/program.hpp"

#include "models/linearise.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/programs.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>

using namespace tutti;
using namespace tutti::models;

TEST_CASE("a program returns the variables and constraints that were added") {
    Program program;
    const Literal b = program.boolean("b");
    const Var x = program.integer(-3, 9, "x"), y = program.integer(0, 1, "y");
    program.row(std::array{Term{x, 2}, Term{y, -1}}, -4, kPlusInfinity, !b);
    program.row({}, 0, 1);
    program.implies(b, !Literal{y});
    program.choice(Promise::AtMostOne, std::array{b, Literal{y}});
    program.no_overlap(std::array{Interval{x, 2, b}});
    program.no_overlap(std::array{Interval{x, 1, {}}, Interval{y, 3, !b}});
    program.hint(x, 4);
    program.hint(b, true);
    program.hint(!b, true);
    program.minimise(std::array{Term{x, 7}});

    CHECK(program.vars() == 3);
    CHECK(program.bounds(x).lower == -3);
    CHECK(program.bounds(x).upper == 9);
    CHECK(program.name(y) == "y");
    CHECK(program.is_boolean(y));
    CHECK_FALSE(program.is_boolean(x));

    REQUIRE(program.rows() == 2);
    REQUIRE(program.row(0).terms.size() == 2);
    CHECK(program.row(0).terms[1].coefficient == -1);
    CHECK(program.row(0).lower == -4);
    CHECK(program.row(0).only_if == !b);
    CHECK(program.row(1).terms.empty());
    CHECK_FALSE(program.row(1).only_if);

    REQUIRE(program.choices() == 2);
    CHECK(program.choice(0).promise == Promise::AtLeastOne);
    REQUIRE(program.choice(0).literals.size() == 2);
    CHECK(program.choice(0).literals[0] == !b);
    CHECK(program.choice(1).literals[1] == Literal{y});

    REQUIRE(program.no_overlaps() == 2);
    REQUIRE(program.no_overlap(0).size() == 1);
    REQUIRE(program.no_overlap(1).size() == 2);
    CHECK(program.no_overlap(1)[1].duration == 3);

    const std::vector<std::pair<Var, std::int64_t>> hints{{b.var, 0}, {x, 4}};
    CHECK(program.hints() == hints);
    CHECK(program.size() == 2 + 4 + 3);
}

TEST_CASE("values that violate a program are reported by constraint") {
    Program program;
    const Literal b = program.boolean("ready");
    const Var x = program.integer(0, 9, "x"), y = program.integer(0, 9, "y");
    program.row(std::array{Term{x, 1}, Term{y, 2}}, 3, 12, b);
    program.clause({b, !b});
    program.choice(Promise::ExactlyOne, std::array{!b});
    program.no_overlap(std::array{Interval{x, 2, {}}, Interval{y, 2, !b}});
    const auto broken = [&](std::vector<std::int64_t> values) {
        return program.broken_by(values).value_or("nothing");
    };
    CHECK(broken({0, 0, 2}) == "nothing");
    CHECK(broken({0, 0}) == "2 values for 3 variables");
    CHECK(broken({0, 0, 10}) == "y = 10, outside of 0 to 9");
    CHECK(broken({1, 1, 0}) == "row 0: 3 <= 1 x + 2 y <= 12 if ready");
    CHECK(broken({1, 3, 0}) == "choice 1: exactly one of not ready");
    CHECK(broken({0, 3, 4}) == "no_overlap 0: the intervals of x and y");
}

TEST_CASE("sums beyond 64 bits are compared exactly") {
    constexpr std::int64_t kLarge = std::numeric_limits<std::int64_t>::max() - 1;
    Program program;
    const Var x = program.integer(0, kLarge, "x"), y = program.integer(0, kLarge, "y");
    program.row(std::array{Term{x, kLarge}, Term{y, -kLarge}}, 0, 0);
    program.row(std::array{Term{x, kLarge}, Term{y, kLarge}}, 0, kPlusInfinity);
    program.minimise(std::array{Term{x, 2}});
    CHECK_FALSE(program.broken_by(std::array{kLarge, kLarge}));
    CHECK(program.broken_by(std::array{kLarge, kLarge - 1}));
    CHECK_FALSE(program.objective_of(std::array{kLarge, kLarge}));
    CHECK(program.objective_of(std::array<std::int64_t, 2>{21, 0}) == 42);

    program.row(std::array{Term{x, kLarge}, Term{y, kLarge}}, kMinusInfinity, kPlusInfinity - 1);
    CHECK(program.broken_by(std::array{kLarge, kLarge}));
}

TEST_CASE("a row of a thousand terms is named by its first") {
    Program program;
    std::vector<Term> terms;
    for (int i = 0; i < 1000; ++i) terms.push_back({program.boolean("b" + std::to_string(i)).var, 1});
    program.row(terms, 1, kPlusInfinity);
    const auto broken = program.broken_by(std::vector<std::int64_t>(1000, 0));
    REQUIRE(broken);
    CHECK(broken->size() < 120);
    CHECK(broken->find("1 b7 + ... (1000 in all)") != std::string::npos);
}

TEST_CASE("a program is broken by exactly those values that do not solve it") {
    test::for_seeds(test::cases(150), [](Rng& rng, std::uint64_t) {
        const Program program = test::random_program(rng);
        std::int64_t wrong = 0;
        test::for_assignments(program, [&](const std::vector<std::int64_t>& values) {
            wrong += program.broken_by(values).has_value() == test::solves(program, values) ? 1 : 0;
        });
        CHECK(wrong == 0);
    });
}

TEST_CASE("linearised, a program has rows only and the same solutions") {
    test::for_seeds(test::cases(150), [](Rng& rng, std::uint64_t) {
        const Program program = test::random_program(rng);
        const Linearised linear = linearise(program);
        REQUIRE(linear.refusal.empty());
        CHECK(linear.program.choices() == 0);
        CHECK(linear.program.no_overlaps() == 0);
        for (std::size_t i = 0; i < linear.program.rows(); ++i) CHECK_FALSE(linear.program.row(i).only_if);

        std::vector<std::vector<std::int64_t>> before, after;
        test::for_assignments(program, [&](const std::vector<std::int64_t>& values) {
            if (test::solves(program, values)) before.push_back(values);
        });
        test::for_assignments(linear.program, [&](std::vector<std::int64_t> values) {
            if (!test::solves(linear.program, values)) return;
            values.resize(program.vars());
            after.push_back(values);
        });
        std::ranges::sort(before);
        std::ranges::sort(after);
        const auto repeated =
            std::ranges::unique(after);  // the same solution with another order of what is absent
        after.erase(repeated.begin(), repeated.end());
        CHECK(before == after);
    });
}

TEST_CASE("programs with numbers too large for the tolerances of solvers are not linearised") {
    Program program;
    const Literal b = program.boolean("b");
    const Var x = program.integer(0, std::int64_t{1} << 40, "x");
    program.row(std::array{Term{x, 1}}, kMinusInfinity, 5, b);
    CHECK(linearise(program).refusal.find("2^31") != std::string::npos);

    Program wide;
    wide.integer(0, std::int64_t{1} << 60, "far");
    CHECK(linearise(wide).refusal.find("far") != std::string::npos);
}

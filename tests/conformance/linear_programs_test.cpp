// What a backend that takes linear programs owes: a primal and a dual that prove each other.

#include "tests/conformance/every_backend.hpp"
#include "tests/support/cases.hpp"

using namespace tutti;
using namespace tutti::models;
using test::for_backends;

namespace {

constexpr double kTolerance = 1e-6;

/// Feasible and bounded: costs are not negative, and the rows are what some non-negative point gives them.
LinearProgram random_program(Rng& rng) {
    LinearProgram program;
    std::vector<std::int64_t> point;
    for (std::size_t i = 0; i < 1 + rng.below(8); ++i) {
        program.add_column(static_cast<std::int64_t>(rng.below(10)));
        point.push_back(static_cast<std::int64_t>(rng.below(6)));
    }
    for (std::size_t row = 0; row < rng.below(8); ++row) {
        std::int64_t sum = 0;
        for (std::uint32_t column = 0; column < program.columns(); ++column) {
            if (rng.below(2) == 0) continue;
            const auto value = static_cast<std::int64_t>(rng.below(11)) - 5;
            program.add(column, value);
            sum += value * point[column];
        }
        const bool equal = rng.below(3) == 0;
        program.end_row(equal ? sum : sum - static_cast<std::int64_t>(rng.below(3)), equal);
    }
    return program;
}

void check_proof(const LinearProgram& program, const LinearAnswer& answer) {
    REQUIRE(answer.primal.size() == program.columns());
    REQUIRE(answer.dual.size() == program.rows());
    std::vector<double> left(program.cost.begin(), program.cost.end());  // cost minus what the dual pays
    double primal_value = 0, dual_value = 0;
    for (std::size_t column = 0; column < program.columns(); ++column) {
        CHECK(answer.primal[column] >= -kTolerance);
        primal_value += static_cast<double>(program.cost[column]) * answer.primal[column];
    }
    for (std::size_t row = 0; row < program.rows(); ++row) {
        double sum = 0;
        for (std::size_t i = program.row_begin[row]; i < program.row_begin[row + 1]; ++i) {
            const auto [column, value] = program.entries[i];
            sum += static_cast<double>(value) * answer.primal[column];
            left[column] -= static_cast<double>(value) * answer.dual[row];
        }
        const auto least = static_cast<double>(program.at_least[row]);
        CHECK(sum >= least - kTolerance);
        if (program.equal[row]) {
            CHECK(sum <= least + kTolerance);
        } else {
            CHECK(answer.dual[row] >= -kTolerance);
        }
        dual_value += least * answer.dual[row];
    }
    for (const double reduced : left) CHECK(reduced >= -kTolerance);
    CHECK(primal_value == doctest::Approx(dual_value).epsilon(kTolerance));
    CHECK(answer.objective == doctest::Approx(primal_value).epsilon(kTolerance));
}

}  // namespace

TEST_CASE("primal and dual of random linear programs prove each other") {
    test::for_seeds(test::cases(200), [&](Rng& rng, std::uint64_t) {
        const LinearProgram program = random_program(rng);
        for_backends([&](const Backend& backend) {
            if (!backend.abilities().linear_programs) return;
            const LinearAnswer answer = backend.solve(program, {});
            CAPTURE(answer.words);
            REQUIRE(answer.ended == Ended::Optimal);
            check_proof(program, answer);
        });
    });
}

TEST_CASE("a linear program with a known optimum has it, and the dual of its one tight row") {
    LinearProgram program;  // 3x + 5y at least cost, x + y >= 4, x - y >= 0
    const auto x = program.add_column(3), y = program.add_column(5);
    program.add(x, 1);
    program.add(y, 1);
    program.end_row(4);
    program.add(x, 1);
    program.add(y, -1);
    program.end_row(0);
    for_backends([&](const Backend& backend) {
        if (!backend.abilities().linear_programs) return;
        const LinearAnswer answer = backend.solve(program, {});
        REQUIRE(answer.ended == Ended::Optimal);
        CHECK(answer.objective == doctest::Approx(12));
        CHECK(answer.primal[0] == doctest::Approx(4));
        CHECK(answer.dual[0] == doctest::Approx(3));
        CHECK(answer.dual[1] == doctest::Approx(0));
    });
}

TEST_CASE("infeasible and unbounded linear programs are distinguished") {
    LinearProgram infeasible, endless;
    infeasible.add(infeasible.add_column(1), -1);
    infeasible.end_row(1);
    endless.add(endless.add_column(-1), 1);
    endless.end_row(1);
    for_backends([&](const Backend& backend) {
        if (!backend.abilities().linear_programs) {
            CHECK(backend.solve(endless, {}).ended == Ended::Failed);
            return;
        }
        CHECK(backend.solve(infeasible, {}).ended == Ended::Infeasible);
        const LinearAnswer answer = backend.solve(endless, {});
        CHECK(answer.ended == Ended::Failed);
        CHECK(answer.words == "unbounded");
    });
}

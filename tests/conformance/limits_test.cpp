// What every backend owes to whoever stops it, and to its neighbours in other threads.

#include "tests/conformance/every_backend.hpp"
#include "tests/support/programs.hpp"

#include <array>
#include <chrono>
#include <thread>

using namespace tutti;
using namespace tutti::models;
using namespace std::chrono_literals;
using test::for_backends;

namespace {

/// A knapsack equation of the market-split kind: easy to state, far beyond enumeration.
Program market_split(std::size_t rows, std::size_t columns) {
    Rng rng(4);
    Program program;
    std::vector<Var> vars;
    for (std::size_t i = 0; i < columns; ++i) vars.push_back(program.boolean("b" + std::to_string(i)).var);
    for (std::size_t row = 0; row < rows; ++row) {
        std::vector<Term> terms;
        std::int64_t sum = 0;
        for (const Var var : vars) {
            terms.push_back({var, static_cast<std::int64_t>(rng.below(100))});
            sum += terms.back().coefficient;
        }
        program.row(terms, sum / 2, sum / 2);
    }
    return program;
}

}  // namespace

TEST_CASE("a stop that is requested already ends every solve before it begins") {
    const std::atomic<bool> raised{true};
    const SolveLimits limits{.stop = Stop({}, &raised)};
    for_backends([&](const Backend& backend) {
        const Answer answer = backend.solve(toy(), limits);
        CHECK(answer.ended == Ended::Stopped);
        CHECK(answer.values.empty());
        if (backend.abilities().linear_programs) {
            CHECK(backend.solve(LinearProgram{}, limits).ended == Ended::Stopped);
        }
    });
}

TEST_CASE("a stop in the midst of a hard solve ends it without an answer") {
    const Program program = market_split(6, 50);
    for_backends([&](const Backend& backend) {
        const Answer by_time = backend.solve(program, {.stop = Stop(0.3s)});
        CAPTURE(by_time.words);
        CHECK(by_time.ended == Ended::Stopped);

        std::atomic<bool> flag{false};
        std::jthread user([&] {
            std::this_thread::sleep_for(200ms);
            flag = true;
        });
        const Answer by_flag = backend.solve(program, {.stop = Stop({}, &flag)});
        CAPTURE(by_flag.words);
        CHECK(by_flag.ended == Ended::Stopped);
    });
}

TEST_CASE("what was found before a stop is kept, with a bound that is no better") {
    // Any assignment will do, and which is best is a hard question.
    Program program;
    Rng rng(1);
    std::vector<Term> cost;
    std::vector<std::vector<Term>> rows(30);
    for (std::size_t i = 0; i < 200; ++i) {
        const Var var = program.boolean("b" + std::to_string(i)).var;
        cost.push_back({var, -1 - static_cast<std::int64_t>(rng.below(1000))});
        for (auto& row : rows) row.push_back({var, 1 + static_cast<std::int64_t>(rng.below(1000))});
    }
    for (const auto& row : rows) program.row(row, kMinusInfinity, 25'000);
    program.minimise(cost);
    for_backends([&](const Backend& backend) {
        const Answer answer = backend.solve(program, {.stop = Stop(1.5s)});
        CAPTURE(answer.words);
        REQUIRE(answer.ended == Ended::Feasible);
        CHECK(test::solves(program, answer.values));
        REQUIRE(answer.bound);
        CHECK(*answer.bound < *answer.objective);
    });
}

TEST_CASE("backends of one kind and of all kinds solve at the same time, with different numbers of threads") {
    std::vector<std::jthread> threads;
    std::array<std::atomic<int>, 3> right{};
    std::size_t solvers = 0;
    for (const BackendEntry& entry : backends()) {
        if (!entry.built()) continue;
        for (unsigned copy = 1; copy <= 2; ++copy) {
            threads.emplace_back([&entry, copy, &count = right[solvers]] {
                const OpenedBackend opened = entry.open();
                for (unsigned round = 0; round < 5; ++round) {
                    const unsigned workers = 1 + (round + copy) % 2;
                    const Answer answer = opened.backend->solve(toy(), {.stop = Stop{}, .threads = workers});
                    count += answer.ended == Ended::Optimal && answer.objective == kToyOptimum ? 1 : 0;
                }
            });
        }
        ++solvers;
    }
    threads.clear();
    for (std::size_t i = 0; i < solvers; ++i) CHECK(right[i] == 10);
}

TEST_CASE("every backend refutes the pigeonhole problem") {
    for_backends([&](const Backend& backend) {
        CHECK(backend.solve(test::pigeonhole(6), {}).ended == Ended::Infeasible);
    });
}

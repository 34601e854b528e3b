#include "verify/plan/reachability.hpp"

#include "core/rng.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace tutti::verify {
namespace {

/// Chains with random edges between them, and ops of no chain; edges go from lower to higher numbers.
plan::Program random_program(Rng& rng, std::size_t ops, std::uint32_t chains, std::size_t edges) {
    plan::Program program;
    program.chains = chains;
    std::vector<plan::OpId> last(chains, plan::kNoOp);
    for (plan::OpId id = 0; id < ops; ++id) {
        plan::Op& op = program.ops.emplace_back();
        if (rng.below(3) == 0) continue;
        op.chain = static_cast<std::uint32_t>(rng.below(chains));
        if (last[op.chain] != plan::kNoOp)
            program.edges.push_back({last[op.chain], id, plan::EdgeKind::Order});
        last[op.chain] = id;
    }
    for (std::size_t i = 0; i < edges; ++i) {
        const auto to = static_cast<plan::OpId>(1 + rng.below(ops - 1));
        // Mostly to near ops, so that ways are long.
        const auto back = static_cast<plan::OpId>(1 + rng.below(rng.below(4) == 0 ? to : std::min(to, 8U)));
        const auto kind = rng.below(8) == 0 ? plan::EdgeKind::Weak : plan::EdgeKind::Signal;
        program.edges.push_back({to - back, to, kind});
    }
    return program;
}

/// after[a][b]: a happens before b.
std::vector<std::vector<bool>> closure(const plan::Program& program) {
    const std::size_t ops = program.ops.size();
    std::vector<std::vector<bool>> after(ops, std::vector<bool>(ops, false));
    for (std::size_t from = ops; from-- > 0;) {
        for (const plan::Edge& edge : program.edges) {
            if (edge.from != from || edge.kind == plan::EdgeKind::Weak) continue;
            after[from][edge.to] = true;
            for (std::size_t op = 0; op < ops; ++op)
                if (after[edge.to][op]) after[from][op] = true;
        }
    }
    return after;
}

}  // namespace

TEST_SUITE("verify: reachability") {
    TEST_CASE("an op happens before another exactly if edges lead from the one to the other") {
        std::size_t yes = 0, no = 0;
        test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t) {
            const std::size_t ops = 20 + rng.below(180);
            const auto program =
                random_program(rng, ops, 1 + static_cast<std::uint32_t>(rng.below(30)), rng.below(3 * ops));
            const ProgramGraph graph(program);
            REQUIRE_FALSE(graph.has_cycle());
            const auto after = closure(program);
            // Few queries have a small budget for the search, many a large one.
            std::vector<OrderQuestion> questions;
            for (std::size_t i = 1 + rng.below(20 * ops); i > 0; --i) {
                const auto a = static_cast<plan::OpId>(rng.below(ops)),
                           b = static_cast<plan::OpId>(rng.below(ops));
                if (a != b) questions.push_back({a, b});
            }
            const std::vector<bool> answers = Reachability(program, graph).answers(questions);
            bool same = true;
            for (std::size_t i = 0; i < questions.size(); ++i) {
                const bool expected = after[questions[i].from][questions[i].to];
                same = same && answers[i] == expected;
                ++(expected ? yes : no);
            }
            CHECK(same);
        });
        CHECK(yes > 1000);
        CHECK(no > 1000);
    }

    TEST_CASE("a way that is too long to be searched is found all the same") {
        // An op of no chain begins a long chain; each op of a second chain waits for one of the first.
        constexpr plan::OpId kLength = 2000;
        plan::Program program;
        program.chains = 2;
        program.ops.resize(2 * kLength + 1);
        for (plan::OpId id = 1; id <= kLength; ++id) {
            program.ops[id].chain = 0;
            program.ops[kLength + id].chain = 1;
            program.edges.push_back({id - 1, id, plan::EdgeKind::Order});
            program.edges.push_back({id, kLength + id, plan::EdgeKind::Signal});
            if (id > 1) program.edges.push_back({kLength + id - 1, kLength + id, plan::EdgeKind::Order});
        }
        const ProgramGraph graph(program);
        std::vector<OrderQuestion> questions;
        for (plan::OpId id = 1; id <= kLength; ++id) questions.push_back({0, kLength + id});
        const std::vector<bool> answers = Reachability(program, graph).answers(questions);
        CHECK(std::ranges::count(answers, true) == kLength);
    }
}

}  // namespace tutti::verify

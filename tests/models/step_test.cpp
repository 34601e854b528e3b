// The synchronous model against a search of every way to fill every link, on networks small enough for that.

#include "models/encode/step.hpp"
#include "models/backends/registry.hpp"
#include "models/step_bounds.hpp"
#include "models/step_symmetry.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace {

using namespace tutti;
using namespace tutti::models;

/// Every state (who holds what) that can be reached, step by step. Holding more is never worse, so each link
/// carries as much as it can of what is new to its end.
class BruteForce {
  public:
    BruteForce(const StepProblem& problem, const StepPoint& point) : problem_(problem), point_(point) {
        State begin(problem.nodes, 0);
        for (const StepClass& kind : problem.classes) {
            for (std::int64_t i = 0; i < kind.count * point.chunks; ++i, ++chunks_) {
                for (const NodeId node : kind.holders) begin[node.index()] |= 1U << chunks_;
                goals_.resize(problem.nodes);
                for (const NodeId node : kind.receivers) goals_[node.index()] |= 1U << chunks_;
            }
        }
        states_.insert({begin, 0});
    }

    bool feasible() {
        for (int s = 1; s <= point_.steps; ++s) {
            std::set<std::pair<State, int>> next;
            for (const auto& [state, used] : states_) {
                const int most = point_.rounds - used - (point_.steps - s);
                for (int rounds = 1; rounds <= most; ++rounds) {
                    fill(state, state, 0, rounds, [&](const State& after) {
                        next.insert({after, used + rounds});
                    });
                }
            }
            states_ = std::move(next);
        }
        return std::ranges::any_of(states_, [&](const auto& entry) {
            for (std::size_t v = 0; v < problem_.nodes; ++v) {
                if ((goals_[v] & ~entry.first[v]) != 0) return false;
            }
            return true;
        });
    }

  private:
    using State = std::vector<unsigned>;

    template <class Found>
    void fill(const State& before, const State& after, std::size_t arc, int rounds, const Found& found) {
        if (arc == problem_.arcs.size()) return found(after);
        const std::size_t u = problem_.arcs[arc].src.index(), v = problem_.arcs[arc].dst.index();
        const unsigned fresh = before[u] & ~after[v];
        const auto carried =
            std::min<std::int64_t>(problem_.arcs[arc].capacity * rounds, std::popcount(fresh));
        for (unsigned set = 0; set < (1U << chunks_); ++set) {
            if ((set & ~fresh) != 0 || std::popcount(set) != carried) continue;
            State filled = after;
            filled[v] |= set;
            fill(before, filled, arc + 1, rounds, found);
        }
    }

    const StepProblem& problem_;
    StepPoint point_;
    unsigned chunks_ = 0;
    State goals_;
    std::set<std::pair<State, int>> states_;
};

/// What is wrong with the plan, in words; empty if nothing is.
std::string fault(const StepProblem& problem, const StepPoint& point, const StepPlan& plan) {
    if (plan.rounds.size() != static_cast<std::size_t>(point.steps)) return "steps";
    int rounds = 0;
    for (const int r : plan.rounds) {
        if (r < 1) return "a step without a round";
        rounds += r;
    }
    if (rounds != point.rounds) return "rounds";
    std::map<std::pair<std::size_t, std::int64_t>, std::map<std::size_t, int>>
        held;  // chunk, node: since which step
    for (std::size_t k = 0; k < problem.classes.size(); ++k) {
        for (std::int64_t i = 0; i < problem.classes[k].count * point.chunks; ++i) {
            for (const NodeId node : problem.classes[k].holders) held[{k, i}][node.index()] = 0;
        }
    }
    std::map<std::pair<std::size_t, int>, std::int64_t> load;
    for (const StepSend& send : plan.sends) {
        const StepArc& arc = problem.arcs[send.arc];
        auto& since = held[{send.chunk_class, send.index}];
        if (!since.contains(arc.src.index()) || since[arc.src.index()] >= send.step)
            return "sent before it is held";
        since.try_emplace(arc.dst.index(), send.step);
        if (++load[{send.arc, send.step}] >
            arc.capacity * plan.rounds[static_cast<std::size_t>(send.step) - 1]) {
            return "a link carries too much";
        }
    }
    for (std::size_t k = 0; k < problem.classes.size(); ++k) {
        for (std::int64_t i = 0; i < problem.classes[k].count * point.chunks; ++i) {
            for (const NodeId node : problem.classes[k].receivers) {
                if (!held[{k, i}].contains(node.index())) return "somebody goes without";
            }
        }
    }
    return {};
}

StepProblem random_problem(Rng& rng) {
    StepProblem problem;
    problem.nodes = 3 + rng.below(2);
    for (std::size_t u = 0; u < problem.nodes; ++u) {
        for (std::size_t v = 0; v < problem.nodes; ++v) {
            const bool on_ring = v == (u + 1) % problem.nodes;
            if (u == v || (!on_ring && rng.below(4) != 0)) continue;
            problem.arcs.push_back({NodeId(u), NodeId(v), 1 + static_cast<std::int64_t>(rng.below(2))});
        }
    }
    const std::size_t classes = 1 + rng.below(3);
    for (std::size_t k = 0; k < classes; ++k) {
        StepClass kind;
        const std::size_t holder = rng.below(problem.nodes);
        kind.holders = {NodeId(holder)};
        for (std::size_t v = 0; v < problem.nodes; ++v) {
            if (v != holder && rng.below(2) == 0) kind.receivers.emplace_back(v);
        }
        if (kind.receivers.empty()) kind.receivers.emplace_back((holder + 1) % problem.nodes);
        problem.classes.push_back(std::move(kind));
    }
    return problem;
}

}  // namespace

TEST_CASE(
    "every solver and a search of all ways agree on which points of the synchronous model are feasible") {
    std::vector<std::unique_ptr<Backend>> backends;
    for (const BackendEntry& entry : models::backends()) {
        if (auto opened = entry.open()) backends.push_back(std::move(opened.backend));
    }
    std::size_t yes = 0, no = 0, by_bounds = 0;
    test::for_seeds(test::cases(60), [&](Rng& rng, std::uint64_t) {
        const StepProblem problem = random_problem(rng);
        const StepBounds bounds(problem);
        const int steps = bounds.fewest_steps() + static_cast<int>(rng.below(2));
        const StepPoint point{steps, steps + static_cast<int>(rng.below(2)),
                              1 + static_cast<int>(rng.below(2))};
        const bool feasible = BruteForce(problem, point).feasible();
        ++(feasible ? yes : no);
        if (bounds.refutation(point)) {
            ++by_bounds;
            CHECK_FALSE(feasible);
        }
        for (const auto& backend : backends) {
            INFO(backend->library().file);
            const StepModel model(problem, point);
            const Answer answer = backend->solve(model.program(), {});
            REQUIRE((answer.has_solution() || answer.ended == Ended::Infeasible));
            CHECK(answer.has_solution() == feasible);
            if (answer.has_solution()) CHECK(fault(problem, point, model.plan(answer.values)) == "");
        }
    });
    CHECK(yes > 0);
    CHECK(no > 0);
    CHECK(by_bounds > 0);
}

TEST_CASE("the symmetries of a ring are its rotations, and a symmetric plan is a plan") {
    StepProblem problem;
    problem.nodes = 6;
    for (std::size_t u = 0; u < 6; ++u) {
        problem.arcs.push_back({NodeId(u), NodeId((u + 1) % 6), 1});
        problem.arcs.push_back({NodeId((u + 1) % 6), NodeId(u), 1});
    }
    SUBCASE("all-gather") {
        for (std::size_t u = 0; u < 6; ++u) {
            StepClass kind{{NodeId(u)}, {}, 1};
            for (std::size_t v = 0; v < 6; ++v) {
                if (v != u) kind.receivers.emplace_back(v);
            }
            problem.classes.push_back(std::move(kind));
        }
    }
    SUBCASE("all-to-all") {
        for (std::size_t u = 0; u < 6; ++u) {
            for (std::size_t v = 0; v < 6; ++v) {
                if (v != u) problem.classes.push_back({{NodeId(u)}, {NodeId(v)}, 1});
            }
        }
    }
    const auto group = free_symmetries(problem);
    REQUIRE(group.size() == 6);
    for (const StepSymmetry& g : group) {
        for (std::size_t e = 0; e < problem.arcs.size(); ++e) {
            CHECK(problem.arcs[g.arcs[e]].src.index() == g.nodes[problem.arcs[e].src.index()]);
            CHECK(problem.arcs[g.arcs[e]].dst.index() == g.nodes[problem.arcs[e].dst.index()]);
        }
    }
    const StepBounds bounds(problem);
    const StepPoint point{3, bounds.least_ratio().num == 5 ? 5 : 10, 2};
    const StepModel whole(problem, point), part(problem, point, group);
    CHECK(part.program().vars() < whole.program().vars() / 4);
    for (const BackendEntry& entry : backends()) {
        const auto opened = entry.open();
        if (!opened || entry.name == "z3") continue;
        const Answer answer = opened.backend->solve(part.program(), {});
        if (answer.has_solution()) CHECK(fault(problem, point, part.plan(answer.values)) == "");
        const bool feasible = opened.backend->solve(whole.program(), {}).has_solution();
        CHECK((feasible || !answer.has_solution()));
    }
}

TEST_CASE("a network without symmetry has the identity only") {
    StepProblem problem;
    problem.nodes = 3;
    problem.arcs = {{NodeId(0), NodeId(1), 1}, {NodeId(1), NodeId(2), 1}, {NodeId(2), NodeId(0), 2}};
    problem.classes = {{{NodeId(0)}, {NodeId(1), NodeId(2)}, 1}};
    const auto group = free_symmetries(problem);
    REQUIRE(group.size() == 1);
    CHECK(group.front().nodes == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("a cut counts only the rounds in which its chunks can cross") {
    // A line 0 - 1 - 2: chunks of 0 for 2 cannot arrive there in the first step.
    StepProblem problem;
    problem.nodes = 3;
    problem.arcs = {{NodeId(0), NodeId(1), 1}, {NodeId(1), NodeId(2), 1}};
    problem.classes = {{{NodeId(0)}, {NodeId(2)}, 1}};
    const StepBounds bounds(problem);
    CHECK(bounds.fewest_steps() == 2);
    CHECK(bounds.least_ratio() == Ratio{1, 1});
    CHECK(bounds.refutation({1, 9, 1}));
    CHECK(bounds.refutation({2, 3, 3}));
    CHECK(bounds.refutation({3, 3, 3}));
    CHECK_FALSE(bounds.refutation({4, 4, 3}));
    CHECK(BruteForce(problem, {4, 4, 3}).feasible());
}

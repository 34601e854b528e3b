// The verifier of execution plans against a machine that tries every interleaving.

#include "tests/oracle/execution_machine.hpp"
#include "tests/support/plan_ids.hpp"
#include "tests/support/random_execution.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>

namespace {

using namespace tutti;
using oracle::ExecutionOpinion;

constexpr std::size_t kMostStates = 60'000;

bool has_code(const std::vector<plan::PlanFinding>& findings, std::string_view code) {
    return std::ranges::any_of(findings, [&](const auto& finding) { return finding.code == code; });
}

/// What the outputs hold after the first run, as a condition; places that are undefined, or differ within a
/// chunk, are left free.
plan::Condition condition_of(const ExecutionOpinion& opinion) {
    plan::Condition condition;
    const std::int64_t places = opinion.places_per_chunk;
    for (std::size_t rank = 0; rank < opinion.outputs[0].size(); ++rank) {
        const auto& output = opinion.outputs[0][rank];
        auto& wanted = condition.outputs[Rank(rank)];
        for (std::size_t chunk = 0; chunk < output.size() / static_cast<std::size_t>(places); ++chunk) {
            std::vector<plan::Contribution> parts;
            bool whole = true;
            for (std::int64_t at = 0; at < places; ++at) {
                const auto& value =
                    output[chunk * static_cast<std::size_t>(places) + static_cast<std::size_t>(at)];
                std::vector<plan::Contribution> here;
                if (value) {
                    for (const auto& [origin, times] : *value) {
                        for (int i = 0; i < times; ++i)
                            here.push_back({test::id<Rank>(origin.first), origin.second / places});
                        whole = whole && origin.second % places == at;
                    }
                }
                whole = whole && value && (at == 0 || here == parts);
                parts = here;
            }
            if (whole) wanted[static_cast<std::int64_t>(chunk)] = parts;
        }
    }
    return condition;
}

}  // namespace

TEST_CASE("the machine that tries all interleavings knows what hangs and what races") {
    const auto opinion = [](const std::vector<std::vector<std::string>>& blocks) {
        test::ExecutionBuilder plan("test", 1);
        plan.out_of_place().gpu(2, 2, 4, {0, 1});
        for (const auto& lines : blocks) plan.add_block(lines);
        const auto found = oracle::explore(plan, kMostStates, 1, 1);
        REQUIRE(found);
        return found->hangs ? "hangs" : found->unordered ? "unordered" : "ordered";
    };
    CHECK(opinion({{"copy i0 -> s0", "nop", "release 0"}, {"acquire 0", "nop", "copy s0 -> o0"}}) ==
          "ordered");
    CHECK(opinion({{"copy i0 -> s0", "release 0"}, {"acquire 0", "nop", "copy s0 -> o0"}}) == "unordered");
    CHECK(opinion({{"copy i0 -> s0", "nop", "release 1"}, {"acquire 1", "nop", "copy s0 -> o0"}}) ==
          "unordered");
    CHECK(opinion({{"acquire 0"}}) == "hangs");
    CHECK(opinion({{"acquire 1"}, {"acquire 1", "release 1"}}) == "hangs");
    CHECK(opinion({{"copy s0+2 -> s2+2", "copy s2+2 -> o0+2"}}) == "ordered");
    CHECK(opinion({{"copy s0+2 -> s2+2", "copy s3 -> o0"}}) == "unordered");
    CHECK(opinion({{"cpkt i0+2 -> s0+2"}, {"upkt s0 -> o0", "nop", "copy o1 -> i1"}}) == "unordered");
    CHECK(opinion({{"upkt s0 -> o0", "release 0"}, {"acquire 0", "cpkt i0 -> s0"}}) == "hangs");
    CHECK(opinion({{"barrier 0 2", "copy s0 -> o0"}, {"copy i0 -> s0", "barrier 0 2"}}) == "ordered");
}

TEST_CASE("random execution plans: the verdict is that of all interleavings") {
    std::map<std::string, int> seen;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        const test::RandomExecution made = test::random_execution(seed);
        const auto opinion = oracle::explore(made.plan, kMostStates, 4, seed);
        if (!opinion) continue;
        CAPTURE(seed);
        CAPTURE(made.text);
        const plan::PlanVerdict verdict = verify::verify(made.plan);
        const bool hangs = has_code(verdict.violations, "deadlock");
        const bool races = has_code(verdict.violations, "race");
        CAPTURE(verdict.violations.empty() ? "" : verdict.violations[0].message);
        REQUIRE(hangs == opinion->hangs);
        ++seen[hangs ? "hangs" : "ends"];
        if (hangs) continue;
        // All memory matters, so there is no race of dead data. With shared counters an order may be missed.
        if (opinion->unordered) REQUIRE(races);
        if (races && !made.shared_counters) REQUIRE(opinion->unordered);
        ++seen[races ? "races" : "ordered"];
        if (races) continue;
        REQUIRE(has_code(verdict.violations, "packet") == opinion->clash);
        if (opinion->clash) continue;
        for (const auto& outputs : opinion->outputs) REQUIRE(outputs == opinion->outputs[0]);
        REQUIRE(verdict.verdict == plan::PlanClass::StructureOnly);

        verify::PlanReading reading;
        reading.condition = condition_of(*opinion);
        REQUIRE(verify::verify(made.plan, reading).verdict == plan::PlanClass::Valid);
        for (auto& [rank, chunks] : reading.condition->outputs) {
            if (chunks.empty()) continue;
            ++seen["values"];
            chunks.begin()->second.push_back({Rank(0), 1});
            std::ranges::sort(chunks.begin()->second);
            REQUIRE(has_code(verify::verify(made.plan, reading).violations, "value"));
            break;
        }
    }
    for (const char* kind : {"hangs", "races", "ordered", "values"}) {
        CHECK_MESSAGE(seen[kind] >= 100, std::string(kind), " only ", seen[kind], " times");
    }
}

TEST_CASE("random execution plans: races that are called dead change no output that is asked for") {
    int dead = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        const test::RandomExecution made = test::random_execution(seed);
        const auto opinion = oracle::explore(made.plan, kMostStates, 12, seed);
        if (!opinion || opinion->hangs || !opinion->unordered || opinion->clash) continue;
        verify::PlanReading reading;
        reading.condition = condition_of(*opinion);
        // Of the chunks that came out the same in all runs, each on its own.
        for (auto& [rank, chunks] : reading.condition->outputs) {
            for (auto& [chunk, parts] : chunks) {
                verify::PlanReading one = reading;
                one.condition->outputs = {{rank, {{chunk, parts}}}};
                const plan::PlanVerdict verdict = verify::verify(made.plan, one);
                if (verdict.verdict != plan::PlanClass::Valid) continue;
                dead += has_code(verdict.warnings, "dead-race") ? 1 : 0;
                CAPTURE(seed);
                CAPTURE(made.text);
                for (const auto& outputs : opinion->outputs) {
                    const auto first = static_cast<std::size_t>(chunk * opinion->places_per_chunk);
                    const auto& own = outputs[rank.index()];
                    REQUIRE(own[first] == opinion->outputs[0][rank.index()][first]);
                }
            }
        }
    }
    CHECK(dead >= 100);
}

// Five witnesses on the same random and mutated plans: the verifier, the naive interpreter of tests/oracle (a
// thread per thread block and real FIFOs, written from docs/msccl-xml.md alone), both engines, and the
// simulator. scripts/agree runs ten times as many.

#include "core/error.hpp"
#include "io/msccl_xml.hpp"
#include "tests/oracle/naive_interpreter.hpp"
#include "tests/oracle/plan_opinion.hpp"
#include "tests/oracle/plan_structure.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_plans.hpp"
#include "tests/support/runnable.hpp"
#include "timing/plan_timing.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace tutti;

namespace {

/// All gpus reach each other at once, so that the simulator says only whether the plan ends.
Topology full_network(std::int32_t ranks) {
    return Topology(test::star(static_cast<std::uint32_t>(ranks), {.cut_through = true}, 1, 1).parts());
}

bool simulator_ends(const plan::MscclPlan& plan, std::int64_t capacity) {
    timing::TimingOptions options;
    options.fifo_capacity = capacity;
    try {
        (void)timing::time_plan(plan, full_network(plan.ranks), options);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

struct EngineEnd {
    bool deadlock = false;
    std::uint64_t compared = 0, wrong = 0;
};

/// All modes of the plan, with both engines.
EngineEnd engines_end(const std::vector<verify::JudgedProgram>& programs, std::uint64_t seed,
                      std::uint64_t order, bool has_race) {
    EngineEnd end;
    for (const verify::JudgedProgram& program : programs) {
        try {
            const run::Executable executable = run::executable_of(program, {.shuffle = order});
            test::CallCase call{24, run::ElementType::U64};
            call.piece_bytes = 16;
            const auto pieces = test::run_once(executable, call, seed);
            call.engine = run::Engine::Streams;
            const auto streams = test::run_once(executable, call, seed);
            CHECK(pieces.compared == streams.compared);
            // What a race makes of data may differ between the engines.
            if (!has_race) CHECK((pieces.wrong == 0) == (streams.wrong == 0));
            end.compared += pieces.compared;
            end.wrong += pieces.wrong;
        } catch (const InputError& error) {
            CHECK(std::string(error.what()).starts_with("deadlock: "));
            end.deadlock = true;
        }
    }
    return end;
}

}  // namespace

TEST_CASE("verifier, naive interpreter, engines and simulator agree on random plans") {
    std::map<std::string, std::uint64_t> tally;
    const std::uint64_t count = test::cases(2000);
    test::for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        plan::MscclPlan plan =
            test::random_plan(rng, static_cast<test::PlanOrigin>(seed % test::kPlanOrigins));
        if (rng.below(3) == 0) test::mutate(plan, rng);
        std::vector<verify::JudgedProgram> programs;
        const plan::PlanVerdict verdict = verify::verify(plan, {}, programs);
        const std::string code = verdict.acceptable() ? "right" : verdict.violations.front().code;
        if (verdict.verdict == plan::PlanClass::StructureOnly || programs.empty()) return;
        INFO(io::msccl_xml_text(plan));
        INFO(code);
        oracle::PlanQuestion question;
        if (verdict.root) question.root = static_cast<std::int32_t>(verdict.root->value());
        bool naive_stuck = false, naive_wrong = false;
        const std::vector<oracle::PlanCall> modes = oracle::calls_of(plan, question).front();
        for (const oracle::PlanCall& call : modes) {
            if (!oracle::structure_faults(plan, call).empty()) return;
            const oracle::NaiveEnd end = oracle::run_by_turns(plan, call, {.capacity = 1000, .seed = seed});
            naive_stuck = naive_stuck || !end.stuck.empty();
            naive_wrong = naive_wrong || !end.wrong.empty();
        }
        const EngineEnd engines = engines_end(programs, seed, 0, code == "race");
        ++tally[code];
        if (code == "right") {
            CHECK_FALSE(naive_stuck);
            CHECK_FALSE(naive_wrong);
            CHECK_FALSE(engines.deadlock);
            CHECK(engines.compared > 0);
            CHECK(engines.wrong == 0);
            CHECK(engines_end(programs, seed, seed + 1, false).wrong == 0);
            CHECK(simulator_ends(plan, verdict.fifo->chunks));
            if (verdict.fifo->chunks > 1) CHECK_FALSE(simulator_ends(plan, verdict.fifo->chunks - 1));
        } else if (code == "deadlock") {
            CHECK(naive_stuck);
            CHECK(engines.deadlock);
            CHECK_FALSE(simulator_ends(plan, 1000));
        } else if (code == "value" && verdict.violation_count == 1) {
            CHECK(naive_wrong);
            CHECK(engines.wrong > 0);
        } else if (code == "race") {
            // Some order may show it, none need to.
            for (std::uint64_t order = 1; order <= 10; ++order) {
                if (engines_end(programs, seed, order, true).wrong == 0) continue;
                ++tally["race seen"];
                break;
            }
        }
    });
    if (count < 200) return;
    CHECK(tally["right"] > count / 4);
    CHECK(tally["deadlock"] > count / 100);
    CHECK(tally["value"] > count / 50);
    CHECK(tally["race seen"] > 0);
}

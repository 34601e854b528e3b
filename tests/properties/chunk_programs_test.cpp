// Chunk programs, from the file to data: random ones that are right, broken or senseless. What the tracer,
// the graph, the compiler, the verifier and two executions on data make of each must be one and the same
// thing (tests/support/trace_agreement.hpp says what that means).

#include "io/chunk_trace.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_traces.hpp"
#include "tests/support/trace_agreement.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace tutti;
using namespace tutti::test;

namespace {

void show_program(const lang::Trace& trace, std::uint64_t seed, const TraceOutcome& outcome) {
    const auto kind_of = [](const std::string& difference) {
        return difference.substr(0, difference.find(':'));
    };
    const lang::Trace small = shrunk(trace, [&](const lang::Trace& less) {
        return kind_of(outcome_of(less, seed, false).difference) == kind_of(outcome.difference);
    });
    FAIL_CHECK(outcome.difference << "\nfirst as a file of its own, then as it was drawn:\n"
                                  << io::chunk_trace_text(small) << '\n'
                                  << io::chunk_trace_text(trace));
}

}  // namespace

TEST_CASE("random programs mean the same to the tracer, the graph, the compiler, the verifier and on data") {
    std::map<std::string, std::uint64_t> tally;
    const std::uint64_t count = cases(600);
    for_seeds(count, [&](Rng& rng, std::uint64_t seed) {
        const auto origin = rng.below(10);
        const lang::Trace trace = random_trace(rng, origin < 6   ? TraceOrigin::Algorithm
                                                    : origin < 8 ? TraceOrigin::Broken
                                                                 : TraceOrigin::Senseless);
        const TraceOutcome outcome = outcome_of(trace, seed, seed % 16 == 0);
        if (!outcome.difference.empty()) show_program(trace, seed, outcome);
        ++tally[outcome.kind];
        if (outcome.fused) ++tally["fused"];
        if (outcome.kind == "valid" && trace.instances > 1) ++tally["of several instances"];
    });
    std::string text;
    for (const auto& [kind, times] : tally) text += "  " + kind + " " + std::to_string(times);
    MESSAGE("of " << count << " programs:" << text);
    if (count < 400) return;
    // Each kind is there often enough to mean something.
    CHECK(tally["valid"] > count / 3);
    CHECK(tally["refused"] > count / 20);
    CHECK(tally["wrong"] > count / 50);
    CHECK(tally["refused blocks"] > count / 200);
    CHECK(tally["fused"] > count / 10);
    CHECK(tally["of several instances"] > count / 20);
}

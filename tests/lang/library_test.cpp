// Every algorithm of the library, over a grid of ranks and parameters: the program does what its collective
// wants, and its plan is valid for every interleaving.

#include "lang/library.hpp"

#include "compile/trace_lowering.hpp"
#include "core/error.hpp"
#include "lang/contributions.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tutti;
using namespace tutti::lang;

namespace {

plan::PlanClass judged(const compile::TraceResult& result) {
    verify::PlanReading reading;
    reading.root = result.root;
    reading.condition = result.condition;
    reading.strict_dependencies = true;
    return verify::verify(result.plan, reading).verdict;
}

/// All parameters at their defaults, then each at its least and at a large value.
std::vector<AlgorithmRequest> variants(const Algorithm& algorithm, const AlgorithmRequest& request) {
    std::vector<AlgorithmRequest> all{request};
    for (const Parameter& parameter : algorithm.parameters) {
        for (const std::int64_t value : {parameter.least, std::min<std::int64_t>(parameter.most, 3)}) {
            all.push_back(request);
            all.back().parameters[std::string(parameter.name)] = value;
        }
    }
    return all;
}

}  // namespace

TEST_CASE("every algorithm of the library is right and becomes a valid plan") {
    std::set<std::string> served;
    for (const Algorithm& algorithm : algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 12U, 16U, 17U}) {
                for (const bool in_place : {true, false}) {
                    const AlgorithmRequest asked{
                        .kind = kind, .ranks = ranks, .in_place = in_place, .root = ranks / 2};
                    for (const AlgorithmRequest& request : variants(algorithm, asked)) {
                        if (!why_not(algorithm, request).empty()) continue;
                        CAPTURE(algorithm.name);
                        CAPTURE(name_of(kind));
                        CAPTURE(ranks);
                        CAPTURE(in_place);
                        const Trace trace = program_of(algorithm, request);
                        const Tracer tracer = traced(trace);
                        const auto wrong = tracer.first_wrong();
                        if (wrong) FAIL_CHECK(why_wrong(trace, *wrong).words);
                        // Where calls are not in place, the input is not changed.
                        for (const Verb& verb : trace.verbs) CHECK((in_place || verb.to.buffer != kInput));
                        CHECK(judged(compile::compile_trace(trace, {}, judged)) == plan::PlanClass::Valid);
                        served.insert(fmt::format("{} {}", algorithm.name, name_of(kind)));
                    }
                }
            }
        }
    }
    std::size_t kinds = 0;
    for (const Algorithm& algorithm : algorithms()) kinds += algorithm.kinds.size();
    CHECK(served.size() == kinds);
}

TEST_CASE("every algorithm of the library becomes a valid execution plan of MSCCL++") {
    for (const Algorithm& algorithm : algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 5U, 8U}) {
                for (const bool in_place : {true, false}) {
                    const AlgorithmRequest asked{
                        .kind = kind, .ranks = ranks, .in_place = in_place, .root = ranks / 2};
                    if (!why_not(algorithm, asked).empty()) continue;
                    const bool rooted = kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
                    if (rooted && in_place) continue;
                    CAPTURE(algorithm.name);
                    CAPTURE(name_of(kind));
                    CAPTURE(ranks);
                    CAPTURE(in_place);
                    Trace trace = program_of(algorithm, asked);
                    for (const std::uint32_t instances : {1U, 2U}) {
                        trace.instances = instances;
                        const auto channel =
                            instances == 1 ? plan::ChannelType::Memory : plan::ChannelType::Port;
                        plan::PlanVerdict verdict;
                        (void)compile::compile_trace_to_execution(
                            trace, {.channel = channel}, [&](const compile::TraceExecution& made) {
                                verify::PlanReading reading;
                                reading.condition = made.condition;
                                reading.target = plan::Target::Mscclpp;
                                verdict = verify::verify(made.plan, reading);
                                return verdict.verdict;
                            });
                        CHECK(verdict.verdict == plan::PlanClass::Valid);
                        for (const auto& warning : verdict.warnings) CHECK(warning.message == "");
                    }
                }
            }
        }
    }
}

TEST_CASE("what an algorithm cannot do is said") {
    const Algorithm& halving = algorithm_named("halving-doubling");
    CHECK(why_not(halving, {.kind = CollectiveKind::ReduceScatter, .ranks = 6}) ==
          "it is for powers of two, not for 6 ranks");
    CHECK(why_not(halving, {.kind = CollectiveKind::AllToAll, .ranks = 4}) ==
          "halving-doubling is for all_reduce, reduce_scatter");
    CHECK_THROWS_WITH_AS((void)program_of(halving, {.ranks = 4, .parameters = {{"chunk", 2}}}),
                         "it has no parameter 'chunk'; there are chunks", InputError);
    CHECK_THROWS_WITH_AS((void)program_of(halving, {.ranks = 4, .parameters = {{"chunks", 99}}}),
                         "parameter chunks: expected a number from 1 to 16, found 99", InputError);
    CHECK_THROWS_AS((void)algorithm_named("rings"), InputError);
    CHECK_THROWS_AS((void)program_of(halving, {.ranks = 1}), InputError);
}

TEST_CASE("every algorithm has a name of its own, a source and parameters in range") {
    std::set<std::string_view> names;
    for (const Algorithm& algorithm : algorithms()) {
        CHECK(names.insert(algorithm.name).second);
        CHECK_FALSE(algorithm.source.empty());
        CHECK_FALSE(algorithm.about.empty());
        for (const Parameter& parameter : algorithm.parameters) {
            CHECK(parameter.least <= parameter.normal);
            CHECK(parameter.normal <= parameter.most);
        }
    }
}

TEST_CASE("a stale reference is refused") {
    Trace header;
    header.shape = {.kind = CollectiveKind::AllReduce, .ranks = 2, .chunks = 1, .in_place = true};
    Program p(header);
    const Ref old = p.chunk(0, kInput, 0);
    (void)p.chunk(1, kInput, 0).copy(0);
    CHECK_THROWS_WITH_AS((void)old.copy(1),
                         "the reference to input[0] of rank 0 is stale: the place was written since",
                         InputError);
    CHECK_THROWS_AS((void)p.chunk(0, kInput, 1), InputError);
}

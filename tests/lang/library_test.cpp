// Every algorithm of the library, over a grid of ranks and parameters: the program does what its collective
// wants, and its plan is valid for every interleaving.

#include "lang/library.hpp"

#include "compile/trace_lowering.hpp"
#include "core/error.hpp"
#include "lang/contributions.hpp"
#include "source_dir.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <map>
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

/// All parameters at their defaults, then each at both ends (as far as it can go), and all of several
/// together at a small value, so that they meet each other.
std::vector<AlgorithmRequest> variants(const Algorithm& algorithm, const AlgorithmRequest& request) {
    std::vector<AlgorithmRequest> all{request};
    AlgorithmRequest together = request;
    for (const Parameter& parameter : algorithm.parameters) {
        const std::string name(parameter.name);
        const std::int64_t most = std::min<std::int64_t>(parameter.most, request.ranks);
        for (const std::int64_t value : {parameter.least, std::min<std::int64_t>(parameter.most, 2),
                                         std::min<std::int64_t>(most, 3), most}) {
            if (value < parameter.least || value == parameter.normal) continue;
            all.push_back(request);
            all.back().parameters[name] = value;
        }
        together.parameters[name] = std::clamp<std::int64_t>(2, parameter.least, parameter.most);
    }
    if (algorithm.parameters.size() > 1) all.push_back(std::move(together));
    std::ranges::sort(all, {}, &AlgorithmRequest::parameters);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    return all;
}

/// Whether the program does what its collective wants, and its plan is valid for every interleaving.
void check_right(const Trace& trace) {
    CAPTURE(trace.name);
    CAPTURE(name_of(trace.shape.kind));
    CAPTURE(trace.shape.ranks);
    CAPTURE(trace.shape.chunks);
    CAPTURE(trace.shape.in_place);
    CAPTURE(trace.instances);
    const auto wrong = traced(trace).first_wrong();
    if (wrong) FAIL_CHECK(why_wrong(trace, *wrong).words);
    // Where calls are not in place, the input is not changed.
    CHECK(std::ranges::none_of(
        trace.verbs, [&](const Verb& verb) { return !trace.shape.in_place && verb.to.buffer == kInput; }));
    CHECK(judged(compile::compile_trace(trace, {}, judged)) == plan::PlanClass::Valid);
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
                        // All values are for small programs; larger ones have few.
                        if (ranks > 9 && !request.parameters.empty() && !in_place) continue;
                        if (!why_not(algorithm, request).empty()) continue;
                        check_right(program_of(algorithm, request));
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

TEST_CASE("every algorithm of the library is right in several instances and under other protocols") {
    for (const Algorithm& algorithm : algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            const AlgorithmRequest request{.kind = kind, .ranks = 8, .root = 3};
            if (!why_not(algorithm, request).empty()) continue;
            Trace trace = program_of(algorithm, request);
            trace.instances = 2;
            for (const plan::Protocol protocol :
                 {plan::Protocol::Simple, plan::Protocol::LL, plan::Protocol::LL128}) {
                trace.protocol = protocol;
                check_right(trace);
            }
        }
    }
}

TEST_CASE("the algorithms of the library are right among many ranks") {
    for (const Algorithm& algorithm : algorithms()) {
        for (const std::uint32_t ranks : {32U, 64U}) {
            const AlgorithmRequest request{.kind = algorithm.kinds.front(), .ranks = ranks};
            if (ranks == 64 && (algorithm.name == "straggler" || algorithm.name == "one-step")) continue;
            if (why_not(algorithm, request).empty()) check_right(program_of(algorithm, request));
        }
    }
}

TEST_CASE("Swing on a torus has partners of one row or column, and so are right") {
    for (const auto& [width, height] : {std::pair(4, 4), std::pair(2, 8), std::pair(4, 2), std::pair(2, 2)}) {
        for (const std::int64_t latency : {0, 1}) {
            for (const std::int64_t ports : {1, 4, 6}) {
                const std::uint32_t ranks =
                    width == 4 && height == 2 ? 16 : static_cast<std::uint32_t>(width * height);
                const Trace trace = program_of(
                    algorithm_named("swing"),
                    {.ranks = ranks,
                     .parameters = {
                         {"width", width}, {"height", height}, {"latency", latency}, {"ports", ports}}});
                check_right(trace);
                const auto side = static_cast<std::uint32_t>(width);
                for (const Verb& verb : trace.verbs) {
                    const std::uint32_t a = verb.from.rank, b = verb.to.rank;
                    // At least two of three digits agree.
                    const auto area = side * static_cast<std::uint32_t>(height);
                    const int differ = (a % side != b % side) + (a % area / side != b % area / side) +
                                       (a / area != b / area);
                    CHECK(differ <= 1);
                }
            }
        }
    }
}

TEST_CASE("an all-reduce on a mesh talks to neighbours only, and takes as many rounds as its diameter") {
    for (const auto& sides : {std::array{4U, 2U, 1U}, {5U, 1U, 1U}, {3U, 4U, 2U}, {6U, 3U, 1U}}) {
        const auto [width, height, depth] = sides;
        const Trace trace = program_of(algorithm_named("mesh-all-reduce"),
                                       {.ranks = width * height * depth,
                                        .parameters = {{"width", width}, {"height", height}, {"chunks", 1}}});
        check_right(trace);
        // By place the messages that follow each other up to it.
        std::map<Slot, std::uint32_t> rounds;
        std::uint32_t most = 0;
        for (const Verb& verb : trace.verbs) {
            const std::uint32_t a = verb.from.rank, b = verb.to.rank, apart = std::max(a, b) - std::min(a, b);
            CHECK((apart == 0 || apart == 1 || apart == width || apart == width * height));
            if (apart == 1) CHECK(a / width == b / width);
            if (apart == width && height > 1) CHECK(a / (width * height) == b / (width * height));
            const std::uint32_t sent = rounds[verb.from] + (apart == 0 ? 0 : 1);
            std::uint32_t& there = rounds[verb.to];
            there = verb.kind == Verb::Kind::Reduce ? std::max(there, sent) : sent;
            most = std::max(most, there);
        }
        CHECK(most == width + height + depth - 3);
    }
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

TEST_CASE("algorithms that write plans themselves are valid, within the executor's limits") {
    for (const Algorithm& algorithm : plan_algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 3U, 8U, 9U, 10U, 16U, 17U}) {
                for (const bool in_place : {true, false}) {
                    const AlgorithmRequest asked{.kind = kind, .ranks = ranks, .in_place = in_place};
                    for (const AlgorithmRequest& request : variants(algorithm, asked)) {
                        CAPTURE(algorithm.name);
                        CAPTURE(name_of(kind));
                        CAPTURE(ranks);
                        CAPTURE(in_place);
                        REQUIRE(why_not(algorithm, request) == "");
                        const plan::ExecutionPlan made = plan_of(algorithm, request);
                        CHECK(made.in_place == in_place);
                        CHECK(made.collective == plan_name_of(kind));
                        CHECK(made.gpus.size() == ranks);
                        verify::PlanReading reading;
                        reading.target = plan::Target::Mscclpp;
                        const plan::PlanVerdict verdict = verify::verify(made, reading);
                        CHECK(verdict.verdict == plan::PlanClass::Valid);
                        CHECK(verdict.mode == (in_place ? "in-place" : "out-of-place"));
                        for (const auto& warning : verdict.warnings) CHECK(warning.message == "");
                    }
                }
            }
        }
    }
}

TEST_CASE("every share of a multimem plan goes through the switch once") {
    const plan::ExecutionPlan made =
        plan_of(algorithm_named("multimem"), {.ranks = 4, .parameters = {{"blocks", 2}}});
    std::set<std::int64_t> shares;
    plan::for_each_operation(made, [&](const plan::Operation& op) {
        if (op.type == plan::OperationType::GroupReduceStore)
            CHECK(shares.insert(op.src.front().index).second);
    });
    CHECK(shares.size() == 8);
    CHECK(why_not(algorithm_named("multimem"), {.ranks = 18}) ==
          "a thread block signals to 16 others at most");
}

TEST_CASE("between nodes all pairs send a rank's share once to each other node") {
    const Trace trace =
        program_of(algorithm_named("multi-node-all-pairs"), {.ranks = 12, .parameters = {{"gpus", 4}}});
    std::map<std::uint32_t, std::set<std::uint32_t>> peers;
    for (const Verb& verb : trace.verbs) {
        if (verb.from.rank / 4 == verb.to.rank / 4) continue;
        CHECK(verb.from.rank % 4 == verb.to.rank % 4);
        CHECK(verb.count == 1);
        CHECK(peers[verb.from.rank].insert(verb.to.rank).second);
    }
    CHECK(peers.size() == 12);
    for (const auto& [from, to] : peers) CHECK(to.size() == 2);
}

TEST_CASE("PAT sends as few messages as its aggregation allows") {
    // A message is one verb between ranks: log2 n for each rank where all may be aggregated, else n - 1.
    for (const auto& [aggregation, messages] :
         {std::pair(8, 4), std::pair(1, 15), std::pair(2, 1 + 7), std::pair(4, 2 + 3)}) {
        const Trace trace = program_of(
            algorithm_named("pat"),
            {.kind = CollectiveKind::AllGather, .ranks = 16, .parameters = {{"aggregation", aggregation}}});
        CHECK(std::ranges::count_if(trace.verbs, [](const Verb& verb) {
                  return verb.from.rank == 0 && verb.to.rank != 0;
              }) == messages);
    }
}

TEST_CASE("Bruck's algorithms have as many messages as digits of the distance") {
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::AllToAll}) {
        for (const auto& [radix, messages] : {std::pair(2, 4), std::pair(4, 6), std::pair(16, 15)}) {
            const Trace trace = program_of(algorithm_named("bruck"),
                                           {.kind = kind, .ranks = 16, .parameters = {{"radix", radix}}});
            CHECK(std::ranges::count_if(trace.verbs, [](const Verb& verb) {
                      return verb.from.rank == 5 && verb.to.rank != 5;
                  }) == messages);
        }
    }
}

TEST_CASE("Bine partners are nearer than binomial ones") {
    const auto distance = [](const Trace& trace) {
        std::uint64_t sum = 0;
        for (const Verb& verb : trace.verbs) {
            const std::uint32_t apart = (verb.from.rank + 32 - verb.to.rank) % 32;
            sum += std::uint64_t{std::min(apart, 32 - apart)} * verb.count;
        }
        return sum;
    };
    for (const CollectiveKind kind : {CollectiveKind::Broadcast, CollectiveKind::Reduce}) {
        CHECK(distance(program_of(algorithm_named("bine"), {.kind = kind, .ranks = 32})) <
              distance(program_of(algorithm_named("binomial-tree"), {.kind = kind, .ranks = 32})));
    }
    CHECK(distance(program_of(algorithm_named("bine"), {.ranks = 32})) <
          distance(program_of(algorithm_named("halving-doubling"), {.ranks = 32})));
}

TEST_CASE("nothing of the late rank is waited for before the others have summed up") {
    const Trace trace =
        program_of(algorithm_named("straggler"), {.ranks = 8, .in_place = true, .parameters = {{"late", 3}}});
    // Seven owners on a ring: 7 chunks, 6 sums each, none of which has to do with the late rank.
    for (std::size_t i = 0; i < 42; ++i) {
        CHECK(trace.verbs[i].from.rank != 3);
        CHECK(trace.verbs[i].to.rank != 3);
    }
    // It sends one chunk to each owner, and is sent one by each.
    for (std::uint32_t owner = 0; owner < 8; ++owner) {
        if (owner == 3) continue;
        CHECK(std::ranges::count_if(trace.verbs, [&](const Verb& verb) {
                  return verb.from.rank == 3 && verb.to.rank == owner && verb.to.buffer >= kFirstScratch;
              }) == 1);
    }
}

TEST_CASE("what an algorithm cannot do is said") {
    const Algorithm& halving = algorithm_named("halving-doubling");
    CHECK(why_not(halving, {.kind = CollectiveKind::ReduceScatter, .ranks = 6}) ==
          "it is for powers of two, not for 6 ranks");
    CHECK(why_not(halving, {.kind = CollectiveKind::AllToAll, .ranks = 4}) ==
          "halving-doubling is for all_reduce, all_gather, reduce_scatter");
    CHECK_THROWS_WITH_AS((void)program_of(halving, {.ranks = 4, .parameters = {{"chunk", 2}}}),
                         "it has no parameter 'chunk'; there are chunks", InputError);
    CHECK_THROWS_WITH_AS((void)program_of(halving, {.ranks = 4, .parameters = {{"chunks", 99}}}),
                         "parameter chunks: expected a number from 1 to 16, found 99", InputError);
    CHECK_THROWS_AS((void)algorithm_named("rings"), InputError);
    CHECK_THROWS_AS((void)program_of(halving, {.ranks = 1}), InputError);
}

TEST_CASE("every algorithm has a name of its own, a source and parameters in range") {
    std::set<std::string_view> names;
    for (const Algorithm* one : all_algorithms()) {
        const Algorithm& algorithm = *one;
        CHECK((algorithm.write == nullptr) == (algorithm.plan != nullptr));
        CHECK(names.insert(algorithm.name).second);
        CHECK_FALSE(algorithm.source.empty());
        CHECK_FALSE(algorithm.about.empty());
        for (const Parameter& parameter : algorithm.parameters) {
            CHECK(parameter.least <= parameter.normal);
            CHECK(parameter.normal <= parameter.most);
        }
    }
}

TEST_CASE("the table of docs/chunk-programs.md is that of the library") {
    std::ifstream file(std::string(TUTTI_SOURCE_DIR) + "/docs/chunk-programs.md");
    const std::string page(std::istreambuf_iterator<char>(file), {});
    for (const Algorithm* one : all_algorithms()) {
        const Algorithm& algorithm = *one;
        std::vector<std::string_view> kinds, parameters;
        for (const CollectiveKind kind : algorithm.kinds) kinds.push_back(name_of(kind));
        for (const Parameter& parameter : algorithm.parameters) parameters.push_back(parameter.name);
        const std::string row = fmt::format("| {} | {} | {} | {} |\n", algorithm.name, fmt::join(kinds, ", "),
                                            fmt::join(parameters, ", "), algorithm.source);
        CAPTURE(row);
        CHECK(page.find(row) != std::string::npos);
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

TEST_CASE("verbs have the line that the program has named, and so has what is refused") {
    Trace header;
    header.shape = {.kind = CollectiveKind::AllReduce, .ranks = 2, .chunks = 1, .in_place = true};
    Program p(header);
    p.at(p.tracer().place("prog.py", 7));
    const Ref old = p.chunk(0, kInput, 0);
    (void)p.chunk(1, kInput, 0).copy(0);
    CHECK(text_of(p.trace().place_of(p.trace().verbs.back())) == "prog.py:7");
    p.at(p.tracer().place("prog.py", 9));
    CHECK_THROWS_WITH_AS(
        (void)old.copy(1),
        "at prog.py:9: the reference to input[0] of rank 0 is stale: the place was written since",
        InputError);
}

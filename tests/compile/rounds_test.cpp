// Schedules and programs become rounds of messages that the verifier accepts, and that give the right numbers
// when an interpreter, which knows nothing of how they were made, runs them in a random order.

#include "compile/places.hpp"
#include "compile/round_lowering.hpp"
#include "core/error.hpp"
#include "heuristics/greedy.hpp"
#include "lang/library.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/plan/plan_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

namespace {

using namespace tutti;
using compile::lower_to_rounds;
using plan::RoundPlace;
using plan::RoundPlan;
using plan::RoundStep;

/// A plan for calls in place where that is valid; at least out of place it must be.
RoundPlan judged(const std::function<RoundPlan(bool in_place)>& make) {
    const RoundPlan in_place = make(true);
    CHECK(in_place.in_place);
    if (verify::verify(in_place).verdict == plan::PlanClass::Valid) return in_place;
    RoundPlan plan = make(false);
    const plan::PlanVerdict verdict = verify::verify(plan);
    const std::string why = verdict.violations.empty() ? "" : verdict.violations.front().message;
    CHECK_MESSAGE(verdict.verdict == plan::PlanClass::Valid, "the rounds are wrong: " << why);
    return plan;
}

std::uint64_t contribution(std::uint64_t rank, std::uint64_t element) {
    return (rank * 0x9E3779B97F4A7C15U) ^ ((element + 1) * 0xD1B54A32D192ED03U);
}

/// Runs a plan on numbers. Messages of a round are sent and stored, and ranks go on, in a random order.
class RoundMachine {
  public:
    RoundMachine(const RoundPlan& plan, std::uint64_t count, Rng& rng)
        : plan_(plan), count_(count), rng_(rng) {
        const std::uint64_t largest = (count + plan.block_chunks - 1) / plan.block_chunks;
        for (std::uint32_t r = 0; r < plan.ranks; ++r) {
            auto& in = buffers_.emplace_back();
            for (std::uint64_t e = 0; e < plan.inputs[r] / plan.block_chunks * count; ++e)
                in[0].push_back(contribution(r, e));
            in[1].resize(plan.outputs[r] / plan.block_chunks * count);
            in[2].resize(plan.scratch[r] * largest);
        }
        next_.resize(plan.ranks);
    }

    void run() {
        for (std::uint32_t round = 0; round < plan_.rounds; ++round) {
            std::vector<std::pair<std::uint32_t, std::size_t>> sends, receives;
            for (std::uint32_t r = 0; r < plan_.ranks; ++r) {
                const auto& steps = plan_.steps[r];
                for (; next_[r] < steps.size() && steps[next_[r]].round == round && steps[next_[r]].wave == 0;
                     ++next_[r])
                    (steps[next_[r]].kind == RoundStep::Kind::Send ? sends : receives)
                        .emplace_back(r, next_[r]);
            }
            // The k-th send of a pair meets the k-th receive.
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::size_t>> sent;
            for (const auto& [rank, step] : sends) sent[{rank, plan_.steps[rank][step].peer}].push_back(step);
            std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> taken;
            rng_.shuffle(receives);
            for (const auto& [rank, step] : receives) {
                const RoundStep& receive = plan_.steps[rank][step];
                const auto pair = std::pair(receive.peer, rank);
                const std::size_t k = position(receives, rank, step);
                REQUIRE(sent[pair].size() > k);
                ++taken[pair];
                const RoundStep& send = plan_.steps[receive.peer][sent[pair][k]];
                const std::uint64_t elements = plan::elements_of(send, plan_.block_chunks, count_);
                REQUIRE(elements == plan::elements_of(receive, plan_.block_chunks, count_));
                for (std::uint64_t e = 0; e < elements; ++e)
                    *at(rank, receive.to, e) = *at(receive.peer, send.from, e);
            }
            for (const auto& [pair, steps] : sent) REQUIRE(taken[pair] == steps.size());
            for (std::uint32_t r = 0; r < plan_.ranks; ++r) run_local(r, round);
        }
    }
    [[nodiscard]] std::uint64_t output(std::uint32_t rank, std::uint64_t element) const {
        return buffers_[rank][1].at(element);
    }

  private:
    using Step = std::pair<std::uint32_t, std::size_t>;
    /// Which receive from that peer in its round it is.
    [[nodiscard]] std::size_t position(const std::vector<Step>& receives, std::uint32_t rank,
                                       std::size_t step) const {
        std::size_t before = 0;
        for (const auto& [other, at] : receives) {
            before +=
                other == rank && at < step && plan_.steps[rank][at].peer == plan_.steps[rank][step].peer;
        }
        return before;
    }
    std::uint64_t* at(std::uint32_t rank, const RoundPlace& place, std::uint64_t element) {
        const std::uint64_t largest = (count_ + plan_.block_chunks - 1) / plan_.block_chunks;
        const std::uint64_t first = place.buffer == plan::Buffer::Scratch
                                        ? place.chunk * largest
                                        : plan::first_element(place.chunk, plan_.block_chunks, count_);
        return &buffers_[rank][static_cast<std::size_t>(place.buffer)].at(first + element);
    }
    void run_local(std::uint32_t rank, std::uint32_t round) {
        const auto& steps = plan_.steps[rank];
        for (; next_[rank] < steps.size() && steps[next_[rank]].round == round; ++next_[rank]) {
            const RoundStep& step = steps[next_[rank]];
            for (std::uint64_t e = 0; e < plan::elements_of(step, plan_.block_chunks, count_); ++e) {
                const std::uint64_t from = *at(rank, step.from, e);
                *at(rank, step.to, e) =
                    step.kind == RoundStep::Kind::Add ? from + *at(rank, step.with, e) : from;
            }
        }
    }

    const RoundPlan& plan_;
    std::uint64_t count_;
    Rng& rng_;
    std::vector<std::array<std::vector<std::uint64_t>, 3>> buffers_;
    std::vector<std::size_t> next_;
};

/// What every output of a schedule's plan must be, from the instance's demands.
void check_numbers(const Instance& instance, const RoundPlan& plan, CollectiveId collective,
                   std::uint64_t count, Rng& rng) {
    RoundMachine machine(plan, count, rng);
    machine.run();
    const compile::Places places(instance, collective, std::span(plan.npus).subspan(plan.members));
    const auto first = [&](std::int64_t chunk) {
        return plan::first_element(static_cast<std::uint64_t>(chunk), plan.block_chunks, count);
    };
    for (std::uint32_t c = 0; c < places.chunks(); ++c) {
        const Demand demand = places.demand(c);
        for (const NodeId receiver : demand.receivers) {
            const std::uint32_t rank = places.rank_of(receiver);
            const std::int64_t to = places.output(rank, c).value();
            for (std::uint64_t e = 0; e < first(to + 1) - first(to); ++e) {
                std::uint64_t sum = 0;
                bool copied = false;
                for (const NodeId holder : demand.holders) {
                    const std::uint32_t from = places.rank_of(holder);
                    const std::uint64_t value = contribution(from, first(places.input(from, c).value()) + e);
                    sum += value;
                    copied = copied || machine.output(rank, first(to) + e) == value;
                }
                if (demand.reduction ? machine.output(rank, first(to) + e) != sum : !copied) {
                    FAIL_CHECK("rank " << rank << " has a wrong element " << e << " of chunk " << c);
                    return;
                }
            }
        }
    }
}

Schedule greedy_schedule(const Instance& instance, std::uint64_t seed = 1) {
    auto schedule = heuristics::greedy(instance, {.seed = seed});
    REQUIRE(schedule);
    return std::move(*schedule);
}

RoundPlan of_library(std::string_view name, CollectiveKind kind, std::uint32_t ranks, bool in_place = true) {
    lang::AlgorithmRequest request;
    request.kind = kind;
    request.ranks = ranks;
    return lower_to_rounds(lang::program_of(lang::algorithm_named(name), request), in_place);
}

}  // namespace

TEST_CASE("every program of the library becomes rounds that are right in place and out of place") {
    std::size_t plans = 0;
    for (const lang::Algorithm& algorithm : lang::algorithms()) {
        for (const CollectiveKind kind : algorithm.kinds) {
            for (const std::uint32_t ranks : {2U, 3U, 4U, 5U, 8U, 12U}) {
                for (const bool in_place : {false, true}) {
                    lang::AlgorithmRequest request;
                    request.kind = kind;
                    request.ranks = ranks;
                    request.in_place = in_place;
                    if (has_root(kind)) request.root = ranks / 2;
                    if (!lang::why_not(algorithm, request).empty()) continue;
                    INFO(algorithm.name, " ", name_of(kind), " ", ranks, " ", in_place);
                    const RoundPlan plan = judged([&](bool both) {
                        return lower_to_rounds(lang::program_of(algorithm, request), both);
                    });
                    if (in_place) CHECK(plan.in_place);
                    ++plans;
                }
            }
        }
    }
    CHECK(plans > 150);
}

TEST_CASE("rounds are as few as the steps of textbook algorithms") {
    using enum CollectiveKind;
    CHECK(of_library("ring", AllReduce, 8).rounds == 14);
    CHECK(of_library("ring", AllGather, 8).rounds == 7);
    CHECK(of_library("all-pairs", AllReduce, 8).rounds == 2);
    CHECK(of_library("halving-doubling", AllReduce, 8).rounds == 6);
    CHECK(of_library("recursive-doubling", AllReduce, 8).rounds == 3);
    CHECK(of_library("direct-all-to-all", AllToAll, 8, false).rounds == 1);
    // A ring needs room for what arrives, and for nothing else.
    CHECK(of_library("ring", AllGather, 8).scratch == std::vector<std::uint32_t>(8, 0));
    CHECK(of_library("ring", AllReduce, 8).scratch == std::vector<std::uint32_t>(8, 1));
}

TEST_CASE("random instances become rounds that give the right numbers") {
    std::size_t plans = 0, relayed = 0;
    test::for_seeds(test::cases(120), [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(test::random_instance(rng));
        if (!test::is_feasible(instance)) return;
        INFO(test::json_of(instance));
        const Schedule schedule = greedy_schedule(instance, seed);
        for (std::size_t c = 0; c < instance.collectives().size(); ++c) {
            try {
                const RoundPlan plan = judged(
                    [&](bool both) { return lower_to_rounds(instance, schedule, CollectiveId(c), both); });
                for (const std::uint64_t count : {1U, 7U, 64U})
                    check_numbers(instance, plan, CollectiveId(c), count, rng);
                ++plans;
                relayed += plan.members < plan.ranks;
            } catch (const InputError& error) {
                // Switches that copy or add, chunks of several sizes.
                CHECK_FALSE(error.message().empty());
            }
        }
    });
    CHECK(plans > 20);
    CHECK(relayed > 0);
}

TEST_CASE("a pipeline stays one where latency is small, and is given up where it is not") {
    const auto rounds_of = [](std::int64_t alpha) {
        Collective broadcast = test::collective(CollectiveKind::Broadcast);
        broadcast.chunks = 16;
        broadcast.root = Rank(0);
        const Instance instance = test::on_all(test::line(4, alpha, 1), {broadcast});
        return lower_to_rounds(instance, greedy_schedule(instance), CollectiveId(0), true).rounds;
    };
    CHECK(rounds_of(0) == 18);
    CHECK(rounds_of(1000) == 3);
}

TEST_CASE("the verifier finds what is wrong with rounds") {
    const auto code = [](RoundPlan plan) -> std::string {
        const plan::PlanVerdict verdict = verify::verify(plan);
        return verdict.violations.empty() ? "" : verdict.violations.front().code;
    };
    const RoundPlan ring = of_library("ring", CollectiveKind::AllReduce, 4);
    REQUIRE(code(ring) == "");
    const auto step_of = [](RoundPlan& plan, RoundStep::Kind kind) -> RoundStep& {
        return *std::ranges::find(plan.steps[1], kind, &RoundStep::kind);
    };
    using Kind = RoundStep::Kind;
    RoundPlan wrong = ring;
    wrong.steps[1].erase(std::ranges::find(wrong.steps[1], Kind::Send, &RoundStep::kind));
    CHECK(code(wrong) == "match");
    wrong = ring;
    step_of(wrong, Kind::Send).peer = 1;
    CHECK(code(wrong) == "peer");
    wrong = ring;
    step_of(wrong, Kind::Add).with.chunk += 1;
    CHECK(code(wrong) == "size");
    wrong = ring;
    step_of(wrong, Kind::Add).to = {plan::Buffer::Input, step_of(wrong, Kind::Add).to.chunk};
    CHECK(code(wrong) == "written-input");
    wrong = ring;
    step_of(wrong, Kind::Receive).to.chunk = 7;
    CHECK(code(wrong) == "range");
    wrong = ring;
    std::swap(wrong.steps[1].front(), wrong.steps[1].back());
    CHECK(code(wrong) == "order");
    // All messages in one round: what a rank sends on is not there yet.
    wrong = ring;
    for (auto& steps : wrong.steps) {
        for (RoundStep& step : steps) step.round = 0;
        std::ranges::stable_sort(steps, {}, &RoundStep::wave);
    }
    CHECK_FALSE(code(wrong).empty());
    // Sums that one wave makes of one place.
    RoundPlan pairs = of_library("all-pairs", CollectiveKind::AllReduce, 4);
    for (RoundStep& step : pairs.steps[2]) {
        if (step.kind == Kind::Add) step.wave = 1;
    }
    CHECK(code(pairs) == "race");
}

TEST_CASE("in place a plan is only valid if it reads its input before it writes there") {
    // Ranks 0 and 1 swap, one after the other.
    RoundPlan plan;
    plan.kind = plan.goal = CollectiveKind::AllToAll;
    plan.ranks = plan.members = 2;
    plan.inputs = plan.outputs = {2, 2};
    plan.scratch = {0, 0};
    plan.rounds = 2;
    using Kind = RoundStep::Kind;
    const RoundPlace in0{plan::Buffer::Input, 0}, in1{plan::Buffer::Input, 1};
    const RoundPlace out0{plan::Buffer::Output, 0}, out1{plan::Buffer::Output, 1};
    plan.steps = {{{.kind = Kind::Send, .round = 0, .peer = 1, .from = in1},
                   {.kind = Kind::Copy, .round = 0, .wave = 1, .to = out0, .from = in0},
                   {.kind = Kind::Receive, .round = 1, .peer = 1, .to = out1}},
                  {{.kind = Kind::Receive, .round = 0, .peer = 0, .to = out0},
                   {.kind = Kind::Copy, .round = 0, .wave = 1, .to = out1, .from = in1},
                   {.kind = Kind::Send, .round = 1, .peer = 0, .from = in0}}};
    CHECK(verify::verify(plan).verdict == plan::PlanClass::Valid);
    plan.in_place = true;
    CHECK(verify::verify(plan).verdict == plan::PlanClass::Invalid);
}

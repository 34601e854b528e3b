// Bounds that count: how fast something can be in many places, how much a message can carry, and what all
// chunks spend together.

#include "bounds/bounds.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

Collective many(CollectiveKind kind, std::uint64_t chunks) {
    Collective result = collective(kind);
    result.chunks = chunks;
    return result;
}

Bound growth_of(const Instance& instance) { return bounds::Families(instance).growth({}).value(); }
Bound contributions_of(const Instance& instance) {
    return bounds::Families(instance).contributions({}).value();
}
Bound sum_of(const Instance& instance) { return bounds::Families(instance).sum({}).value(); }

void check_tight(const Instance& instance, const Bound& bound, std::int64_t value) {
    CHECK(bound.value.count() == value);
    CHECK_FALSE(verify::check_certificate(instance, bound));
    Bound more = bound;
    more.value += Ticks(1);
    CHECK(verify::check_certificate(instance, more));
}

bool proves(const Instance& instance, Certificate certificate, std::int64_t value) {
    return !verify::check_certificate(instance, Bound{"test", Ticks(value), std::move(certificate), 0});
}

const SwitchRule kCrossbar{.cut_through = true};

/// Nodes of two NPUs on a crossbar of beta 1 each, and all NPUs on a crossbar of beta 10.
Net nodes_on_a_crossbar(std::size_t count) {
    Net net(static_cast<std::uint32_t>(2 * count));
    std::vector<std::size_t> inside;
    for (std::size_t node = 0; node < count; ++node) inside.push_back(net.add_switch(kCrossbar));
    const std::size_t hub = net.add_switch(kCrossbar);
    for (std::size_t npu = 0; npu < 2 * count; ++npu) {
        net.both(npu, inside[npu / 2]);
        net.both(npu, hub, 0, 10);
    }
    return net;
}

/// Leaves of some NPUs each on one switch above them.
Net leaves(std::size_t count, std::size_t size, const SwitchRule& rule, std::int64_t alpha, std::int64_t beta,
           std::int64_t above) {
    Net net(static_cast<std::uint32_t>(count * size));
    const std::size_t top = net.add_switch(rule);
    for (std::size_t leaf = 0; leaf < count; ++leaf) {
        const std::size_t hub = net.add_switch(rule);
        for (std::size_t i = 0; i < size; ++i) net.both(leaf * size + i, hub, alpha, beta);
        net.both(hub, top, above, beta);
    }
    return net;
}

}  // namespace

TEST_CASE("on a crossbar a broadcast of c chunks takes c - 1 + ceil(log2 n) rounds") {
    for (const auto& [npus, chunks, rounds] :
         {std::tuple{2U, 1U, 1}, {8U, 1U, 3}, {9U, 1U, 4}, {8U, 5U, 7}}) {
        const Instance instance =
            on_all(star(npus, kCrossbar, 0, 3), {many(CollectiveKind::Broadcast, chunks)});
        const Bound bound = growth_of(instance);
        check_tight(instance, bound, 3 * rounds);
        CHECK_FALSE(std::get<GrowthCertificate>(bound.certificate).backwards);
    }
}

TEST_CASE("a reduction to one NPU is a broadcast read backwards") {
    const Instance instance = on_all(star(8, kCrossbar, 0, 3), {many(CollectiveKind::Reduce, 5)});
    const Bound bound = growth_of(instance);
    check_tight(instance, bound, 3 * 7);
    CHECK(std::get<GrowthCertificate>(bound.certificate).backwards);
}

TEST_CASE("a chunk that enters a node must still be passed on inside it") {
    // To four other nodes over ports of 10. At 1 both NPUs of the root's node have it; nodes are entered at
    // 10, 11 and, twice, at 20. The NPUs that have it by 20 are those four and the second ones of two nodes:
    // two of eight are left.
    const Instance instance = on_all(nodes_on_a_crossbar(5), {collective(CollectiveKind::Broadcast)});
    const Bound bound = growth_of(instance);
    check_tight(instance, bound, 21);
    CHECK(std::get<GrowthCertificate>(bound.certificate).nested);
}

TEST_CASE("a port that sends inside its part does not send to another one at that moment") {
    // Messages take 4 inside a leaf and 8 to another. If ports did both at once, all might have it at 13:
    // three leaves are entered at 8, 9, 10, …, and the root's three neighbours, who have it at 4, 5, 6, enter
    // more.
    const Instance one = on_all(leaves(4, 4, {}, 1, 1, 1), {collective(CollectiveKind::Broadcast)});
    const Bound bound = growth_of(one);
    check_tight(one, bound, 14);
    const auto& good = std::get<GrowthCertificate>(bound.certificate);
    CHECK(good.prices.size() == 14);
    const Instance two = on_all(leaves(4, 4, {}, 1, 1, 1), {many(CollectiveKind::Reduce, 2)});
    check_tight(two, growth_of(two), 17);

    GrowthCertificate bad = good;
    bad.nested = false;
    CHECK_FALSE(proves(one, bad, 14));
    bad = good;
    bad.unit = Ticks(0);
    CHECK_FALSE(proves(one, bad, 14));
    bad.unit = Ticks(2);
    CHECK_FALSE(proves(one, bad, 14));
    bad = good;
    bad.prices.pop_back();
    CHECK_FALSE(proves(one, bad, 14));
    bad = good;
    bad.prices.front()[0] = -1;
    CHECK_FALSE(proves(one, bad, 14));
    bad = good;
    for (auto& prices : bad.prices) prices = {};
    CHECK_FALSE(proves(one, bad, 14));
}

TEST_CASE("growth on random leaves is never above a schedule") {
    std::uint64_t priced = 0;
    for_seeds(cases(300), [&](Rng& rng, std::uint64_t) {
        const auto some = [&](std::uint64_t least, std::uint64_t most) {
            return static_cast<std::int64_t>(least + rng.below(most - least + 1));
        };
        const Net net = leaves(2 + rng.below(3), 1 + rng.below(4), {.cut_through = rng.below(2) == 0},
                               some(0, 2), some(1, 3), some(0, 5));
        const auto kind = rng.below(2) == 0 ? CollectiveKind::Broadcast : CollectiveKind::Reduce;
        const Instance instance = on_all(net, {many(kind, 1 + rng.below(5))});
        const Bound bound = growth_of(instance);
        if (bound.value > Ticks(0)) CHECK_FALSE(verify::check_certificate(instance, bound));
        if (const auto* growth = std::get_if<GrowthCertificate>(&bound.certificate))
            priced += growth->prices.empty() ? 0U : 1U;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        INFO(json_of(instance));
        CHECK(bound.value <= schedule->makespan);
    });
    CHECK(priced > cases(300) / 20);
}

TEST_CASE("growth begins at the release, and copying switches end it") {
    Collective late = many(CollectiveKind::Broadcast, 1);
    late.release = Ticks(5);
    const Instance instance = on_all(star(8, kCrossbar, 0, 3), {late});
    check_tight(instance, growth_of(instance), 5 + 9);
    CHECK(growth_of(on_all(star(8, {.copy = true, .cut_through = true}), {late})).value == Ticks(0));
    CHECK(growth_of(on_all(star(8, {.reduce = true}), {collective(CollectiveKind::Reduce)})).value ==
          Ticks(0));
}

TEST_CASE("a certificate of growth names a root, a part for every NPU, and no more than follows") {
    const Instance instance = on_all(star(4, kCrossbar, 0, 3), {many(CollectiveKind::Broadcast, 2)});
    GrowthCertificate good{NodeId(0), {0, 1, 2, 3}, false, false, true, {}};
    CHECK(proves(instance, good, 9));
    CHECK_FALSE(proves(instance, good, 10));
    GrowthCertificate other = good;
    other.root = NodeId(1);  // who holds nothing
    CHECK_FALSE(proves(instance, other, 1));
    other.root = NodeId(4);  // a switch
    CHECK_FALSE(proves(instance, other, 1));
    other = good;
    other.part.pop_back();
    CHECK_FALSE(proves(instance, other, 1));
    other.part = {0, 0, 0, 0};  // nothing leaves the only part
    CHECK_FALSE(proves(instance, other, 1));
    other = good;
    other.backwards = true;
    CHECK_FALSE(proves(instance, other, 1));
}

TEST_CASE("a message carries no more than its sender has got") {
    // Eight NPUs on a crossbar, one chunk for all: after one round everybody may have two contributions, then
    // four, then eight.
    const Instance instance =
        on_all(star(8, kCrossbar, 0, 3), {custom({0, 1, 2, 3, 4, 5, 6, 7}, {0, 1}, true)});
    const Bound bound = contributions_of(instance);
    check_tight(instance, bound, 9);
    // Where the switch adds, everything may come at once.
    const Instance adding = on_all(star(8, {.reduce = true, .cut_through = true}, 0, 3),
                                   {custom({0, 1, 2, 3, 4, 5, 6, 7}, {0}, true)});
    CHECK(contributions_of(adding).value == Ticks(0));
    CHECK_FALSE(proves(adding, bound.certificate, 1));
}

TEST_CASE("contributions are those of others, to all chunks that the receiver wants") {
    // Three chunks: NPU 0 needs one contribution to each, over one port, the first after 1 + 2.
    const Instance instance = on_all(line(2, 1, 2), {many(CollectiveKind::Reduce, 3)});
    check_tight(instance, contributions_of(instance), 1 + 3 * 2);
    CHECK_FALSE(proves(instance, ContributionsCertificate{NodeId(1), {}}, 1));
    CHECK_FALSE(proves(instance, ContributionsCertificate{NodeId(2), {}}, 1));
}

TEST_CASE("the average chunk waits, travels and leaves time for others") {
    // All-to-all of three on a crossbar: every NPU starts at 0 and 2, all ways take 1 + 1 + 2, and arrivals
    // leave 0 and 2: (2 + 2 * 4 + 2) * 3 / 6.
    const Instance instance = on_all(star(3, kCrossbar, 1, 2), {collective(CollectiveKind::AllToAll)});
    check_tight(instance, sum_of(instance), 6);
    Collective late = collective(CollectiveKind::AllToAll);
    late.release = Ticks(3);
    const Instance later = on_all(star(3, kCrossbar, 1, 2), {late});
    check_tight(later, sum_of(later), 9);
    // A broadcast has no chunk for one receiver only.
    const Instance none = on_all(star(3, kCrossbar), {collective(CollectiveKind::Broadcast)});
    CHECK(sum_of(none).value == Ticks(0));
    CHECK_FALSE(proves(none, SumCertificate{}, 1));
}

TEST_CASE("ways of different lengths share the time: no NPU alone shows it") {
    // A chain of two crossbars: each NPU sends one chunk near and two far. Ports say 3 rounds and the near
    // way, the average says more.
    Net net(4);
    const std::size_t left = net.add_switch(kCrossbar), right = net.add_switch(kCrossbar);
    for (std::size_t npu = 0; npu < 2; ++npu) net.both(npu, left, 5, 2);
    for (std::size_t npu = 2; npu < 4; ++npu) net.both(npu, right, 5, 2);
    for (int i = 0; i < 2; ++i) net.both(left, right, 6, 2);
    const Instance instance = on_all(net, {collective(CollectiveKind::AllToAll)});
    // Near 12, far 18; starts 0, 2, 4 and the same left: (12 + 2 * 18 + 6 + 6) / 3.
    check_tight(instance, sum_of(instance), 20);
}

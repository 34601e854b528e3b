// Sends into a set carry only what has been collected before, and reach only who can still be told.

#include "bounds/bounds.hpp"
#include "bounds/families.hpp"
#include "core/rng.hpp"
#include "tests/support/builders.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

Bound pairs_of(const Instance& instance) { return bounds::Families(instance).pairs({}).value(); }

bool proves(const Instance& instance, const Certificate& certificate, std::int64_t value) {
    return !verify::check_certificate(instance, Bound{"pairs", Ticks(value), certificate, 0});
}

/// Exactly that, by the synthesizer and by the check.
void check_tight(const Instance& instance, std::int64_t value) {
    const Bound bound = pairs_of(instance);
    CHECK(bound.value == Ticks(value));
    CHECK(proves(instance, bound.certificate, value));
    CHECK_FALSE(proves(instance, bound.certificate, value + 1));
}

/// NPUs 0 to 2 on one switch and 3 to 5 on another, a tick for each link; four ticks from 0 to 3 and back.
Net two_nodes(SwitchRule rule = {}) {
    Net net(6);
    for (std::size_t node = 0; node < 2; ++node) {
        const std::size_t hub = net.add_switch(rule);
        for (std::size_t npu = 0; npu < 3; ++npu) net.both(3 * node + npu, hub);
    }
    net.both(0, 3, 0, 4);
    return net;
}

}  // namespace

TEST_CASE("a sum is collected before it crosses, and passed on after that") {
    // Six chunks take 24 ticks over the one link. Before the first, two messages of two ticks end at NPU 0,
    // one tick apart; after the last, two begin at NPU 3. A chunk that crossed in parts would cross twice.
    check_tight(on_all(two_nodes(), {collective(CollectiveKind::AllReduce)}), 3 + 24 + 3);
}

TEST_CASE("a plain chunk is passed on to all receivers after it has crossed") {
    // Three chunks each way. The last is at 12 in NPU 3, with the others at 14 and 15. The first crosses at
    // once: NPU 0 has one of its own.
    check_tight(on_all(two_nodes(), {collective(CollectiveKind::AllGather)}), 3 * 4 + 3);
}

TEST_CASE("a release delays what is joined") {
    Collective late = collective(CollectiveKind::AllReduce);
    late.release = Ticks(7);
    check_tight(on_all(two_nodes(), {late}), 7 + 30);
}

TEST_CASE("switches that add or copy collect or tell everybody at once") {
    const auto value = [](SwitchRule rule) {
        return pairs_of(on_all(two_nodes(rule), {collective(CollectiveKind::AllReduce)})).value;
    };
    CHECK(value({.reduce = true}) == Ticks(2 + 24 + 3));
    CHECK(value({.copy = true}) == Ticks(3 + 24 + 2));
    CHECK(value({.copy = true, .reduce = true}) == Ticks(2 + 24 + 2));
}

TEST_CASE("relays have nothing of their own, and need not be told") {
    // Members 0, 1 and 2, 3 on two hubs, and as many relays on each, which lie nearer to the bridge. Four
    // chunks cross it, each as a sum of two that took a message of four ticks, and is told to another after
    // it.
    const auto on_hubs = [](std::vector<std::size_t> members) {
        Net net(8);
        for (std::size_t node = 0; node < 2; ++node) {
            const std::size_t hub = net.add_switch();
            for (const std::size_t npu : {2 * node, 2 * node + 1}) net.both(npu, hub, 1, 1);
            for (const std::size_t npu : {4 + 2 * node, 5 + 2 * node}) net.both(npu, hub, 0, 1);
        }
        net.both(0, 2, 0, 9);
        return on_group(net, std::move(members), {collective(CollectiveKind::AllReduce)});
    };
    check_tight(on_hubs({0, 1, 2, 3}), 4 + 4 * 9 + 4);
}

TEST_CASE("holders that nothing can come to still have what is theirs") {
    Net net(3);
    net.link(0, 2, 0, 3).link(1, 2, 0, 3);
    Collective sum = collective(CollectiveKind::Reduce);
    sum.root = Rank(2);
    const Bound bound = pairs_of(on_all(net, {sum}));
    CHECK(bound.value <= Ticks(3));
}

TEST_CASE("a certificate of pairs proves nothing about other chunks or sets") {
    const Instance instance = on_all(two_nodes(), {collective(CollectiveKind::AllReduce)});
    const PairsCertificate good{nodes({3, 4, 5, 7}), true, {}};
    CHECK(proves(instance, good, 30));
    CHECK_FALSE(proves(instance, PairsCertificate{good.inside, false, {}}, 1));
    CHECK_FALSE(proves(instance, PairsCertificate{nodes({0, 1, 2, 3, 4, 5}), true, {}}, 1));
    CHECK_FALSE(proves(instance, PairsCertificate{nodes({0, 99}), true, {}}, 1));
    // With NPU 3 alone nobody needs to be told after it.
    CHECK_FALSE(proves(instance, PairsCertificate{nodes({3}), true, {}}, 30));
}

TEST_CASE("synthesizer and check agree on the pairs of random sets") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const auto npus = static_cast<std::uint32_t>(4 + rng.below(4));
        Net net(npus);
        const bool through = rng.below(2) == 0;
        const std::size_t hub = net.add_switch({.cut_through = through});
        for (std::size_t npu = 0; npu < npus; ++npu) {
            net.both(npu, hub, static_cast<std::int64_t>(rng.below(3)),
                     1 + static_cast<std::int64_t>(rng.below(3)));
            net.both(npu, (npu + 1) % npus, 1, 2 + static_cast<std::int64_t>(rng.below(6)));
        }
        const auto kind = rng.below(2) == 0 ? CollectiveKind::AllReduce : CollectiveKind::AllGather;
        const Instance instance = on_all(net, {collective(kind)});
        std::vector<bool> inside(instance.topology().nodes());
        for (std::size_t n = 0; n < inside.size(); ++n) inside[n] = rng.below(2) == 0;
        bounds::Traffic traffic(instance);
        const Bound bound = bounds::pairs(traffic, {inside}, {}).value();
        if (bound.value == Ticks(0)) continue;
        CHECK(proves(instance, bound.certificate, bound.value.count()));
        CHECK_FALSE(proves(instance, bound.certificate, bound.value.count() + 1));
    }
}

// What all NPUs together can pass on of what they have received.

#include "bounds/bounds.hpp"
#include "core/rng.hpp"
#include "synth/synthesize.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

Bound contributions_of(const Instance& instance) {
    return bounds::Families(instance).contributions({}).value();
}

bool proves(const Instance& instance, const Certificate& certificate, std::int64_t value) {
    return !verify::check_certificate(instance, Bound{"contributions", Ticks(value), certificate, 0});
}

/// All NPUs on all switches.
Net switched(std::uint32_t npus, std::size_t switches, const SwitchRule& rule, std::int64_t alpha,
             std::int64_t beta) {
    Net net(npus);
    for (std::size_t s = 0; s < switches; ++s) {
        const std::size_t hub = net.add_switch(rule);
        for (std::size_t npu = 0; npu < npus; ++npu) net.both(npu, hub, alpha, beta);
    }
    return net;
}

}  // namespace

TEST_CASE("who passes on a sum has received it, and nothing else in its place") {
    // An A100: eight NPUs on six switches that store, messages of 2 + 2 * 20, one each 20 ticks. Before 104
    // a port ends four messages, and only the last of them starts at 42 or later. By then six messages of
    // one contribution have come to its sender. As one sum of seven they gain one receiver seven and five
    // others six: 18 + 37, where everybody needs 56.
    const Instance instance = on_all(switched(8, 6, {}, 1, 20), {collective(CollectiveKind::AllReduce)});
    const Bound bound = contributions_of(instance);
    CHECK(bound.value == Ticks(5 * 20 + 4));
    const auto* const shared = std::get_if<SharedContributionsCertificate>(&bound.certificate);
    REQUIRE(shared);
    CHECK(shared->split == Ticks(42));
    CHECK(proves(instance, bound.certificate, 104));
    CHECK_FALSE(proves(instance, bound.certificate, 105));
    // What is early carries less, or what is late more.
    CHECK_FALSE(proves(instance, SharedContributionsCertificate{Ticks(0), shared->bytes}, 1));
    CHECK_FALSE(proves(instance, SharedContributionsCertificate{Ticks(1), shared->bytes}, 104));
    CHECK_FALSE(proves(instance, SharedContributionsCertificate{Ticks(99), shared->bytes}, 104));
}

TEST_CASE("a release delays what is shared") {
    Collective late = collective(CollectiveKind::AllReduce);
    late.release = Ticks(7);
    const Instance instance = on_all(switched(8, 6, {}, 1, 20), {late});
    const Bound bound = contributions_of(instance);
    CHECK(bound.value == Ticks(7 + 104));
    CHECK(proves(instance, bound.certificate, 111));
    CHECK_FALSE(proves(instance, bound.certificate, 112));
}

TEST_CASE("nothing is shared where switches add or copy, or where there is nothing to add") {
    const SharedContributionsCertificate claim{Ticks(42), {}};
    for (const SwitchRule& rule : {SwitchRule{.copy = true}, SwitchRule{.reduce = true}}) {
        const Instance instance =
            on_all(switched(8, 6, rule, 1, 20), {collective(CollectiveKind::AllReduce)});
        CHECK_FALSE(proves(instance, claim, 1));
    }
    const Instance plain = on_all(switched(8, 6, {}, 1, 20), {collective(CollectiveKind::AllGather)});
    CHECK_FALSE(proves(plain, claim, 1));
}

TEST_CASE("what is shared is never more than a schedule shows, and is what the check finds") {
    std::uint64_t shared = 0;
    for_seeds(cases(400), [&](Rng& rng, std::uint64_t seed) {
        const auto npus = static_cast<std::uint32_t>(3 + rng.below(5));
        const SwitchRule rule{.cut_through = rng.below(3) == 0};
        const auto alpha = static_cast<std::int64_t>(rng.below(3));
        Net net = switched(npus, 1 + rng.below(6), rule, alpha, 1 + static_cast<std::int64_t>(rng.below(8)));
        if (rng.below(3) == 0) net.both(0, 1, alpha, 1 + static_cast<std::int64_t>(rng.below(8)));
        if (rng.below(4) == 0) net.one_in_flight();
        std::vector<std::size_t> members;
        for (std::size_t npu = 0; npu < npus; ++npu) {
            if (npu < 2 || rng.below(4) > 0) members.push_back(npu);
        }
        Collective sum = collective(CollectiveKind::AllReduce);
        sum.chunks = 1 + rng.below(2);
        const Instance instance = on_group(net, members, {sum});
        synth::Request request;
        request.method = "greedy";
        request.seed = seed;
        const Ticks makespan = synth::synthesize(instance, request).schedule.makespan;
        const Bound bound = contributions_of(instance);
        INFO(json_of(instance));
        CHECK(bound.value <= makespan);
        CHECK(proves(instance, bound.certificate, bound.value.count()));
        if (std::holds_alternative<SharedContributionsCertificate>(bound.certificate)) {
            ++shared;
            CHECK_FALSE(proves(instance, bound.certificate, bound.value.count() + 1));
        }
        for (std::int64_t split = 1; split < makespan.count(); split += 1 + makespan.count() / 9) {
            CHECK_FALSE(
                proves(instance, SharedContributionsCertificate{Ticks(split), {}}, makespan.count() + 1));
        }
    });
    CHECK(shared > 0);
}

// Certificates of lower bounds: each kind by hand, then whatever the checker accepts on random instances
// against schedules that exist.

#include "verify/certificate.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/schedule_verifier.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::test;

namespace {

bool proves(const Instance& instance, Certificate certificate, std::int64_t value) {
    return !verify::check_certificate(instance, Bound{"test", Ticks(value), std::move(certificate), 0});
}

/// The largest bound that the certificate proves, at most `limit`.
std::int64_t best_of(const Instance& instance, const Certificate& certificate, std::int64_t limit) {
    std::int64_t best = 0;
    for (std::int64_t step = limit + 1; step > 0; step /= 2) {
        while (best + step <= limit && proves(instance, certificate, best + step)) best += step;
    }
    return best;
}

std::vector<Ticks> ticks(const std::vector<std::int64_t>& counts) {
    std::vector<Ticks> times;
    for (const std::int64_t count : counts) times.emplace_back(count);
    return times;
}

PathCertificate path(std::size_t holder, std::size_t receiver, const std::vector<std::int64_t>& potential,
                     std::int64_t release = 0) {
    return {ChunkId(0), NodeId(holder), NodeId(receiver), {}, ticks(potential), Ticks(release)};
}

CutCertificate cut(const std::vector<std::size_t>& inside, std::uint64_t transfers, std::int64_t earliest) {
    CutCertificate certificate;
    certificate.inside = nodes(inside);
    certificate.transfers = transfers;
    certificate.earliest = Ticks(earliest);
    return certificate;
}

CutCertificate backwards(const std::vector<std::size_t>& outside, std::uint64_t transfers,
                         std::int64_t earliest) {
    CutCertificate certificate = cut(outside, transfers, earliest);
    certificate.complement = true;
    certificate.backwards = true;
    return certificate;
}

LengthsCertificate lengths(std::vector<std::int64_t> length) { return {std::move(length)}; }

Collective many(CollectiveKind kind, std::uint64_t chunks) {
    Collective result = collective(kind);
    result.chunks = chunks;
    return result;
}

}  // namespace

TEST_CASE("a bound of 0 needs no certificate, and any other does") {
    const Instance instance = on_all(line(2), {collective(CollectiveKind::AllGather)});
    CHECK(proves(instance, std::monostate{}, 0));
    CHECK_FALSE(proves(instance, std::monostate{}, 1));
}

TEST_CASE("a path's potentials prove the receiver's") {
    // 0 -> 1 -> 2, each link 3 ticks.
    const Instance instance = on_all(line(3, 1, 2), {custom({0}, {2})});
    CHECK(proves(instance, path(0, 2, {0, 3, 6}), 6));
    CHECK_FALSE(proves(instance, path(0, 2, {0, 3, 6}), 7));
    CHECK_FALSE(proves(instance, path(0, 2, {0, 3, 7}), 7));
    CHECK_FALSE(proves(instance, path(0, 2, {1, 4, 7}), 7));
    CHECK_FALSE(proves(instance, path(0, 1, {0, 3, 6}), 3));  // 1 need not receive it
    CHECK_FALSE(proves(instance, path(1, 2, {0, 0, 3}), 3));  // 1 does not hold it
    CHECK_FALSE(proves(instance, path(0, 2, {0, 3}), 3));
    CHECK_FALSE(proves(instance, path(0, 2, {0, 3, std::numeric_limits<std::int64_t>::max()}), 1000));
}

TEST_CASE("a path starts at the release, and a receiver that holds the chunk needs no path") {
    Collective late = custom({0}, {1});
    late.release = Ticks(10);
    const Instance instance = on_all(line(2, 1, 2), {late});
    CHECK(proves(instance, path(0, 1, {10, 13}, 10), 13));
    CHECK_FALSE(proves(instance, path(0, 1, {11, 14}, 11), 14));
    Collective idle = custom({0}, {0});
    idle.release = Ticks(10);
    CHECK_FALSE(proves(on_all(line(2), {idle}), path(0, 0, {10, 11}, 10), 10));
}

TEST_CASE("a plain chunk may come from any holder, a contribution only from its own") {
    CHECK_FALSE(proves(on_all(line(3), {custom({0, 1}, {2})}), path(0, 2, {0, 1, 2}), 2));
    CHECK(proves(on_all(line(3), {custom({0, 1}, {2})}), path(0, 2, {0, 0, 1}), 1));
    CHECK(proves(on_all(line(3), {custom({0, 1}, {2}, true)}), path(0, 2, {0, 1, 2}), 2));
}

TEST_CASE("a path through a cut-through switch pays beta once") {
    const Instance stored = on_all(star(2, {}, 1, 5), {custom({0}, {1})});
    const Instance through = on_all(star(2, {.cut_through = true}, 1, 5), {custom({0}, {1})});
    CHECK(proves(stored, path(0, 1, {0, 12, 6}), 12));
    CHECK_FALSE(proves(through, path(0, 1, {0, 12, 6}), 12));
    CHECK(proves(through, path(0, 1, {0, 7, 1}), 7));
}

TEST_CASE("a path keeps to the group where only the group may forward") {
    Net net(3);
    net.link(0, 1).link(1, 2).link(0, 2, 8, 1);
    Collective grouped = custom({0}, {2});
    const Instance open = on_group(net, {0, 2}, {grouped});
    grouped.forwarding = Forwarding::Group;
    const Instance closed = on_group(net, {0, 2}, {grouped});
    const PathCertificate direct = path(0, 2, {0, std::numeric_limits<std::int64_t>::max(), 9});
    CHECK(proves(closed, direct, 9));
    CHECK_FALSE(proves(open, direct, 9));
}

TEST_CASE("a cut counts the chunks that must enter a set over its links, from their earliest tick on") {
    // 4 chunks into NPU 2 over one link of alpha 3, beta 2: the first arrives at 5 (from 1), the others every
    // 2 ticks.
    const Instance instance = on_all(line(3, 3, 2), {many(CollectiveKind::Gather, 2)});
    const Instance to_end = on_all(line(3, 3, 2), {[] {
                                       Collective gather = many(CollectiveKind::Gather, 2);
                                       gather.root = Rank(2);
                                       return gather;
                                   }()});
    CHECK(proves(to_end, cut({2}, 4, 5), 11));
    CHECK_FALSE(proves(to_end, cut({2}, 4, 5), 12));
    CHECK_FALSE(proves(to_end, cut({2}, 5, 5), 11));  // there are but 4
    CHECK_FALSE(proves(to_end, cut({2}, 4, 6), 11));  // two of them come from 1
    CHECK(proves(to_end, cut({2}, 2, 10), 12));       // and two from 0, not before 10
    CHECK_FALSE(proves(to_end, cut({2}, 2, 10), 13));
    CHECK_FALSE(proves(instance, cut({2}, 4, 5), 11));
    CHECK_FALSE(proves(to_end, cut({7}, 4, 5), 11));
}

TEST_CASE("a cut's links are busy for alpha too where the topology says so") {
    const Instance instance = on_all(line(2, 3, 2).one_in_flight(), {many(CollectiveKind::Broadcast, 3)});
    CHECK(proves(instance, cut({1}, 3, 5), 15));
    CHECK_FALSE(proves(instance, cut({1}, 3, 5), 16));
}

TEST_CASE("a cut read backwards adds the time from the set to the farthest receiver") {
    // NPU 0 has 3 chunks for all; each leaves over one link and needs 3 + 3 to NPU 2.
    const Instance instance = on_all(line(3, 1, 2), {many(CollectiveKind::Broadcast, 3)});
    CHECK(proves(instance, backwards({0}, 3, 6), 10));
    CHECK_FALSE(proves(instance, backwards({0}, 3, 6), 11));
    CHECK_FALSE(proves(instance, backwards({0}, 3, 7), 11));
    CHECK_FALSE(proves(instance, backwards({0}, 4, 6), 12));
}

TEST_CASE("contributions that merge enter a set together") {
    // 0 - 1 - 2: the contributions of 0 and 1 can reach 2 as one.
    const Instance instance = on_all(line(3), {custom({0, 1, 2}, {2}, true)});
    CHECK(proves(instance, cut({2}, 1, 2), 2));
    CHECK_FALSE(proves(instance, cut({2}, 2, 1), 2));
}

TEST_CASE("volume: all transfers, against all links") {
    // Ring of links 0 -> 1 -> 2 -> 0; each of 3 chunks must come to two others.
    Net ring(3);
    ring.link(0, 1).link(1, 2).link(2, 0);
    const Instance instance = on_all(ring, {many(CollectiveKind::AllGather, 4)});
    CHECK(proves(instance, VolumeCertificate{24, {}}, 8));
    CHECK_FALSE(proves(instance, VolumeCertificate{24, {}}, 9));
    CHECK_FALSE(proves(instance, VolumeCertificate{25, {}}, 9));
}

TEST_CASE("volume: a switch that does not copy must get a copy for each receiver") {
    const Instance plain = on_all(star(4, {}), {collective(CollectiveKind::Broadcast)});
    const Instance copying = on_all(star(4, {.copy = true}), {collective(CollectiveKind::Broadcast)});
    CHECK(proves(plain, VolumeCertificate{6, {}}, 2));
    CHECK_FALSE(proves(plain, VolumeCertificate{7, {}}, 2));
    CHECK(proves(copying, VolumeCertificate{4, {}}, 2));
    CHECK_FALSE(proves(copying, VolumeCertificate{5, {}}, 2));
}

TEST_CASE("volume: an all-reduce needs a transfer from each and to each but one") {
    const Instance instance = on_all(line(2), {many(CollectiveKind::AllReduce, 1)});
    CHECK(proves(instance, VolumeCertificate{4, {}}, 2));
    CHECK_FALSE(proves(instance, VolumeCertificate{5, {}}, 2));
    CHECK_FALSE(proves(instance, VolumeCertificate{4, {}}, 3));
}

TEST_CASE("lengths: what the chunks travel, against what the links carry") {
    // A line of 4: 0 and 1 send to 2 and 3, 4 chunks over the middle link, from tick 0 to 3.
    const Instance instance = on_all(line(4), {collective(CollectiveKind::AllToAll)});
    CHECK(proves(instance, lengths({0, 0, 1, 0, 0, 0}), 4));
    CHECK_FALSE(proves(instance, lengths({0, 0, 1, 0, 0, 0}), 5));
    CHECK(proves(instance, lengths({0, 0, 7, 7, 0, 0}), 4));
    CHECK_FALSE(proves(instance, lengths({0, 0, 7, 7, 0}), 4));
    CHECK_FALSE(proves(instance, lengths({0, 0, 7, -7, 0, 0}), 4));
    CHECK_FALSE(proves(instance, lengths({0, 0, 0, 0, 0, 0}), 1));
}

TEST_CASE("timed lengths: every window has room for one start") {
    // 3 chunks over a link of alpha 1, beta 2: they start at 0, 2, 4 and arrive by 7, not by 6.
    const Instance instance = on_all(line(2, 1, 2), {many(CollectiveKind::Broadcast, 3)});
    TimedLengthsCertificate timed;
    timed.horizon = Ticks(6);
    timed.weights = {{LinkId(0), Ticks(0), 1}, {LinkId(0), Ticks(2), 1}};
    CHECK(proves(instance, timed, 7));
    CHECK_FALSE(proves(instance, timed, 8));
    timed.target = NodeId(1);
    CHECK(proves(instance, timed, 7));
    timed.target = NodeId(0);
    CHECK_FALSE(proves(instance, timed, 7));
    timed.target = {};
    timed.weights[1].window = Ticks(1);  // now it is free to start at tick 3
    CHECK_FALSE(proves(instance, timed, 7));
    timed.weights[1] = {LinkId(0), Ticks(2), -1};
    CHECK_FALSE(proves(instance, timed, 7));
    timed.weights = {{LinkId(0), Ticks(0), 1}, {LinkId(0), Ticks(2), 1}, {LinkId(0), Ticks(4), 1}};
    timed.horizon = Ticks(7);
    CHECK_FALSE(proves(instance, timed, 8));
}

TEST_CASE("timed lengths: chunks wait for cheaper windows, and no longer than the horizon lets them") {
    // 0 -> 1 -> 2, one tick each; the second link costs only at tick 1.
    const Instance instance = on_all(line(3), {custom({0}, {2})});
    TimedLengthsCertificate timed;
    timed.weights = {{LinkId(2), Ticks(1), 1}};
    timed.horizon = Ticks(1);
    CHECK(proves(instance, timed, 2));  // not there by tick 1, at any price
    timed.horizon = Ticks(2);
    CHECK_FALSE(proves(instance, timed, 3));
    Collective again = custom({0}, {2});
    again.id = "again";
    const Instance two = on_all(line(3), {custom({0}, {2}), again});
    CHECK(proves(two, timed, 3));
    timed.horizon = Ticks(3);
    CHECK_FALSE(proves(two, timed, 4));
}

TEST_CASE("messages through time: each receiver pays for its own") {
    // A star of three, each link one tick and one more on the way. By 4 a message from 1 to 2 or back is too
    // late, so both last messages leave the root at 0, over one link.
    const auto proven = [](const SwitchRule& rule, Collective wanted, TimedLengthsCertificate timed) {
        wanted.root = Rank(0);
        return proves(on_all(star(3, rule, 1, 1), {wanted}), timed, timed.horizon.count() + 1);
    };
    const Instance instance = on_all(star(3, {}, 1, 1), {collective(CollectiveKind::Broadcast)});
    const auto link = [&](std::size_t src, std::size_t dst) {
        const auto& links = instance.topology().links();
        return LinkId(static_cast<std::size_t>(
            std::ranges::find_if(
                links, [&](const Link& l) { return l.src == NodeId(src) && l.dst == NodeId(dst); }) -
            links.begin()));
    };
    TimedLengthsCertificate timed;
    timed.horizon = Ticks(4);
    timed.messages = true;
    timed.weights = {{link(0, 3), Ticks(0), 1}};
    const Collective out = collective(CollectiveKind::Broadcast), in = collective(CollectiveKind::Reduce);
    CHECK(proven({}, out, timed));
    CHECK_FALSE(proven({.copy = true}, out, timed));
    CHECK(proven({.reduce = true}, out, timed));
    timed.messages = false;  // one way for the chunk is not more than one start
    CHECK_FALSE(proven({}, out, timed));
    timed.messages = true;
    timed.target = NodeId(1);
    CHECK_FALSE(proven({}, out, timed));
    timed.target = {};
    timed.horizon = Ticks(5);  // one starts at 1
    CHECK_FALSE(proven({}, out, timed));
    // A sum turned round: both contributions end at the root at 4, over one link.
    timed.horizon = Ticks(4);
    timed.weights = {{link(3, 0), Ticks(2), 1}};
    CHECK(proven({}, in, timed));
    CHECK_FALSE(proven({.reduce = true}, in, timed));
    CHECK(proven({.copy = true}, in, timed));
    timed.weights = {{link(3, 0), Ticks(1), 1}};
    CHECK_FALSE(proven({}, in, timed));
}

TEST_CASE("messages through time start where the chunk can be, not before it can be there") {
    // 0 - 1 - 2, one tick each: NPU 1 has two chunks of 0 by 1 and 2, and passes them on by 2 and 3.
    const Instance instance = on_all(line(3), {many(CollectiveKind::Broadcast, 2)});
    TimedLengthsCertificate timed;
    timed.messages = true;
    timed.horizon = Ticks(2);
    timed.weights = {{LinkId(2), Ticks(1), 1}};  // 1 -> 2
    CHECK(proves(instance, timed, 3));
    timed.horizon = Ticks(3);  // one starts at 2
    CHECK_FALSE(proves(instance, timed, 4));
    // Released at 1, everything is a tick later.
    Collective late = many(CollectiveKind::Broadcast, 2);
    late.release = Ticks(1);
    timed.weights = {{LinkId(2), Ticks(2), 1}};
    CHECK(proves(on_all(line(3), {late}), timed, 4));
    CHECK_FALSE(proves(instance, timed, 4));
    // Turned round: from 2 over 1 to 0, both contributions of 2 leave at 0, over one link, or they are late.
    Collective sum = many(CollectiveKind::Reduce, 2);
    sum.root = Rank(0);
    timed.horizon = Ticks(2);
    timed.weights = {{LinkId(3), Ticks(0), 1}};  // 2 -> 1
    CHECK(proves(on_all(line(3), {sum}), timed, 3));
    sum.release = Ticks(1);
    timed.horizon = Ticks(3);
    CHECK_FALSE(proves(on_all(line(3), {sum}), timed, 4));
    timed.weights = {{LinkId(3), Ticks(1), 1}};
    CHECK(proves(on_all(line(3), {sum}), timed, 4));
}

TEST_CASE("a transfer into a cut-through switch must arrive there too, though the chunk is gone before") {
    // In over beta 5, on over beta 1: the onward send could be there at 1, but its pace is 5. We count the
    // first arrival.
    Net net(2);
    const std::size_t hub = net.add_switch({.cut_through = true});
    net.link(0, hub, 0, 5).link(hub, 1, 0, 1);
    const Instance instance = on_all(net, {custom({0}, {1})});
    TimedLengthsCertificate timed;
    timed.horizon = Ticks(4);
    CHECK(proves(instance, timed, 5));
    timed.horizon = Ticks(5);
    CHECK_FALSE(proves(instance, timed, 6));
    CHECK(proves(instance, backwards({0}, 1, 5), 5));
    CHECK_FALSE(proves(instance, backwards({0}, 1, 6), 6));
    CHECK_FALSE(proves(instance, backwards({0}, 1, 5), 6));
    CHECK(proves(instance, lengths({1, 0}), 5));
    CHECK_FALSE(proves(instance, lengths({1, 0}), 6));
}

TEST_CASE("a solver's proof is complete or none") {
    const Instance instance = on_all(line(2), {collective(CollectiveKind::AllGather)});
    CHECK(proves(instance, SolverProof{"CP-SAT 9", "seed 1", "intervals", Ticks(0)}, 1));
    CHECK_FALSE(proves(instance, SolverProof{"CP-SAT 9", "seed 1", "intervals", Ticks(0)}, 2));
    CHECK_FALSE(proves(instance, SolverProof{"", "seed 1", "intervals", Ticks(0)}, 1));
}

namespace {

/// A certificate of each kind with a fair chance to prove something, some of them nonsense.
std::vector<Certificate> attempts(const Instance& instance, Rng& rng, std::int64_t makespan) {
    const Topology& topology = instance.topology();
    std::vector<Certificate> all;
    Bytes smallest = instance.demand(ChunkId(0)).bytes;
    for (std::size_t c = 0; c < instance.chunks(); ++c) {
        smallest = std::min(smallest, instance.demand(ChunkId(c)).bytes);
    }
    for (int i = 0; i < 12; ++i) {
        CutCertificate some;
        for (std::size_t v = 0; v < topology.nodes(); ++v) {
            if (rng.below(2) == 0) some.inside.emplace_back(v);
        }
        if (rng.below(3) == 0) some.inside = {NodeId(rng.below(topology.npus()))};
        some.complement = rng.below(2) == 0;
        some.backwards = rng.below(2) == 0;
        some.transfers = 1 + rng.below(instance.chunks());
        some.earliest = Ticks(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(makespan) + 2)));
        some.bytes = smallest;
        all.emplace_back(some);
    }
    for (int i = 0; i < 6; ++i) {
        LengthsCertificate some;
        for (std::size_t e = 0; e < topology.links().size(); ++e) {
            some.length.push_back(static_cast<std::int64_t>(rng.below(i == 0 ? 1 : 4)) + (i == 0));
        }
        all.emplace_back(some);
        all.emplace_back(VolumeCertificate{1 + rng.below(3 * instance.chunks()), smallest});
    }
    for (int i = 0; i < 6; ++i) {
        TreesCertificate some;
        for (std::size_t e = 0; e < topology.links().size(); ++e)
            some.length.push_back(static_cast<std::int64_t>(rng.below(i == 0 ? 1 : 4)) + (i == 0));
        all.emplace_back(some);
    }
    for (int i = 0; i < 6; ++i) {
        GrowthCertificate some{NodeId(rng.below(topology.npus())),
                               {},
                               rng.below(2) == 0,
                               rng.below(2) == 0,
                               rng.below(2) == 0,
                               smallest};
        for (std::size_t v = 0; v < topology.npus(); ++v)
            some.part.push_back(static_cast<std::uint32_t>(rng.below(i < 2 ? topology.npus() : 3)));
        if (some.nested && rng.below(2) == 0) {
            some.unit = Ticks(1 + static_cast<std::int64_t>(rng.below(2)));
            for (std::uint64_t t = rng.below(static_cast<std::uint64_t>(makespan) + 3); t > 0; --t) {
                auto& prices = some.prices.emplace_back();
                for (std::int64_t& price : prices) price = static_cast<std::int64_t>(rng.below(3));
            }
        }
        all.emplace_back(some);
        all.emplace_back(ContributionsCertificate{NodeId(rng.below(topology.npus())), smallest});
        const auto split = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(makespan) + 2));
        all.emplace_back(SharedContributionsCertificate{Ticks(split), smallest});
    }
    all.emplace_back(SumCertificate{smallest});
    for (int i = 0; i < 4; ++i) {
        const auto window =
            static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(makespan) + 2));
        all.emplace_back(DeadlinesCertificate{i % 2 == 0, Ticks(window), smallest});
    }
    for (int i = 0; i < 12; ++i) {
        WaveCertificate some;
        for (std::size_t v = 0; v < topology.nodes(); ++v) {
            if (rng.below(2) == 0) some.inside.emplace_back(v);
        }
        all.emplace_back(PairsCertificate{some.inside, rng.below(2) == 0, smallest});
        if (instance.chunks() > 0) {
            std::vector<std::uint32_t> part(instance.topology().npus());
            for (std::uint32_t& number : part) number = static_cast<std::uint32_t>(rng.below(3));
            all.emplace_back(ExitsCertificate{std::move(part), ChunkId(rng.below(instance.chunks()))});
        }
        some.backwards = rng.below(2) == 0;
        some.split = Ticks(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(makespan) + 2)));
        some.bytes = smallest;
        all.emplace_back(some);
    }
    return all;
}

TimedLengthsCertificate random_windows(const Instance& instance, Rng& rng, std::int64_t horizon) {
    TimedLengthsCertificate some;
    some.horizon = Ticks(horizon);
    for (std::size_t e = 0; e < instance.topology().links().size(); ++e) {
        const std::int64_t step = instance.busy(LinkId(e), instance.beta(LinkId(e), ChunkId(0))).count();
        const auto weight = static_cast<std::int64_t>(rng.below(3));
        for (std::int64_t w = static_cast<std::int64_t>(rng.below(2)); w <= horizon && weight > 0;
             w += step) {
            some.weights.push_back({LinkId(e), Ticks(w), weight});
        }
    }
    if (rng.below(3) == 0) some.target = NodeId(rng.below(instance.topology().npus()));
    some.messages = !some.target && rng.below(2) == 0;
    return some;
}

}  // namespace

TEST_CASE("no certificate proves more than a schedule that exists") {
    std::uint64_t positive = 0, tight = 0;
    const std::uint64_t count = cases(400);
    for_seeds(count, [&](Rng& rng, std::uint64_t) {
        const InstanceParts parts = random_instance(rng, {.physical = false});
        const Instance instance(parts);
        if (!is_feasible(instance) || instance.chunks() == 0) return;
        const auto schedule = heuristics::greedy(instance, {.seed = rng.next()});
        REQUIRE(schedule);
        REQUIRE(verify::verify(instance, *schedule).valid());
        const std::int64_t makespan = schedule->makespan.count();
        for (const Certificate& certificate : attempts(instance, rng, makespan)) {
            const std::int64_t best = best_of(instance, certificate, 4 * makespan + 100);
            INFO(json_of(instance), " certificate kind ", certificate.index());
            CHECK(best <= makespan);
            positive += best > 0 ? 1 : 0;
            tight += best == makespan && best > 0 ? 1 : 0;
        }
        for (const std::int64_t horizon : {makespan, makespan + 3, makespan * 2}) {
            INFO(json_of(instance));
            CHECK_FALSE(proves(instance, random_windows(instance, rng, horizon), horizon + 1));
        }
        positive +=
            makespan > 1 && proves(instance, random_windows(instance, rng, makespan / 2), makespan / 2 + 1);
    });
    CHECK(positive > count / 2);  // else the test would test nothing
    CHECK(tight > count / 40);
}

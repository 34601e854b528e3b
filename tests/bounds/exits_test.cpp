#include "bounds/families.hpp"
#include "core/rng.hpp"
#include "heuristics/greedy.hpp"
#include "tests/support/builders.hpp"

#include "verify/certificate.hpp"

#include <doctest/doctest.h>

namespace tutti::test {
namespace {

Bound exits_of(const Instance& instance) {
    bounds::Traffic traffic(instance);
    return bounds::exits(traffic, {}).value();
}

bool proves(const Instance& instance, const Certificate& certificate, std::int64_t value) {
    return !verify::check_certificate(instance, {"exits", Ticks(value), certificate, 0});
}

/// The number that is printed, and no more.
void check_tight(const Instance& instance, std::int64_t expected) {
    const Bound bound = exits_of(instance);
    CHECK(bound.value == Ticks(expected));
    CHECK(proves(instance, bound.certificate, expected));
    CHECK_FALSE(proves(instance, bound.certificate, expected + 1));
}

/// `boards` boards of `npus` fully connected NPUs, equal ones on rings.
Net ring_of_boards(std::uint32_t boards, std::uint32_t npus) {
    Net net(boards * npus);
    for (std::uint32_t b = 0; b < boards; ++b) {
        for (std::uint32_t i = 0; i < npus; ++i) {
            for (std::uint32_t j = 0; j < npus; ++j) {
                if (i != j) net.link(b * npus + i, b * npus + j, 1, 10);
            }
            net.link(b * npus + i, (b + 1) % boards * npus + i, 3, 100);
            net.link((b + 1) % boards * npus + i, b * npus + i, 3, 100);
        }
    }
    return net;
}

TEST_CASE("sums that leave boards once are whole, and wait for each other inside") {
    // 16 chunks and 32 slow links: three sends each by 442, 96 in all, so 32 of the 64 pairs of a chunk and a
    // board have one exit, 8 on some board. These make 24 sends over 12 links inside: 21 ticks. Then three
    // slow hops, around the board, and one to the last NPU.
    check_tight(on_all(ring_of_boards(4, 4), {collective(CollectiveKind::AllReduce)}), 21 + 3 * 103 + 11);
    // 8 chunks and 16 slow links: 4 single exits on some board, 4 sends over 2 links inside.
    check_tight(on_all(ring_of_boards(4, 2), {collective(CollectiveKind::AllReduce)}), 21 + 3 * 103 + 11);
}

TEST_CASE("exits prove nothing where switches are, or no sums") {
    CHECK(exits_of(on_all(star(4, {}, 0, 1), {collective(CollectiveKind::AllReduce)})).value == Ticks(0));
    CHECK(exits_of(on_all(ring_of_boards(3, 2), {collective(CollectiveKind::AllGather)})).value == Ticks(0));
}

TEST_CASE("a certificate of exits proves nothing about other chunks or parts") {
    const Instance instance = on_all(ring_of_boards(4, 2), {collective(CollectiveKind::AllReduce)});
    const Bound bound = exits_of(instance);
    REQUIRE(bound.value > Ticks(0));
    ExitsCertificate wrong = std::get<ExitsCertificate>(bound.certificate);
    wrong.chunk = ChunkId(99);
    CHECK_FALSE(proves(instance, wrong, 1));
    wrong = std::get<ExitsCertificate>(bound.certificate);
    wrong.part.pop_back();
    CHECK_FALSE(proves(instance, wrong, 1));
    wrong.part.assign(8, 0);  // nothing leaves the only part
    CHECK_FALSE(proves(instance, wrong, 1));
}

TEST_CASE("exits are never above a schedule, and the check agrees to the tick") {
    std::size_t positive = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const auto parts = static_cast<std::uint32_t>(2 + rng.below(3));
        const auto npus = static_cast<std::uint32_t>(1 + rng.below(3));
        Net net(parts * npus);
        const auto fast = [&] { return 1 + static_cast<std::int64_t>(rng.below(3)); };
        for (std::uint32_t p = 0; p < parts; ++p) {
            for (std::uint32_t i = 1; i < npus; ++i) net.both(p * npus + i - 1, p * npus + i, fast(), fast());
            const std::uint32_t next = (p + 1) % parts;
            for (std::uint32_t i = 0; i < npus; ++i) {
                if (i > 0 && rng.below(2) == 0) continue;
                net.both(p * npus + i, next * npus + rng.below(npus), fast() + 4, 6 * fast());
            }
        }
        Collective sum = collective(CollectiveKind::AllReduce);
        sum.chunks = 1 + rng.below(2);
        const Instance instance = on_all(net, {sum});
        const Bound bound = exits_of(instance);
        if (bound.value == Ticks(0)) continue;
        ++positive;
        CHECK(proves(instance, bound.certificate, bound.value.count()));
        CHECK_FALSE(proves(instance, bound.certificate, bound.value.count() + 1));
        const auto schedule = heuristics::greedy(instance, {});
        REQUIRE(schedule);
        CHECK(bound.value <= schedule->makespan);
    }
    CHECK(positive > 100);
}

}  // namespace
}  // namespace tutti::test

// What crosses the border of a part late must still get everywhere inside; and cuts around such parts.

#include "bounds/bounds.hpp"
#include "tests/support/builders.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

Bound wave_of(const Instance& instance) { return bounds::Families(instance).wave({}); }

/// Nodes {0, 1} and {2, 3}: a tick inside, ten ticks from each NPU to its like in the other node.
Net two_nodes() {
    Net net(4);
    net.both(0, 1).both(2, 3).both(0, 2, 0, 10).both(1, 3, 0, 10);
    return net;
}

Collective two_chunks(CollectiveKind kind) {
    Collective result = collective(kind);
    result.chunks = 2;
    return result;
}

bool proves(const Instance& instance, const Certificate& certificate, std::int64_t value) {
    return !verify::check_certificate(instance, Bound{"wave", Ticks(value), certificate, 0});
}

}  // namespace

TEST_CASE("the last chunks into a node must still be passed on inside it") {
    // Four chunks enter over two links: the last two at 20, each at one NPU. The other has them at 21.
    const Instance instance = on_all(two_nodes(), {two_chunks(CollectiveKind::AllGather)});
    const Bound bound = wave_of(instance);
    CHECK(bound.value == Ticks(21));
    const auto& certificate = std::get<WaveCertificate>(bound.certificate);
    CHECK(certificate.inside.size() == 2);
    CHECK(certificate.split == Ticks(20));
    CHECK_FALSE(certificate.backwards);
    CHECK_FALSE(verify::check_certificate(instance, bound));
}

TEST_CASE("what leaves a node first must have been summed up inside it before") {
    const Instance instance = on_all(two_nodes(), {two_chunks(CollectiveKind::ReduceScatter)});
    const Bound bound = wave_of(instance);
    CHECK(bound.value == Ticks(21));
    CHECK(std::get<WaveCertificate>(bound.certificate).backwards);
    CHECK_FALSE(verify::check_certificate(instance, bound));
}

TEST_CASE("a release delays both waves") {
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        Collective late = two_chunks(kind);
        late.release = Ticks(5);
        CHECK(wave_of(on_all(two_nodes(), {late})).value == Ticks(26));
    }
}

TEST_CASE("a wave's certificate proves what follows from its split, and no more") {
    const Instance instance = on_all(two_nodes(), {two_chunks(CollectiveKind::AllGather)});
    const WaveCertificate good{nodes({2, 3}), false, Ticks(20), {}};
    CHECK(proves(instance, good, 21));
    CHECK_FALSE(proves(instance, good, 22));
    WaveCertificate early = good;  // then the chunks that are left may come a tick sooner
    early.split = Ticks(19);
    CHECK(proves(instance, early, 20));
    CHECK_FALSE(proves(instance, early, 21));
    WaveCertificate late = good;  // by 20 all four may be inside
    late.split = Ticks(21);
    CHECK_FALSE(proves(instance, late, 21));
    WaveCertificate all = good;  // nothing must enter the whole
    all.inside = nodes({0, 1, 2, 3});
    CHECK_FALSE(proves(instance, all, 1));
    WaveCertificate backwards = good;  // plain chunks need not all be sent by all
    backwards.backwards = true;
    CHECK_FALSE(proves(instance, backwards, 1));
    WaveCertificate unknown = good;
    unknown.inside = nodes({2, 9});
    CHECK_FALSE(proves(instance, unknown, 1));
}

TEST_CASE("slow uplinks bring the last chunks, and fast ports pass them on") {
    // Leaves of two NPUs on ports of beta 1, under two spines with uplinks of beta 3, through which a chunk
    // keeps the ports busy for 3, too. Four chunks enter a leaf by 6, the last two then go to the other port.
    Net net(4);
    std::vector<std::size_t> leaf, spine;
    for (int i = 0; i < 2; ++i) leaf.push_back(net.add_switch({.cut_through = true}));
    for (int i = 0; i < 2; ++i) spine.push_back(net.add_switch({.cut_through = true}));
    for (std::size_t npu = 0; npu < 4; ++npu) net.both(npu, leaf[npu / 2]);
    for (const std::size_t low : leaf) {
        for (const std::size_t high : spine) net.both(low, high, 0, 3);
    }
    const Instance instance = on_all(net, {two_chunks(CollectiveKind::AllGather)});
    CHECK(wave_of(instance).value == Ticks(7));
    CHECK_FALSE(verify::check_certificate(instance, wave_of(instance)));
}

TEST_CASE("ports inside stand idle until the first entry can have been passed on") {
    // Two leaves of four NPUs, one link between them. Four chunks enter a leaf, the first at 3, and make
    // sixteen arrivals. Nobody in the leaf can have passed one on before 5, so there are two by 4, and the
    // four ports need four ticks for the other fourteen. Alone, the ports would be done at 6.
    for (const CollectiveKind kind : {CollectiveKind::AllGather, CollectiveKind::ReduceScatter}) {
        Net net(8);
        const std::size_t here = net.add_switch({}), there = net.add_switch({});
        net.both(here, there);
        for (std::size_t npu = 0; npu < 8; ++npu) net.both(npu, npu < 4 ? here : there);
        const Instance instance = on_all(net, {collective(kind)});
        const bool backwards = kind == CollectiveKind::ReduceScatter;
        const WaveCertificate split{nodes({0, 1, 2, 3, 8}), backwards, Ticks(5), {}};
        CHECK(proves(instance, split, 8));
        CHECK_FALSE(proves(instance, split, 9));
        CHECK(wave_of(instance).value == Ticks(8));
        CHECK_FALSE(verify::check_certificate(instance, wave_of(instance)));
    }
}

TEST_CASE("a switch that copies lets one transfer over the border end at several NPUs") {
    Net net(5);
    const std::size_t far = net.add_switch({}), copying = net.add_switch({.copy = true});
    net.both(0, far).both(far, copying, 0, 9);
    for (std::size_t npu = 1; npu < 5; ++npu) net.both(npu, copying);
    const Instance instance = on_all(net, {collective(CollectiveKind::Broadcast)});
    // One transfer of 9 and four at once after it: 1 + 9 + 1.
    CHECK(wave_of(instance).value <= Ticks(11));
    for (int split = 0; split < 20; ++split)
        CHECK_FALSE(proves(instance, WaveCertificate{nodes({1, 2, 3, 4, 6}), false, Ticks(split), {}}, 12));
}

TEST_CASE("what enters a set may leave it and come back") {
    // NPU 1 has the chunk at 50, NPU 2 a tick later, NPU 3 another. Without NPU 1 it takes NPU 2 200.
    Net net(4);
    net.both(0, 1, 0, 50).both(1, 2).both(2, 3).both(0, 2, 0, 200);
    const Instance instance = on_all(net, {collective(CollectiveKind::Broadcast)});
    for (int split = 0; split < 210; ++split)
        CHECK_FALSE(proves(instance, WaveCertificate{nodes({1, 3}), false, Ticks(split), {}}, 53));
}

TEST_CASE("the cut search looks at both ways over the border of every part") {
    // Twelve nodes of two NPUs on a slow switch; a scatter into one node is the only traffic.
    Net net(24);
    const std::size_t hub = net.add_switch({.cut_through = true});
    for (std::size_t node = 0; node < 12; ++node) {
        const std::size_t gate = net.add_switch({.cut_through = true});
        net.both(2 * node, gate).both(2 * node + 1, gate).both(gate, hub, 0, 9);
    }
    Collective pairs = collective(CollectiveKind::Permute);
    pairs.pairs = {{Rank(0), Rank(22)}, {Rank(3), Rank(22)}, {Rank(5), Rank(23)}, {Rank(8), Rank(23)}};
    const Instance instance = on_all(net, {pairs});
    // Each port alone gets two chunks; the gate's one link from the hub carries four.
    CHECK(bounds::Families(instance).cut({}).value == Ticks(4 * 9));
}

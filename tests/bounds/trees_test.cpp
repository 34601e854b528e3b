// Every chunk pays for all messages that it needs, over links of certain lengths.

#include "bounds/border_trees.hpp"
#include "bounds/bounds.hpp"
#include "bounds/matrix_game.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/cases.hpp"
#include "tests/support/random_cluster.hpp"
#include "tests/support/random_instance.hpp"
#include "verify/certificate.hpp"

#include <doctest/doctest.h>

using namespace tutti;
using namespace tutti::test;

namespace {

Bound trees_of(const Instance& instance) { return bounds::Families(instance).trees({}).value(); }

bool proves(const Instance& instance, std::vector<std::int64_t> length, std::int64_t value) {
    const Bound bound{"trees", Ticks(value), TreesCertificate{std::move(length)}, 0};
    return !verify::check_certificate(instance, bound);
}

/// Three nodes of two NPUs, a tick apart, and two rails of ten ticks: links 0 to 5 inside, 6 to 17 the rails.
Net rails(const SwitchRule& rule) {
    Net net(6);
    for (const std::size_t node : {0U, 2U, 4U}) net.both(node, node + 1);
    for (const std::size_t rail : {0U, 1U}) {
        const std::size_t hub = net.add_switch(rule);
        for (const std::size_t node : {0U, 2U, 4U}) net.both(node + rail, hub, 0, 10);
    }
    return net;
}

std::vector<std::int64_t> on_rails() {
    std::vector<std::int64_t> length(18, 1);
    std::fill_n(length.begin(), 6, 0);
    return length;
}

}  // namespace

TEST_CASE("an all-reduce needs two messages per node but one, for every chunk, over the rails") {
    // Six chunks, four messages each between nodes: four for each of the six ports.
    const Instance instance = on_all(rails({.cut_through = true}), {collective(CollectiveKind::AllReduce)});
    const Bound bound = trees_of(instance);
    CHECK(bound.value == Ticks(40));
    CHECK_FALSE(verify::check_certificate(instance, bound));
    CHECK(proves(instance, on_rails(), 40));
    CHECK_FALSE(proves(instance, on_rails(), 41));
}

TEST_CASE("a certificate of trees has a length >= 0 for every link, and not too large") {
    const Instance instance = on_all(rails({.cut_through = true}), {collective(CollectiveKind::AllReduce)});
    std::vector<std::int64_t> length = on_rails();
    length.pop_back();
    CHECK_FALSE(proves(instance, length, 1));
    length.push_back(-1);
    CHECK_FALSE(proves(instance, length, 1));
    length.back() = INT64_MAX;
    CHECK_FALSE(proves(instance, length, 1));
    CHECK_FALSE(proves(instance, std::vector<std::int64_t>(18, 0), 1));
    length.back() = 0;  // one port without a length makes its messages cheaper
    CHECK_FALSE(proves(instance, length, 40));
}

TEST_CASE("trees say nothing where switches copy or add") {
    for (const SwitchRule& rule : {SwitchRule{.copy = true}, SwitchRule{.reduce = true}}) {
        const Instance instance = on_all(rails(rule), {collective(CollectiveKind::AllReduce)});
        CHECK(trees_of(instance).value == Ticks(0));
        CHECK_FALSE(proves(instance, on_rails(), 1));
    }
    // A switch that only adds leaves plain chunks alone.
    CHECK(trees_of(on_all(rails({.reduce = true}), {collective(CollectiveKind::AllGather)})).value >
          Ticks(0));
}

TEST_CASE("chunks from one NPU to one other pay for a chain of messages, whatever switches do") {
    for (const SwitchRule& rule : {SwitchRule{}, SwitchRule{.copy = true, .reduce = true}}) {
        const Instance instance = on_all(rails(rule), {collective(CollectiveKind::AllToAll)});
        // 4 of 5 chunks of each NPU go to another node, over a port of ten ticks; a stored hop follows.
        CHECK(trees_of(instance).value >= Ticks(40));
        CHECK_FALSE(verify::check_certificate(instance, trees_of(instance)));
    }
}

TEST_CASE("a chunk that enters a leaf keeps a port busy for the slower uplink's time") {
    // Two leaves of two NPUs under two spines, ports of beta 1, uplinks of beta 2. Each NPU gets three
    // chunks; one message per chunk comes from the other leaf, and costs both its ports 2.
    Net net(4);
    std::vector<std::size_t> leaf, spine;
    for (int i = 0; i < 2; ++i) leaf.push_back(net.add_switch({.cut_through = true}));
    for (int i = 0; i < 2; ++i) spine.push_back(net.add_switch({.cut_through = true}));
    for (std::size_t npu = 0; npu < 4; ++npu) net.both(npu, leaf[npu / 2]);
    for (const std::size_t low : leaf) {
        for (const std::size_t high : spine) net.both(low, high, 0, 2);
    }
    const Instance instance = on_all(net, {collective(CollectiveKind::AllGather)});
    CHECK(trees_of(instance).value == Ticks(4));
    CHECK_FALSE(verify::check_certificate(instance, trees_of(instance)));
}

TEST_CASE("with one message in flight a message keeps its links for alpha too") {
    Net net = star(4, {.cut_through = true}, 3, 1);
    net.one_in_flight();
    const Instance instance = on_all(net, {collective(CollectiveKind::AllReduce)});
    // 24 messages, each four ticks on a port out and one in; the last alpha is after the last busy time.
    const Bound bound = trees_of(instance);
    CHECK(bound.value == Ticks(6 * 4 + 3));
    CHECK_FALSE(verify::check_certificate(instance, bound));
}

TEST_CASE("NPUs that only relay have rails too") {
    // The job has one NPU of each node, but the other rail may carry half of its messages.
    const Instance instance =
        on_group(rails({.cut_through = true}), {0, 2, 4}, {collective(CollectiveKind::AllReduce)});
    // Twelve messages for six ports; to the relays and from them it is a tick each.
    const Bound bound = trees_of(instance);
    CHECK(bound.value == Ticks(22));
    CHECK_FALSE(verify::check_certificate(instance, bound));
    CHECK(proves(instance, on_rails(), 22));
    CHECK_FALSE(proves(instance, on_rails(), 23));
    Collective closed = collective(CollectiveKind::AllReduce);
    closed.forwarding = Forwarding::Group;
    CHECK(trees_of(on_group(rails({.cut_through = true}), {0, 2, 4}, {closed})).value == Ticks(40));
}

TEST_CASE("with a failed rail all other rails still count") {
    // Four nodes of four NPUs; NPU 3 has no rail. Data-parallel groups beside tensor-parallel ones.
    const SwitchRule fast{.cut_through = true};
    Net net(16);
    std::vector<std::size_t> rails;
    for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t inside = net.add_switch(fast);
        for (std::size_t npu = 4 * k; npu < 4 * k + 4; ++npu) net.both(npu, inside);
    }
    for (std::size_t rail = 0; rail < 4; ++rail) {
        const std::size_t hub = net.add_switch(fast);
        for (std::size_t npu = rail; npu < 16; npu += 4) {
            if (npu != 3) net.both(npu, hub, 0, 10);
        }
    }
    InstanceParts parts;
    parts.name = "test";
    parts.topology = net.parts();
    for (std::size_t k = 0; k < 4; ++k) {
        const std::string name = std::to_string(k);
        parts.groups.push_back({"dp" + name, nodes({k, k + 4, k + 8, k + 12})});
        parts.groups.push_back({"tp" + name, nodes({4 * k, 4 * k + 1, 4 * k + 2, 4 * k + 3})});
        parts.collectives.push_back(collective(CollectiveKind::AllReduce, "ar" + name));
        parts.collectives.back().group = GroupId(2 * k);
        parts.collectives.push_back(collective(CollectiveKind::AllGather, "ag" + name));
        parts.collectives.back().group = GroupId(2 * k + 1);
    }
    const Instance instance(std::move(parts));
    // 16 sums, six messages between nodes for each, two rails for each: 192 over 30 links are seven on one.
    const Bound bound = trees_of(instance);
    CHECK(bound.value >= Ticks(7 * 10));
    CHECK_FALSE(verify::check_certificate(instance, bound));
}

TEST_CASE("the best mix of a matrix game") {
    const auto mix = bounds::best_mix({{2, 0}, {0, 1}});
    CHECK(mix[0] == doctest::Approx(1.0 / 3));
    CHECK(mix[1] == doctest::Approx(2.0 / 3));
    CHECK(bounds::best_mix({{1, 5}, {1, 5}})[1] == doctest::Approx(1));
}

TEST_CASE("ports and borders prove what the check of trees proves too, on any instance") {
    std::size_t some = 0;
    for_seeds(cases(300), [&](Rng& rng, std::uint64_t seed) {
        const Instance instance(seed % 2 == 0 ? random_cluster(rng) : random_instance(rng));
        if (!is_feasible(instance)) return;
        const bounds::Traffic traffic(instance);
        const Bound bound = bounds::border_trees(traffic, {});
        CHECK_MESSAGE(verify::check_certificate(instance, bound).value_or("") == "", json_of(instance));
        if (bound.value > Ticks(0)) ++some;
    });
    CHECK(some > cases(300) / 4);
}

TEST_CASE("every port of an all-reduce carries two transfers for each chunk but one") {
    // One port each, so eight chunks of 2 * 7 messages are 14 for each port; the first comes after two links.
    const Instance instance = on_all(star(8, {}, 0, 10), {collective(CollectiveKind::AllReduce)});
    CHECK(bounds::border_trees(bounds::Traffic(instance), {}).value == Ticks(14 * 10 + 10));
}

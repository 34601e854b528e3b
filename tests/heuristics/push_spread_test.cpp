// A push alone: how it begins like another one, and when it gives up.

#include "heuristics/levels/push_spread.hpp"
#include "tests/support/builders.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;
using namespace tutti::heuristics;

namespace {

/// Six chunks from NPU 0 to seven others through a crossbar.
class SixChunks {
  public:
    SixChunks() {
        const auto all = instance_.demand(ChunkId(0)).receivers;
        for (std::size_t c = 0; c < instance_.chunks(); ++c)
            items_.push_back({ChunkId(c), root_, Ticks(0), all});
    }

    /// The messages, or none if it gave up.
    std::vector<Pushed> push(std::uint64_t seed, std::span<const Pushed> rival, Ticks from) {
        MessagePlacer placer(instance_, MessagePlacer::Direction::Forwards);
        const PushPorts ports(cluster_, MessagePlacer::Direction::Forwards, items_);
        PushWeights weights = usual_weights(ports, 0);
        weights.noise = 8;
        Rng rng(seed);
        PushResult result;
        const Stop never;
        (void)push_spread(ports, items_, weights, {never, Ticks::max(), rival, from}, placer, rng, result);
        return result.messages;
    }

  private:
    static Instance broadcast() {
        Collective collective = test::collective(CollectiveKind::Broadcast);
        collective.chunks = 6;
        return test::on_all(test::star(8, {.cut_through = true}, 1, 2), {collective});
    }
    Instance instance_ = broadcast();
    Cluster cluster_{instance_};
    std::vector<NodeId> root_{NodeId(0)};
    std::vector<LevelItem> items_;
};

/// What is sent before `from`: (port, pair, item).
std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> before(
    const std::vector<Pushed>& messages, Ticks from) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> sent;
    for (const Pushed& message : messages) {
        if (message.chosen < from) sent.emplace_back(message.port, message.pair, message.item);
    }
    return sent;
}

}  // namespace

TEST_CASE("a push that begins like another one sends the same until that tick") {
    SixChunks six;
    const auto first = six.push(1, {}, Ticks(0));
    REQUIRE(first.size() == 6 * 7);
    const Ticks from(first.back().chosen.count() / 2);
    REQUIRE(before(first, from).size() > 4);
    CHECK(before(six.push(2, {}, Ticks(0)), from) != before(first, from));
    bool differs = false;
    for (std::uint64_t seed = 2; seed < 6; ++seed) {
        const auto next = six.push(seed, first, from);
        if (next.empty()) continue;  // it fell behind
        CHECK(before(next, from) == before(first, from));
        differs = differs || before(next, Ticks::max()) != before(first, Ticks::max());
    }
    CHECK(differs);
}

TEST_CASE("a push that falls behind its rival gives up") {
    SixChunks six;
    auto rival = six.push(1, {}, Ticks(0));
    CHECK(six.push(1, rival, Ticks(0)).size() == rival.size());
    for (Pushed& message : rival) message.chosen = Ticks(0);  // nobody is so quick
    CHECK(six.push(1, rival, Ticks(0)).empty());
}

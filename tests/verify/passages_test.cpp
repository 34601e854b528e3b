#include "verify/passages.hpp"

#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <map>
#include <tuple>

using namespace tutti;
using namespace tutti::verify;

namespace {

Passage passage(std::size_t at, std::size_t chunk, std::int64_t due, std::int64_t start,
                std::size_t link = 0) {
    return {NodeId(at), ChunkId(chunk), Ticks(due), Ticks(start), 0, LinkId(link)};
}

}  // namespace

TEST_CASE("what enters a switch is found at its tick only, and taken once") {
    const std::vector<Ticks> transits{Ticks(5)};
    Passages passages(transits, false);
    passages.enter(passage(1, 7, 3, 0), 0);
    CHECK(passages.contains(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.contains(NodeId(1), ChunkId(7), Ticks(4)));
    CHECK_FALSE(passages.take(NodeId(2), ChunkId(7), Ticks(3)));
    CHECK(passages.take(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.take(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK(passages.expired(Ticks::max()).empty());
}

TEST_CASE("what was not taken in time is given back as expired") {
    const std::vector<Ticks> transits{Ticks(5)};
    Passages passages(transits, false);
    passages.enter(passage(1, 7, 3, 0), 0);
    passages.enter(passage(1, 8, 4, 1), 0);
    CHECK(passages.expired(Ticks(4)).empty());
    const auto late = passages.expired(Ticks(5));
    REQUIRE(late.size() == 1);
    CHECK(late[0].chunk == ChunkId(7));
    CHECK(passages.extract(std::nullopt).size() == 1);
}

TEST_CASE("a tick is undone: what entered leaves, what was taken is there again") {
    const std::vector<Ticks> transits{Ticks(5)};
    Passages passages(transits, false);
    passages.enter(passage(1, 7, 3, 0), 0);
    passages.enter(passage(1, 9, 3, 0), 0);
    CHECK(passages.take(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK(passages.take(NodeId(1), ChunkId(9), Ticks(3)));
    passages.enter(passage(2, 7, 6, 3), 0);
    std::vector<ChunkId> entered;
    passages.undo(Ticks(3), ChunkId(7), [&](const Passage& each) { entered.push_back(each.chunk); });
    CHECK(entered == std::vector{ChunkId(7)});
    CHECK(passages.contains(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.contains(NodeId(1), ChunkId(9), Ticks(3)));
    CHECK_FALSE(passages.contains(NodeId(2), ChunkId(7), Ticks(6)));
}

TEST_CASE("the table of passages agrees with a map") {
    const std::vector<Ticks> transits{Ticks(40)};
    Passages passages(transits, false);
    std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, bool> known;
    Rng rng(1);
    for (std::int64_t now = 0; now < 3000; ++now) {
        for (int i = 0; i < 4; ++i) {
            const std::size_t at = rng.below(3), chunk = rng.below(5);
            const std::int64_t due = now + 1 + static_cast<std::int64_t>(rng.below(30));
            auto& there = known[{at, chunk, due}];
            CHECK(passages.contains(NodeId(at), ChunkId(chunk), Ticks(due)) == there);
            if (!there) passages.enter(passage(at, chunk, due, now), 0);
            there = true;
        }
        for (std::size_t at = 0; at < 3; ++at) {
            for (std::size_t chunk = 0; chunk < 5; ++chunk) {
                const auto found = known.find({at, chunk, now});
                CHECK(passages.take(NodeId(at), ChunkId(chunk), Ticks(now)).has_value() ==
                      (found != known.end() && found->second));
            }
        }
        CHECK(passages.expired(Ticks(now)).empty());
    }
}

TEST_CASE("what has left is remembered for its tick, where sends leave at once") {
    const std::vector<Ticks> transits{Ticks(5)};
    Passages passages(transits, true);
    passages.enter(passage(1, 7, 3, 3), 0);
    CHECK(passages.has_met(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK(passages.take(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.contains(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK(passages.has_met(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.has_met(NodeId(2), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.has_met(NodeId(1), ChunkId(7), Ticks(4)));
    // Many, so that the table grows within the tick.
    for (std::size_t chunk = 10; chunk < 500; ++chunk) {
        passages.enter(passage(1, chunk, 4, 4), 0);
        CHECK(passages.take(NodeId(1), ChunkId(chunk), Ticks(4)));
    }
    for (std::size_t chunk = 10; chunk < 500; ++chunk)
        CHECK(passages.has_met(NodeId(1), ChunkId(chunk), Ticks(4)));
    CHECK_FALSE(passages.has_met(NodeId(1), ChunkId(7), Ticks(4)));
}

TEST_CASE("what entered and was taken at the tick that is undone has never been there") {
    const std::vector<Ticks> transits{Ticks(5)};
    Passages passages(transits, true);
    passages.enter(passage(1, 7, 3, 3), 0);
    CHECK(passages.take(NodeId(1), ChunkId(7), Ticks(3)));
    passages.enter(passage(2, 7, 3, 3), 0);
    std::vector<NodeId> entered;
    passages.undo(Ticks(3), std::nullopt, [&](const Passage& each) { entered.push_back(each.at); });
    CHECK(entered.size() == 2);
    CHECK_FALSE(passages.contains(NodeId(1), ChunkId(7), Ticks(3)));
    CHECK_FALSE(passages.contains(NodeId(2), ChunkId(7), Ticks(3)));
}

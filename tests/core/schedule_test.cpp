#include "core/schedule.hpp"

#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace tutti;

TEST_CASE("sends are put in order of start, link and chunk, dense or sparse, sorted or not") {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        const std::size_t links = 1 + rng.below(20);
        Schedule schedule;
        std::int64_t start = 0;
        for (std::size_t tick = 0; tick < rng.below(8); ++tick) {
            start += static_cast<std::int64_t>(rng.below(3));
            for (std::size_t i = rng.below(links + 2); i-- > 0;) {
                schedule.sends.push_back({ChunkId(rng.below(9)),
                                          LinkId(rng.below(3) == 0 ? rng.below(links) : i % links),
                                          Ticks(start), Op::Copy});
            }
        }
        if (rng.below(2) == 0) rng.shuffle(schedule.sends);
        auto expected = schedule.sends;
        std::ranges::sort(expected, starts_before);
        put_in_order(schedule, links);
        CHECK(std::ranges::is_sorted(schedule.sends, starts_before));
        CHECK(std::ranges::equal(schedule.sends, expected));
    }
}

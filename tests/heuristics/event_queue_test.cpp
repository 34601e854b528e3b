#include "heuristics/event_queue.hpp"

#include "core/rng.hpp"

#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace tutti;
using namespace tutti::heuristics;

TEST_CASE("events come in order of time, those of one time in the order in which they were pushed") {
    struct Event {
        std::int64_t time;
        std::uint32_t number;
    };
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        CAPTURE(seed);
        Rng rng(seed);
        EventQueue<Event> queue;
        std::map<std::int64_t, std::vector<std::uint32_t>> expected;
        std::uint32_t pushed = 0;
        std::int64_t now = 0;
        const std::uint64_t longest = std::uint64_t{1} << rng.below(45);
        const auto push = [&](std::int64_t time) {
            queue.push({time, pushed});
            expected[time].push_back(pushed++);
        };
        for (int i = 0; i < 50; ++i) push(static_cast<std::int64_t>(rng.below(longest)));
        std::vector<Event> batch;
        while (!queue.empty()) {
            REQUIRE_FALSE(expected.empty());
            queue.pop(batch);
            now = batch.front().time;
            REQUIRE(now == expected.begin()->first);
            std::vector<std::uint32_t> numbers;
            for (const Event& event : batch) numbers.push_back(event.number);
            REQUIRE(numbers == expected.begin()->second);
            expected.erase(expected.begin());
            // Now and then one at this very time, which comes in a batch of its own.
            for (std::uint64_t k = rng.below(4); k > 0 && pushed < 2000; --k) {
                push(now + static_cast<std::int64_t>(rng.below(8) == 0 ? 0 : rng.below(longest)));
            }
        }
        CHECK(expected.empty());
    }
}

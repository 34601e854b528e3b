#include "app/ordered_pool.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace tutti::app;

TEST_CASE("results are delivered in order, whichever thread finished first") {
    for (const unsigned threads : {1U, 3U, 64U}) {
        std::vector<int> made(200, 0);
        std::vector<std::size_t> delivered;
        const std::size_t count = run_ordered({.count = made.size(),
                                               .threads = threads,
                                               .work = [&](std::size_t i) { made[i] += 1; },
                                               .deliver =
                                                   [&](std::size_t i) {
                                                       CHECK(made[i] == 1);
                                                       delivered.push_back(i);
                                                   }});
        std::vector<std::size_t> all(made.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        CHECK(delivered == all);
        CHECK(count == made.size());
    }
    CHECK(run_ordered({.count = 0, .threads = 0, .work = {}, .deliver = {}}) == 0);
}

TEST_CASE("after a stop no new work starts, and the finished prefix is delivered") {
    std::atomic<bool> stop = false;
    std::vector<std::size_t> delivered;
    const std::size_t count = run_ordered({.count = 100,
                                           .threads = 1,
                                           .work = [&](std::size_t i) { stop = i == 9; },
                                           .deliver = [&](std::size_t i) { delivered.push_back(i); },
                                           .stop = &stop});
    CHECK(count == 10);
    CHECK(delivered.size() == 10);
}

TEST_CASE("an exception of a work item is rethrown in its turn") {
    std::size_t delivered = 0;
    const auto work = [](std::size_t i) {
        if (i == 5) throw std::runtime_error("five");
    };
    CHECK_THROWS_WITH(
        run_ordered(
            {.count = 1000, .threads = 2, .work = work, .deliver = [&](std::size_t) { ++delivered; }}),
        "five");
    CHECK(delivered == 5);
}

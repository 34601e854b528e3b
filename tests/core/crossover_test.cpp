#include "core/crossover.hpp"

#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tutti;
using namespace tutti::test;

TEST_CASE("a crossover is found between one byte and the next") {
    std::size_t asked = 0;
    const FastestAt fastest_at = [&](std::int64_t bytes) -> std::size_t {
        ++asked;
        return bytes < 1'234'567 ? 0 : 1;
    };
    const std::vector<std::int64_t> sizes{65536, std::int64_t{1} << 30};
    CHECK(searched_crossovers(sizes, fastest_at) == std::vector<Crossover>{{1'234'566, 1'234'567, 0, 1}});
    CHECK(asked <= 2 + 31);
    CHECK(listed_crossovers(sizes, fastest_at) ==
          std::vector<Crossover>{{65536, std::int64_t{1} << 30, 0, 1}});
    CHECK(searched_crossovers(std::vector<std::int64_t>{1, 1'234'566}, fastest_at).empty());
    CHECK(searched_crossovers(std::vector<std::int64_t>{5}, fastest_at).empty());
    CHECK(searched_crossovers(std::vector<std::int64_t>{}, fastest_at).empty());
}

TEST_CASE("one that is the fastest only between two sizes is found on the way") {
    const FastestAt fastest_at = [](std::int64_t bytes) -> std::size_t {
        return bytes < 400 ? 0 : bytes < 700 ? 2 : 1;
    };
    CHECK(searched_crossovers(std::vector<std::int64_t>{1, 1000}, fastest_at) ==
          std::vector<Crossover>{{399, 400, 0, 2}, {699, 700, 2, 1}});
}

TEST_CASE("crossovers lead from the fastest at the first size to that at the last, whatever lies between") {
    for_seeds(cases(200), [](Rng& rng, std::uint64_t) {
        std::vector<std::size_t> fastest(300);
        for (std::size_t& one : fastest) one = rng.below(3);
        std::set<std::int64_t> chosen{0, 299};
        for (int i = 0; i < 4; ++i) chosen.insert(static_cast<std::int64_t>(rng.below(300)));
        const std::vector<std::int64_t> sizes(chosen.begin(), chosen.end());
        const FastestAt fastest_at = [&](std::int64_t bytes) {
            return fastest[static_cast<std::size_t>(bytes)];
        };
        const std::size_t questions = rng.below(30);
        std::size_t now = fastest.front();
        std::int64_t reached = 0;
        for (const Crossover& crossover : searched_crossovers(sizes, fastest_at, questions)) {
            CHECK(crossover.before == now);
            CHECK(crossover.before == fastest_at(crossover.below));
            CHECK(crossover.after == fastest_at(crossover.from));
            CHECK(crossover.before != crossover.after);
            CHECK(crossover.below >= reached);
            CHECK(crossover.from > crossover.below);
            if (questions == 0) CHECK(chosen.contains(crossover.below));
            reached = crossover.from;
            now = crossover.after;
        }
        CHECK(now == fastest.back());
    });
}

#include "core/crossover.hpp"

#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace tutti;
using namespace tutti::test;

namespace {

using Some = std::vector<std::size_t>;

bool has(const Some& all, std::size_t one) { return std::ranges::find(all, one) != all.end(); }

}  // namespace

TEST_CASE("a crossover is found between one byte and the next") {
    std::size_t asked = 0;
    const FastestAt fastest_at = [&](std::int64_t bytes) -> Some {
        ++asked;
        return {bytes < 1'234'567 ? 0U : 1U};
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

TEST_CASE(
    "where two are equally fast for a while, the first one is left when it is slower, whatever its number") {
    const std::vector<std::int64_t> sizes{1, 1000};
    const auto crossing = [](std::size_t small, std::size_t large) {
        return [=](std::int64_t bytes) -> Some {
            if (bytes < 400) return {small};
            return bytes <= 500 ? Some{std::min(small, large), std::max(small, large)} : Some{large};
        };
    };
    CHECK(searched_crossovers(sizes, crossing(0, 1)) == std::vector<Crossover>{{500, 501, 0, 1}});
    CHECK(searched_crossovers(sizes, crossing(1, 0)) == std::vector<Crossover>{{500, 501, 1, 0}});
}

TEST_CASE("one that is among the fastest at all sizes is never overtaken") {
    const FastestAt fastest_at = [](std::int64_t bytes) -> Some {
        return bytes < 10 ? Some{0, 1, 2} : bytes < 20 ? Some{0, 1} : Some{1, 3};
    };
    CHECK(searched_crossovers(std::vector<std::int64_t>{1, 15, 30}, fastest_at).empty());
}

TEST_CASE("one that is the fastest only between two sizes is found on the way") {
    const FastestAt fastest_at = [](std::int64_t bytes) -> Some {
        return {bytes < 400 ? 0U : bytes < 700 ? 2U : 1U};
    };
    CHECK(searched_crossovers(std::vector<std::int64_t>{1, 1000}, fastest_at) ==
          std::vector<Crossover>{{399, 400, 0, 2}, {699, 700, 2, 1}});
}

TEST_CASE(
    "crossovers lead from one of the fastest at the first size to one at the last, whatever lies between") {
    for_seeds(cases(200), [](Rng& rng, std::uint64_t) {
        std::vector<Some> fastest(300);
        for (Some& some : fastest) {
            for (std::size_t one = 0; one < 3; ++one) {
                if (rng.below(2) == 0) some.push_back(one);
            }
            if (some.empty()) some.push_back(rng.below(3));
        }
        std::set<std::int64_t> chosen{0, 299};
        for (int i = 0; i < 4; ++i) chosen.insert(static_cast<std::int64_t>(rng.below(300)));
        const std::vector<std::int64_t> sizes(chosen.begin(), chosen.end());
        const FastestAt fastest_at = [&](std::int64_t bytes) {
            return fastest[static_cast<std::size_t>(bytes)];
        };
        const std::size_t questions = rng.below(30);
        const auto found = searched_crossovers(sizes, fastest_at, questions);
        std::int64_t reached = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
            CHECK(has(fastest_at(found[i].below), found[i].before));
            CHECK(has(fastest_at(found[i].from), found[i].after));
            CHECK(found[i].before != found[i].after);
            if (i > 0) CHECK(found[i].before == found[i - 1].after);
            CHECK(found[i].below >= reached);
            CHECK(found[i].from > found[i].below);
            if (questions == 0) CHECK(chosen.contains(found[i].below));
            reached = found[i].from;
        }
        if (found.empty()) {
            // Then one of them is among the fastest at every listed size.
            const auto everywhere = [&](std::size_t one) {
                return std::ranges::all_of(sizes,
                                           [&](std::int64_t size) { return has(fastest_at(size), one); });
            };
            CHECK((everywhere(0) || everywhere(1) || everywhere(2)));
        } else {
            CHECK(has(fastest.front(), found.front().before));
            CHECK(has(fastest.back(), found.back().after));
        }
    });
}

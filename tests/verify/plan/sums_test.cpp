#include "verify/plan/sums.hpp"

#include "core/rng.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

using namespace tutti;
using namespace tutti::verify;

namespace {

/// By rank and chunk, how often.
using Counted = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

Counted counted(const Sums& sums, SumId id) {
    Counted found;
    for (const SumRun& run : sums.runs(id)) {
        for (std::int64_t rank = run.first; rank <= run.last; ++rank) found[{rank, run.chunk}] += run.times;
    }
    return found;
}

}  // namespace

TEST_SUITE("verify: sums of contributions") {
    TEST_CASE(
        "two sums have one number exactly if they are the same multiset, with and without room for singles") {
        for (const bool numbered : {false, true}) {
            test::for_seeds(test::cases(20), [&](Rng& rng, std::uint64_t) {
                Sums sums(100);
                if (numbered) sums.number_singles(4, 3);  // some of the contributions, not all
                std::map<Counted, SumId> known;
                std::vector<std::pair<SumId, Counted>> all;
                const auto note = [&](SumId id, const Counted& is) {
                    CHECK(counted(sums, id) == is);
                    const auto [found, fresh] = known.try_emplace(is, id);
                    CHECK(found->second == id);
                    all.emplace_back(id, is);
                };
                for (int i = 0; i < 60; ++i) {
                    if (all.empty() || rng.below(3) == 0) {
                        const auto rank = static_cast<std::int32_t>(rng.below(6));
                        const auto chunk = static_cast<std::int64_t>(rng.below(5)) - 1;
                        note(rng.below(2) == 0 ? sums.single(rank, chunk) : sums.of({{chunk, rank, rank, 1}}),
                             {{{rank, chunk}, 1}});
                        continue;
                    }
                    const auto& [a, of_a] = all[rng.below(all.size())];
                    const auto& [b, of_b] = all[rng.below(all.size())];
                    Counted both = of_a;
                    for (const auto& [what, times] : of_b) both[what] += times;
                    const auto many = [](const auto& each) { return each.second > 1000; };
                    if (std::ranges::any_of(both, many)) continue;
                    note(sums.sum(a, b), both);
                }
                // Different multisets have different numbers.
                std::vector<SumId> ids;
                for (const auto& [is, id] : known) ids.push_back(id);
                std::ranges::sort(ids);
                CHECK(std::ranges::adjacent_find(ids) == ids.end());
            });
        }
    }
    TEST_CASE("where there are not numbers enough for all singles they are kept like other sums") {
        Sums sums(10);
        sums.number_singles(1 << 20, 1 << 20);
        const SumId one = sums.single(5, 7);
        CHECK(counted(sums, one) == Counted{{{5, 7}, 1}});
        CHECK(one == sums.single(5, 7));
        CHECK(one != sums.single(7, 5));
    }
}

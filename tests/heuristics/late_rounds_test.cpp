#include "heuristics/levels/late_rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>

using namespace tutti::heuristics;

TEST_CASE("a root's partners change, in as many rounds as a broadcast needs") {
    for (const std::size_t npus : {4U, 8U, 16U, 32U, 64U}) {
        for (const std::size_t chunks : {std::size_t{1}, npus / 2, npus - 1, npus, 3 * npus}) {
            CAPTURE(npus);
            CAPTURE(chunks);
            const LateRounds plan = late_rounds(npus, chunks);
            CHECK(plan.rounds.size() == chunks - 1 + std::size_t(std::countr_zero(npus)));
            REQUIRE(plan.partners.size() == chunks);
            std::vector<std::set<std::uint32_t>> has(npus);
            for (std::uint32_t c = 0; c < chunks; ++c) has[0].insert(c);
            for (std::size_t r = 0; r < plan.rounds.size(); ++r) {
                std::set<std::uint32_t> senders, receivers;
                for (const BlockMessage& message : plan.rounds[r]) {
                    CHECK(senders.insert(message.from).second);
                    CHECK(receivers.insert(message.to).second);
                    CHECK(has[message.from].contains(message.chunk));
                }
                if (r < chunks) CHECK_FALSE(senders.contains(plan.partners[r]));
                for (const BlockMessage& message : plan.rounds[r])
                    CHECK(has[message.to].insert(message.chunk).second);
            }
            CHECK(std::ranges::all_of(has, [&](const auto& some) { return some.size() == chunks; }));
            std::vector<std::size_t> uses(npus, 0);
            for (std::size_t r = 0; r < chunks; ++r) {
                const auto partner = plan.partners[r];
                CHECK(std::ranges::find(plan.rounds[r],
                                        BlockMessage{0, partner, static_cast<std::uint32_t>(r)}) !=
                      plan.rounds[r].end());
                ++uses[partner];
            }
            CHECK(*std::ranges::max_element(uses) == (chunks + npus - 2) / (npus - 1));
        }
    }
}

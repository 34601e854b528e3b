#include "lang/verbs_aside.hpp"

#include "core/rng.hpp"
#include "tests/support/cases.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace tutti;
using namespace tutti::lang;

namespace {

/// Mostly a small number, or nearly the last one; sometimes any.
std::uint32_t next(std::uint32_t last, Rng& rng) {
    switch (rng.below(6)) {
        case 0:
            return static_cast<std::uint32_t>(rng.below(std::uint64_t{1} << 32U));
        case 1:
            return static_cast<std::uint32_t>(rng.below(4)) - 2;
        case 2:
            return last + 1;
        case 3:
            return last - static_cast<std::uint32_t>(rng.below(300));
        default:
            return last;
    }
}

Verb next(const Verb& last, Rng& rng) {
    const auto sign = [&](std::int32_t of) {
        return static_cast<std::int32_t>(next(static_cast<std::uint32_t>(of), rng));
    };
    return {.kind = rng.below(2) == 0 ? Verb::Kind::Copy : Verb::Kind::Reduce,
            .from = {next(last.from.rank, rng), next(last.from.buffer, rng), next(last.from.index, rng)},
            .to = {next(last.to.rank, rng), next(last.to.buffer, rng), next(last.to.index, rng)},
            .count = next(last.count, rng),
            .directive = {sign(last.directive.send_block), sign(last.directive.receive_block),
                          sign(last.directive.channel)},
            .place = next(last.place, rng)};
}

}  // namespace

TEST_SUITE("lang: verbs put aside") {
    TEST_CASE("verbs come back as they were") {
        test::for_seeds(test::cases(40), [](Rng& rng, std::uint64_t) {
            Trace trace;
            for (std::uint64_t verbs = rng.below(60); verbs > 0; --verbs)
                trace.verbs.push_back(next(trace.verbs.empty() ? Verb{} : trace.verbs.back(), rng));
            const Trace before = trace;
            VerbsAside aside;
            aside.take(trace);
            CHECK(trace.verbs.empty());
            aside.give_back(trace);
            CHECK(trace == before);
            aside.give_back(trace);  // nothing is there any more
            CHECK(trace == before);
        });
    }
}

#include "heuristics/levels/block_rounds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <set>

using namespace tutti::heuristics;

namespace {

/// Whether the plan is a broadcast in which everybody sends and receives at most once in a round, and sends
/// only what it had before.
bool is_broadcast(const BlockRounds& plan, std::size_t npus, std::size_t chunks) {
    std::vector<std::set<std::uint32_t>> has(npus);
    for (std::uint32_t c = 0; c < chunks; ++c) has[0].insert(c);
    for (const auto& round : plan) {
        std::set<std::uint32_t> senders, receivers;
        for (const BlockMessage& message : round) {
            if (!senders.insert(message.from).second || !receivers.insert(message.to).second) return false;
            if (!has[message.from].contains(message.chunk)) return false;
        }
        for (const BlockMessage& message : round) has[message.to].insert(message.chunk);
    }
    return std::ranges::all_of(has, [&](const auto& some) { return some.size() == chunks; });
}

}  // namespace

TEST_CASE("broadcasts in rounds take c - 1 + ceil(log2 n) of them, for every n") {
    for (std::size_t npus = 1; npus <= 70; ++npus) {
        for (const std::size_t chunks : {1U, 2U, 7U, 16U}) {
            CAPTURE(npus);
            CAPTURE(chunks);
            const std::size_t rounds = npus == 1 ? 0 : chunks - 1 + std::size_t(std::bit_width(npus - 1));
            const BlockRounds circulant = circulant_rounds(npus, chunks);
            CHECK(circulant.size() == rounds);
            CHECK(is_broadcast(circulant, npus, chunks));
            if (!std::has_single_bit(npus)) continue;
            const BlockRounds cube = cube_rounds(npus, chunks);
            CHECK(cube.size() == rounds);
            CHECK(is_broadcast(cube, npus, chunks));
        }
    }
}

TEST_CASE("broadcasts in rounds suit numbers around large powers of two") {
    for (const std::size_t npus : {255U, 257U, 513U, 1'000U, 2'047U})
        CHECK(is_broadcast(circulant_rounds(npus, 3), npus, 3));
}

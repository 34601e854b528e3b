// Recursive doubling: in round i, ranks that differ in bit i exchange what they have: log2 n rounds, each
// with all the data. Where n is no power of two, the ranks beyond the largest power hand their data to a
// partner first and get the result last. Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005, sections 3.1
// and 4.5.

#include "lang/library/algorithms.hpp"

#include <bit>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

void double_sums(Program& p) {
    const std::uint32_t k = p.shape().chunks, whole = std::bit_floor(p.ranks());
    const std::uint32_t parked = p.scratch("scratch");
    fold_rest(p, whole);
    std::uint32_t round = 0;
    for (std::uint32_t bit = 1; bit < whole; bit *= 2, ++round) {
        // What is sent is what was there before the round, so it is parked before anything is added.
        for (std::uint32_t r = 0; r < whole; ++r) {
            (void)p.chunk(r, kOutput, 0, k).copy(r ^ bit, parked, round * k);
        }
        for (std::uint32_t r = 0; r < whole; ++r) {
            (void)p.chunk(r, kOutput, 0, k).reduce(p.chunk(r, parked, round * k, k));
        }
    }
    hand_back(p, whole);
}

void double_copies(Program& p) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    keep_own_share(p);
    for (std::uint32_t bit = 1; bit < n; bit *= 2) {
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t first = (r & ~(bit - 1)) * k;
            (void)p.chunk(r, kOutput, first, bit * k).copy(r ^ bit, kOutput, first);
        }
    }
}

}  // namespace

Algorithm recursive_doubling() {
    return {.name = "recursive-doubling",
            .about = "pairs exchange all they have, in log n rounds",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {Kind::AllReduce, Kind::AllGather},
            .parameters = {{"chunks", "chunks of a rank's share, sent in one step", 1, 1, 16}},
            .why_not = [](const Settings& settings) -> std::string {
                return settings.request.kind == Kind::AllGather ? power_of_two_only(settings.request.ranks)
                                                                : "";
            },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write =
                [](Program& p, const Settings& settings) {
                    settings.request.kind == Kind::AllReduce ? double_sums(p) : double_copies(p);
                }};
}

}  // namespace tutti::lang::library

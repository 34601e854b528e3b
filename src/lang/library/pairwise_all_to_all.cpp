// All-to-all between pairs: in round s rank r exchanges blocks with rank r xor s, so that in each of n - 1
// rounds everybody talks with one other only, in both directions. For powers of two; the shifts of
// direct-all-to-all do the same for any number of ranks, with different ranks to send to and to receive from.
// Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 3.4 (pairwise exchange).

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

void write_pairwise_all_to_all(Program& p, const Settings& /*settings*/) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t park = p.shape().in_place ? p.scratch("scratch") : 0;
    for (std::uint32_t s = 0; s < n; ++s) {
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t other = r ^ s;
            const Ref block = p.chunk(r, kInput, other * k, k);
            // In place the partner's block lies where this one goes to: both are parked.
            (void)(p.shape().in_place && s > 0 ? block.copy(other, park, r * k)
                                               : block.copy(other, kOutput, r * k));
        }
        if (!p.shape().in_place || s == 0) continue;
        for (std::uint32_t r = 0; r < n; ++r)
            (void)p.chunk(r, park, (r ^ s) * k, k).copy(r, kOutput, (r ^ s) * k);
    }
}

}  // namespace

Algorithm pairwise_all_to_all() {
    return {.name = "pairwise-all-to-all",
            .about = "n - 1 rounds; in each, pairs exchange their blocks; also in place",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {CollectiveKind::AllToAll},
            .parameters = {{"chunks", "chunks of a block, sent in one step", 1, 1, 64}},
            .why_not = [](const Settings& settings) { return power_of_two_only(settings.request.ranks); },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_pairwise_all_to_all};
}

}  // namespace tutti::lang::library

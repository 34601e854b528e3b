// Bruck's algorithm: all-gather in ceil(log2 n) rounds for any n. In round i every rank sends what it has, at
// most as much as is still wanted, to the rank 2^i before it. Blocks lie in the order of their distance from
// the rank, and are turned at the end.
// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, TPDS 1997, section 3.

#include "lang/library/algorithms.hpp"

#include <algorithm>

namespace tutti::lang::library {
namespace {

void write_bruck(Program& p, const Settings& /*settings*/) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t turned = p.scratch("scratch");  // block d of rank r is of rank r + d
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, kInput, 0, k).copy(r, turned, 0);
    for (std::uint32_t have = 1; have < n; have *= 2) {
        const std::uint32_t blocks = std::min(have, n - have);
        for (std::uint32_t r = 0; r < n; ++r) {
            (void)p.chunk((r + have) % n, turned, 0, blocks * k).copy(r, turned, have * k);
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
        // Two runs: up to the last rank, and from rank 0 on.
        (void)p.chunk(r, turned, 0, (n - r) * k).copy(r, kOutput, r * k);
        if (r > 0) (void)p.chunk(r, turned, (n - r) * k, r * k).copy(r, kOutput, 0);
    }
}

}  // namespace

Algorithm bruck() {
    return {.name = "bruck",
            .about = "all-gather in ceil(log2 n) rounds for any number of ranks",
            .source = "Bruck et al., TPDS 1997",
            .kinds = {CollectiveKind::AllGather},
            .parameters = {{"chunks", "chunks of a rank's share, sent in one step", 1, 1, 16}},
            .why_not = [](const Settings&) { return std::string(); },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_bruck};
}

}  // namespace tutti::lang::library

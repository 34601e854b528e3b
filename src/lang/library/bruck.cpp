// Bruck's algorithms: ceil(log n) rounds for any n, where the logarithm has the base `radix`; a rank sends
// radix - 1 messages in a round.
//
// All-gather: in a round every rank gets, from ranks `have`, 2 have, ... behind it, what these have, at most
// as much as it still wants. Blocks lie in the order of their distance from the rank, and are turned at the
// end.
//
// All-to-all: the block for the rank at distance d goes there by the digits of d: in round i all blocks whose
// digit i is j go j radix^i ranks on, as one message. So about n / radix blocks are in a message, and a block
// moves as often as its distance has digits other than 0. Blocks of a message lie apart: they are packed.
//
// Source: Bruck, Ho, Kipnis, Upfal and Weathersby, TPDS 1997, sections 2 (all-to-all) and 3 (all-gather).

#include "lang/library/algorithms.hpp"

#include <algorithm>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

void gather(Program& p, std::uint32_t radix) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t turned = p.scratch("scratch");  // block d of rank r is of rank r + d
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, kInput, 0, k).copy(r, turned, 0);
    for (std::uint32_t have = 1; have < n; have *= radix) {
        for (std::uint32_t j = 1; j < radix && j * have < n; ++j) {
            const std::uint32_t blocks = std::min(have, n - j * have);
            for (std::uint32_t r = 0; r < n; ++r) {
                (void)p.chunk((r + j * have) % n, turned, 0, blocks * k).copy(r, turned, j * have * k);
            }
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
        // Two runs: up to the last rank, and from rank 0 on.
        (void)p.chunk(r, turned, 0, (n - r) * k).copy(r, kOutput, r * k);
        if (r > 0) (void)p.chunk(r, turned, (n - r) * k, r * k).copy(r, kOutput, 0);
    }
}

/// Slot d of every rank: the block that has still to go the distance d, or what is left of it.
void exchange(Program& p, std::uint32_t radix) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t out = p.scratch("out"), in = p.scratch("in");
    std::vector<std::uint32_t> arrived(n, 0);  // where in `in`, plus 1; 0: it has not moved
    std::uint32_t used = 0;
    const auto slot = [&](std::uint32_t r, std::uint32_t d) {
        return arrived[d] == 0 ? p.chunk(r, kInput, (r + d) % n * k, k) : p.chunk(r, in, arrived[d] - 1, k);
    };
    for (std::uint32_t step = 1; step < n; step *= radix) {
        for (std::uint32_t j = 1; j < radix && j * step < n; ++j) {
            std::vector<std::uint32_t> moved;
            for (std::uint32_t d = 0; d < n; ++d) {
                if (d / step % radix == j) moved.push_back(d);
            }
            const auto count = static_cast<std::uint32_t>(moved.size());
            for (std::uint32_t r = 0; r < n; ++r) {
                for (std::uint32_t i = 0; i < count; ++i) (void)slot(r, moved[i]).copy(r, out, used + i * k);
            }
            for (std::uint32_t r = 0; r < n; ++r)
                (void)p.chunk(r, out, used, count * k).copy((r + j * step) % n, in, used);
            for (std::uint32_t i = 0; i < count; ++i) arrived[moved[i]] = used + i * k + 1;
            used += count * k;
        }
    }
    for (std::uint32_t r = 0; r < n; ++r) {
        for (std::uint32_t d = 0; d < n; ++d) (void)slot(r, d).copy(r, kOutput, (r + n - d) % n * k);
    }
}

void write_bruck(Program& p, const Settings& settings) {
    settings.request.kind == Kind::AllGather ? gather(p, settings["radix"]) : exchange(p, settings["radix"]);
}

}  // namespace

Algorithm bruck() {
    return {.name = "bruck",
            .about = "all-gather or all-to-all in ceil(log n) rounds for any number of ranks",
            .source = "Bruck et al., TPDS 1997",
            .kinds = {Kind::AllGather, Kind::AllToAll},
            .parameters = {{"radix", "the base of the logarithm; messages of a round plus 1", 2, 2, 64},
                           {"chunks", "chunks of a rank's share, sent in one step", 1, 1, 16}},
            .why_not = [](const Settings&) { return std::string(); },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_bruck};
}

}  // namespace tutti::lang::library

// Halving and doubling: a reduce-scatter in which the data is halved in every round, then an all-gather in
// which it is doubled: log2 n rounds each, and the least data. Where n is no power of two, ranks beyond the
// largest power are folded as in recursive doubling.
// Source: Rabenseifner 2004; Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.

#include "lang/library/algorithms.hpp"

#include <bit>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// The sums of the shares: rank r (below `whole`) ends with the sum of share r.
void halve(Program& p, std::uint32_t whole, std::uint32_t share) {
    const std::uint32_t parked = p.scratch("scratch"), work = work_buffer(p);
    std::uint32_t used = 0;
    for (std::uint32_t bit = whole / 2; bit > 0; bit /= 2) {
        const std::uint32_t size = bit * share;
        // The half of the partner, that is the half in which its bit lies.
        const auto half_of = [&](std::uint32_t rank) { return (rank & ~(bit - 1)) * share; };
        for (std::uint32_t r = 0; r < whole; ++r) {
            (void)p.chunk(r, work, half_of(r ^ bit), size).copy(r ^ bit, parked, used);
        }
        for (std::uint32_t r = 0; r < whole; ++r) {
            (void)p.chunk(r, work, half_of(r), size).reduce(p.chunk(r, parked, used, size));
        }
        used += size;
    }
}

void write_halving_doubling(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), whole = std::bit_floor(n);
    const std::uint32_t share = settings["chunks"], all = whole * share;
    const std::uint32_t work = work_buffer(p);
    for (std::uint32_t r = 0; r < whole; ++r) (void)writable(p, r, 0, all);
    for (std::uint32_t r = whole; r < n; ++r) {
        (void)p.chunk(r - whole, work, 0, all).reduce(p.chunk(r, kInput, 0, all));
    }
    halve(p, whole, share);
    for (std::uint32_t r = 0; r < whole; ++r) {
        const bool scatters = settings.request.kind == Kind::ReduceScatter;
        (void)p.chunk(r, work, r * share, share).copy(r, kOutput, scatters ? 0 : r * share);
    }
    if (settings.request.kind == Kind::ReduceScatter) return;
    for (std::uint32_t bit = 1; bit < whole; bit *= 2) {
        for (std::uint32_t r = 0; r < whole; ++r) {
            const std::uint32_t first = (r & ~(bit - 1)) * share;
            (void)p.chunk(r, kOutput, first, bit * share).copy(r ^ bit, kOutput, first);
        }
    }
    for (std::uint32_t r = whole; r < n; ++r) (void)p.chunk(r - whole, kOutput, 0, all).copy(r, kOutput, 0);
}

}  // namespace

Algorithm halving_doubling() {
    return {.name = "halving-doubling",
            .about = "the data is halved in log n rounds of sums, and doubled in as many of copies",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {Kind::AllReduce, Kind::ReduceScatter},
            .parameters = {{"chunks", "chunks of a rank's share", 1, 1, 16}},
            .why_not = [](const Settings& settings) -> std::string {
                return settings.request.kind == Kind::ReduceScatter
                           ? power_of_two_only(settings.request.ranks)
                           : "";
            },
            .chunks =
                [](const Settings& settings) {
                    const std::uint32_t shares = settings.request.kind == Kind::ReduceScatter
                                                     ? 1
                                                     : std::bit_floor(settings.request.ranks);
                    return shares * settings["chunks"];
                },
            .write = write_halving_doubling};
}

}  // namespace tutti::lang::library

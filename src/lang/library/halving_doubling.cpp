// Halving and doubling: a reduce-scatter in which the data is halved in every round, then an all-gather in
// which it is doubled: log2 n rounds each, and the least data. Where n is no power of two, ranks beyond the
// largest power are folded: they hand their data to a partner first and get the result last.
// Source: Rabenseifner 2004; Thakur, Rabenseifner and Gropp, IJHPCA 2005, section 4.

#include "lang/library/algorithms.hpp"
#include "lang/library/butterfly.hpp"

#include <bit>
#include <numeric>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

void write_halving_doubling(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), whole = std::bit_floor(n);
    const std::uint32_t share = settings["chunks"], all = whole * share;
    const Kind kind = settings.request.kind;
    const Butterfly rounds = halving(whole);
    std::vector<std::uint32_t> ranks(whole);
    std::iota(ranks.begin(), ranks.end(), 0U);
    std::vector<Share> shares(whole);
    for (std::uint32_t r = 0; r < whole; ++r) shares[r] = {{r * share, share}};
    if (kind == Kind::AllGather) {
        keep_own_share(p);
        return double_copies(p, ranks, shares, rounds, kOutput);
    }
    const std::uint32_t work = work_buffer(p);
    if (kind == Kind::AllReduce) {
        fold_rest(p, whole);
    } else {
        for (std::uint32_t r = 0; r < n; ++r) (void)writable(p, r, 0, all);
    }
    halve_sums(p, ranks, shares, rounds, work);
    if (kind == Kind::ReduceScatter) {
        for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, work, r * share, share).copy(r, kOutput, 0);
        return;
    }
    double_copies(p, ranks, shares, rounds, kOutput);
    hand_back(p, whole);
}

}  // namespace

Algorithm halving_doubling() {
    return {.name = "halving-doubling",
            .about = "the data is halved in log n rounds of sums, and doubled in as many of copies",
            .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
            .kinds = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter},
            .parameters = {{"chunks", "chunks of a rank's share", 1, 1, 16}},
            .why_not = [](const Settings& settings) -> std::string {
                return settings.request.kind == Kind::AllReduce ? ""
                                                                : power_of_two_only(settings.request.ranks);
            },
            .chunks =
                [](const Settings& settings) {
                    const std::uint32_t shares =
                        settings.request.kind == Kind::AllReduce ? std::bit_floor(settings.request.ranks) : 1;
                    return shares * settings["chunks"];
                },
            .write = write_halving_doubling};
}

}  // namespace tutti::lang::library

// All pairs, in two steps: every rank sends every other the share that is its own to sum up, adds what comes,
// and sends the sum to all. Two latencies; every pair of ranks has its own connection. What came is added up
// as a chain, each to the sum so far, or as a tree, in which additions do not wait for all earlier arrivals.
//
// Where a share has several chunks, each may begin with what came from another rank (`spread`): an addition
// is done by the thread block that received, so all of them add at the same time. As a tree there is one
// chain of dependencies for all chunks, and `spread` means nothing. Source: Cowan et al., MSCCLang, ASPLOS
// 2023, section 2; MSCCL++ uses it for small sizes.

#include "lang/library/algorithms.hpp"

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

void reduce_into(Program& p, std::uint32_t rank, std::uint32_t first, std::uint32_t share,
                 std::uint32_t scratch, bool tree, bool spread) {
    const std::uint32_t n = p.ranks();
    for (std::uint32_t s = 1; s < n; ++s) {
        (void)p.chunk((rank + s) % n, kInput, first, share).copy(rank, scratch, (s - 1) * share);
    }
    if (spread && !tree) {
        for (std::uint32_t i = 0; i < share; ++i) {
            Ref sum = writable(p, rank, first + i, 1);
            for (std::uint32_t s = 0; s + 1 < n; ++s)
                sum = sum.reduce(p.chunk(rank, scratch, (i + s) % (n - 1) * share + i, 1));
        }
        return;
    }
    if (tree) {
        for (std::uint32_t bit = 1; bit < n - 1; bit *= 2) {
            for (std::uint32_t i = 0; i + bit < n - 1; i += 2 * bit) {
                (void)p.chunk(rank, scratch, i * share, share)
                    .reduce(p.chunk(rank, scratch, (i + bit) * share, share));
            }
        }
        (void)writable(p, rank, first, share).reduce(p.chunk(rank, scratch, 0, share));
        return;
    }
    Ref sum = writable(p, rank, first, share);
    for (std::uint32_t s = 1; s < n; ++s) sum = sum.reduce(p.chunk(rank, scratch, (s - 1) * share, share));
}

void write_all_pairs(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const Kind kind = settings.request.kind;
    const std::uint32_t share = kind == Kind::AllReduce ? k / n : k;
    if (kind == Kind::AllGather) {
        keep_own_share(p);
    } else {
        const std::uint32_t scratch = p.scratch("scratch");
        for (std::uint32_t r = 0; r < n; ++r)
            reduce_into(p, r, r * share, share, scratch, settings["tree"] == 1, settings["spread"] == 1);
    }
    for (std::uint32_t r = 0; r < n; ++r) {
        if (kind == Kind::ReduceScatter) {
            (void)p.chunk(r, work_buffer(p), r * share, share).copy(r, kOutput, 0);
            continue;
        }
        for (std::uint32_t s = 1; s < n; ++s) {
            (void)p.chunk(r, kOutput, r * share, share).copy((r + s) % n, kOutput, r * share);
        }
    }
}

}  // namespace

Algorithm all_pairs() {
    return {
        .name = "all-pairs",
        .about = "everybody sums up its share, then sends it to all: two latencies",
        .source = "Cowan et al. (MSCCLang), ASPLOS 2023",
        .kinds = {Kind::AllReduce, Kind::AllGather, Kind::ReduceScatter},
        .parameters = {{"chunks", "chunks of a rank's share, sent in one step", 1, 1, 64},
                       {"tree", "1: what comes is added up as a tree, 0: as a chain", 0, 0, 1, Knob::Any},
                       {"spread", "1: each chunk is added up from another rank on, in several thread blocks",
                        0, 0, 1, Knob::Any}},
        .why_not = [](const Settings&) { return std::string(); },
        .chunks =
            [](const Settings& settings) {
                return settings["chunks"] *
                       (settings.request.kind == Kind::AllReduce ? settings.request.ranks : 1);
            },
        .write = write_all_pairs};
}

}  // namespace tutti::lang::library

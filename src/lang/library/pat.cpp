// PAT, parallel aggregated trees: the block of every rank goes to the others through a binomial tree, far
// first, all trees being shifts of one. With d the distance from the block's rank, whoever has the block at d
// hands it to d + 2^b. What many trees do at the same time towards the same rank is sent as one message of
// `aggregation` blocks: that many stretches of the distances are entered first, in log2 many far steps, and
// are then walked side by side, each as deep as it goes before the next branch, so that a rank holds few
// blocks that it has to pass on. So it is Bruck's algorithm with aggregation n / 2, and n - 1 messages, still
// over short distances, with aggregation 1. A reduce-scatter is the same backwards. Any number of ranks.
//
// Source: Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, arXiv
// 2506.20252, sections 3 and 4. Blocks of one message lie apart, so they are packed in scratch.

#include "lang/library/algorithms.hpp"

#include <algorithm>
#include <bit>

namespace tutti::lang::library {
namespace {

using Kind = CollectiveKind;

/// Blocks at these distances go on by `step`.
struct Transfer {
    std::uint32_t step;
    std::vector<std::uint32_t> distances;
};

/// The stretches beginning at `starts`, each of `length`: walked side by side, depth first.
void walk(std::vector<Transfer>& all, const std::vector<std::uint32_t>& starts, std::uint32_t length,
          std::uint32_t ranks) {
    for (std::uint32_t step = length / 2; step > 0; step /= 2) {
        std::vector<std::uint32_t> from, to;
        for (const std::uint32_t d : starts) {
            if (d + step >= ranks) continue;
            from.push_back(d);
            to.push_back(d + step);
        }
        if (from.empty()) continue;
        all.push_back({step, std::move(from)});
        walk(all, to, step, ranks);
    }
}

std::vector<Transfer> transfers_of(std::uint32_t ranks, std::uint32_t aggregation) {
    const std::uint32_t whole = std::bit_ceil(ranks);
    const std::uint32_t stretches = std::min(std::bit_floor(aggregation), std::max(whole / 2, 1U));
    std::vector<Transfer> all;
    std::vector<std::uint32_t> starts{0};
    std::uint32_t length = whole;
    for (std::uint32_t count = 1; count < stretches; count *= 2, length /= 2) {
        std::vector<std::uint32_t> from;
        for (const std::uint32_t d : std::vector(starts)) {
            if (d + length / 2 >= ranks) continue;
            from.push_back(d);
            starts.push_back(d + length / 2);
        }
        if (!from.empty()) all.push_back({length / 2, std::move(from)});
    }
    if (length > 1) walk(all, starts, length, ranks);
    return all;
}

void gather(Program& p, const std::vector<Transfer>& transfers) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t out = p.scratch("out"), in = p.scratch("in");
    keep_own_share(p);
    std::uint32_t used = 0;
    for (const auto& [step, distances] : transfers) {
        const auto count = static_cast<std::uint32_t>(distances.size());
        for (std::uint32_t r = 0; r < n; ++r) {
            const std::uint32_t to = (r + step) % n;
            const auto block = [&](std::uint32_t i) { return (r + n - distances[i]) % n * k; };
            if (count == 1) {
                (void)p.chunk(r, kOutput, block(0), k).copy(to, kOutput, block(0));
                continue;
            }
            for (std::uint32_t i = 0; i < count; ++i)
                (void)p.chunk(r, kOutput, block(i), k).copy(r, out, used + i * k);
            (void)p.chunk(r, out, used, count * k).copy(to, in, used);
            for (std::uint32_t i = 0; i < count; ++i)
                (void)p.chunk(to, in, used + i * k, k).copy(to, kOutput, block(i));
        }
        used += count * k;
    }
}

void scatter_sums(Program& p, const std::vector<Transfer>& transfers) {
    const std::uint32_t n = p.ranks(), k = p.shape().chunks;
    const std::uint32_t out = p.scratch("out"), in = p.scratch("in"), sums = work_buffer(p);
    for (std::uint32_t r = 0; r < n; ++r) (void)writable(p, r, 0, n * k);
    std::uint32_t used = 0;
    for (auto transfer = transfers.rbegin(); transfer != transfers.rend(); ++transfer) {
        const auto& [step, distances] = *transfer;
        const auto count = static_cast<std::uint32_t>(distances.size());
        for (std::uint32_t to = 0; to < n; ++to) {
            const std::uint32_t r = (to + step) % n;
            const auto block = [&](std::uint32_t i) { return (to + n - distances[i]) % n * k; };
            if (count == 1) {
                (void)p.chunk(to, sums, block(0), k).reduce(p.chunk(r, sums, block(0), k));
                continue;
            }
            for (std::uint32_t i = 0; i < count; ++i)
                (void)p.chunk(r, sums, block(i), k).copy(r, out, used + i * k);
            (void)p.chunk(r, out, used, count * k).copy(to, in, used);
            for (std::uint32_t i = 0; i < count; ++i)
                (void)p.chunk(to, sums, block(i), k).reduce(p.chunk(to, in, used + i * k, k));
        }
        used += count * k;
    }
    for (std::uint32_t r = 0; r < n; ++r) (void)p.chunk(r, sums, r * k, k).copy(r, kOutput, 0);
}

void write_pat(Program& p, const Settings& settings) {
    const auto transfers = transfers_of(p.ranks(), settings["aggregation"]);
    settings.request.kind == Kind::AllGather ? gather(p, transfers) : scatter_sums(p, transfers);
}

}  // namespace

Algorithm pat() {
    return {.name = "pat",
            .about = "shifted binomial trees, far first, with a number of blocks in one message",
            .source = "Jeaugey, arXiv 2506.20252",
            .kinds = {Kind::AllGather, Kind::ReduceScatter},
            .parameters = {{"aggregation", "blocks in one message, a power of two", 1024, 1, 1024},
                           {"chunks", "chunks of a rank's share", 1, 1, 16}},
            .why_not = [](const Settings& settings) -> std::string {
                return std::has_single_bit(settings["aggregation"]) ? ""
                                                                    : "the aggregation is no power of two";
            },
            .chunks = [](const Settings& settings) { return settings["chunks"]; },
            .write = write_pat};
}

}  // namespace tutti::lang::library

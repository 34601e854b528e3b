// Broadcast of c chunks among n NPUs on a crossbar, in c - 1 + ceil(log2 n) rounds, which no schedule of
// rounds can beat: the last chunk cannot leave the root before round c - 1, and at most doubles from then on.
// With q = ceil(log2 n) the pattern of the rounds repeats after q of them, only the chunks' numbers grow.
//
// Hypercube (n = 2^q; Johnsson and Ho 1989 have the spanning trees). In round t everybody exchanges along the
// dimension d = t mod q. The root sends chunk min(t, c - 1). NPU v sends the latest chunk i that it can have:
// i mod q is the position of the first one-bit of v at or, cyclically, after d, because along that dimension
// it entered the half of the cube in which v is; i = t - q if that is d itself. A number above c - 1 counts
// as c - 1.
//
// Circulant graph (any n; Traeff 2023, "Round-optimal n-Block Broadcast Schedules in Logarithmic Time"). The
// skips are s_q = n and s_k = ceil(s_{k+1} / 2) down to s_0 = 1. In round k of a phase v receives from
// v - s_k. A chunk that leaves the root in round e is first at s_e, then, as later rounds add larger skips,
// at sums of distinct skips whose smallest is s_e. In the q rounds of a phase v needs q different e. They are
// found by searching such sums x <= v + n - s_k in falling order, for k = 0, 1, ...: each takes an e that is
// still free. The sum n itself stands for v's new chunk, the one whose e is that of v itself; the others are
// of the phase before. The search visits each skip once for each sum it keeps. Simpler rules fail: sending
// the newest chunk that the receiver lacks takes a round more for n = 10, and for 17 to 20 as well.

#include "heuristics/levels/block_rounds.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <bit>
#include <optional>

namespace tutti::heuristics {
namespace {

std::size_t rounds_of(std::size_t npus, std::size_t chunks) {
    return npus == 1 ? 0 : chunks - 1 + static_cast<std::size_t>(std::bit_width(npus - 1));
}

/// What an NPU other than the root sends in a round of the hypercube.
std::optional<std::size_t> cube_chunk(std::size_t v, std::size_t round, std::size_t q, std::size_t chunks) {
    std::size_t ahead = 0;  // of the first one-bit, counted from the round's dimension on
    while ((v >> ((round + ahead) % q) & 1U) == 0) ++ahead;
    const std::size_t age = q - ahead;
    if (round < age) return std::nullopt;
    return std::min(round - age, chunks - 1);
}

/// The receptions of every NPU in a phase of rounds.
class Circulant {
  public:
    explicit Circulant(std::size_t npus) : npus_(static_cast<std::int64_t>(npus)) {
        const auto q = static_cast<std::size_t>(std::bit_width(npus - 1));
        skips_.assign(q + 1, npus_);
        for (std::size_t k = q; k-- > 0;) skips_[k] = (skips_[k + 1] + 1) / 2;
    }

    [[nodiscard]] std::size_t rounds() const { return skips_.size() - 1; }
    [[nodiscard]] std::int64_t skip(std::size_t round) const { return skips_[round]; }

    /// By round: the chunk's number, the first one that leaves the root in this phase being 0.
    std::vector<std::int64_t> receptions(std::int64_t npu) {
        const std::size_t q = rounds();
        const std::size_t own = first_skip(npu);
        goal_ = npu + npus_;
        last_ = 2 * npus_;
        found_.clear();
        is_free_.assign(q + 1, true);
        is_free_[own] = false;
        search(0, q);
        expects(found_.size() == q);
        std::vector<std::int64_t> chunks;
        for (const std::size_t e : found_)
            chunks.push_back(e == q ? static_cast<std::int64_t>(own)
                                    : static_cast<std::int64_t>(e) - static_cast<std::int64_t>(q));
        return chunks;
    }

  private:
    /// The smallest skip of the number as a sum of skips, largest first.
    [[nodiscard]] std::size_t first_skip(std::int64_t npu) const {
        std::int64_t sum = 0;
        for (std::size_t k = rounds(); k-- > 0;) {
            if (sum + skips_[k] > npu) continue;
            sum += skips_[k];
            if (sum == npu) return k;
        }
        return rounds();  // the root
    }

    /// Sums that begin with `sum`, plus free skips up to number `top`.
    void search(std::int64_t sum, std::size_t top) {
        for (std::size_t e = top + 1; e-- > 0;) {
            if (found_.size() == rounds()) return;
            const std::int64_t next = sum + skips_[e];
            if (!is_free_[e] || next > goal_ - skips_[found_.size()] || next >= last_) continue;
            if (e > 0 && next <= goal_ - skips_[found_.size() + 1]) search(next, e - 1);
            if (found_.size() == rounds() || sum > goal_ - skips_[found_.size() + 1]) return;
            last_ = next;
            found_.push_back(e);
            is_free_[e] = false;
        }
    }

    std::int64_t npus_;
    std::vector<std::int64_t> skips_;
    // Of one search.
    std::int64_t goal_ = 0, last_ = 0;
    std::vector<std::size_t> found_;  ///< by round
    std::vector<bool> is_free_;
};

}  // namespace

BlockRounds cube_rounds(std::size_t npus, std::size_t chunks) {
    expects(std::has_single_bit(npus) && chunks > 0);
    BlockRounds plan(rounds_of(npus, chunks));
    const auto q = static_cast<std::size_t>(std::countr_zero(npus));
    for (std::size_t round = 0; round < plan.size(); ++round) {
        for (std::size_t v = 0; v < npus; ++v) {
            const auto chunk = v == 0 ? std::min(round, chunks - 1) : cube_chunk(v, round, q, chunks);
            const std::size_t to = v ^ (std::size_t{1} << round % q);
            if (chunk && to != 0)
                plan[round].push_back({static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(to),
                                       static_cast<std::uint32_t>(*chunk)});
        }
    }
    return plan;
}

BlockRounds circulant_rounds(std::size_t npus, std::size_t chunks) {
    expects(npus > 0 && chunks > 0);
    BlockRounds plan(rounds_of(npus, chunks));
    if (npus == 1) return plan;
    Circulant circulant(npus);
    const std::size_t q = circulant.rounds();
    // Phases are whole at the end: the first one may be entered late.
    const std::size_t late = (q - (chunks - 1) % q) % q;
    const auto n = static_cast<std::int64_t>(npus);
    for (std::int64_t v = 1; v < n; ++v) {
        const auto receptions = circulant.receptions(v);
        for (std::size_t round = 0; round < plan.size(); ++round) {
            const std::size_t k = (round + late) % q;
            const auto before = static_cast<std::int64_t>(round + late - k) - static_cast<std::int64_t>(late);
            const std::int64_t chunk =
                std::min(receptions[k] + before, static_cast<std::int64_t>(chunks) - 1);
            if (chunk >= 0)
                plan[round].push_back({static_cast<std::uint32_t>((v + n - circulant.skip(k)) % n),
                                       static_cast<std::uint32_t>(v), static_cast<std::uint32_t>(chunk)});
        }
    }
    return plan;
}

}  // namespace tutti::heuristics

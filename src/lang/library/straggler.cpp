// StragglAR: an all-reduce in which one rank may come late. The others, n - 1 of them, have summed up their
// data meanwhile: each has the sum of one chunk. When the late rank is there, it exchanges one chunk after
// the other with its owner, which completes it for both; the others pass on what is complete, so that after
// about n - 2 + log2 n rounds of one chunk everybody has all. That is half of what an all-reduce takes that
// begins when the last one is there.
//
// Source: Devraj, Ding, Kumar, Kleinberg and Singh, Efficient AllReduce with Stragglers, arXiv 2505.23523,
// sections 3 and 4. There the rounds are constructed for powers of two; here, for any n, each round is a
// largest matching of those who have something with those who lack it (augmenting paths; ranks with least
// first, and of a pair's choices the chunk that fewest have). That takes one round more than the paper's: 4,
// 10, 19 and 36 for 4, 8, 16 and 32 ranks. Taking pairs greedily, rarest chunk first, takes 13, 29 and 61.
//
// The times that tutti prints let all ranks start together, where it is no better than others: it is meant
// for a rank that is known to be late.

#include "lang/library/algorithms.hpp"
#include "lang/library/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tutti::lang::library {
namespace {

/// Chunk `chunk` goes from a member to another; members are 0 … m - 1 and the late one, m.
struct Handover {
    std::uint32_t chunk, from, to;
};

/// Who has which complete chunks, and what is handed over in a round.
class Spreading {
  public:
    explicit Spreading(std::uint32_t owners)
        : owners_(owners), has_(owners + 1, std::vector<bool>(owners, false)), copies_(owners, 0) {}

    void complete(std::uint32_t chunk, std::uint32_t member) {
        if (has_[member][chunk]) return;
        has_[member][chunk] = true;
        ++copies_[chunk];
    }
    [[nodiscard]] bool done() const {
        return std::ranges::all_of(copies_, [&](std::uint32_t copies) { return copies == owners_ + 1; });
    }

    /// Among those that do not exchange with the late one in this round. O(n^3) for n members.
    [[nodiscard]] std::vector<Handover> round(const std::vector<bool>& busy) {
        const auto members = static_cast<std::uint32_t>(has_.size());
        gift_.assign(members, std::vector<std::uint32_t>(members, kNothing));
        receiver_.assign(members, kNothing);
        std::vector<std::uint32_t> order;
        for (std::uint32_t to = 0; to < members; ++to) {
            if (busy[to]) continue;
            order.push_back(to);
            for (std::uint32_t from = 0; from < members; ++from) {
                if (!busy[from]) gift_[to][from] = rarest(from, to);
            }
        }
        std::ranges::stable_sort(
            order, {}, [&](std::uint32_t member) { return std::ranges::count(has_[member], true); });
        for (const std::uint32_t to : order) {
            std::vector<bool> seen(members, false);
            (void)match(to, seen);
        }
        std::vector<Handover> all;
        for (std::uint32_t from = 0; from < members; ++from) {
            if (receiver_[from] == kNothing) continue;
            // What was handed over since counts, so that several do not choose one chunk.
            all.push_back({rarest(from, receiver_[from]), from, receiver_[from]});
            ++copies_[all.back().chunk];
        }
        for (const Handover& handover : all) has_[handover.to][handover.chunk] = true;
        return all;
    }

  private:
    static constexpr std::uint32_t kNothing = ~std::uint32_t{0};

    /// The chunk that fewest have of those that `from` has and `to` lacks.
    [[nodiscard]] std::uint32_t rarest(std::uint32_t from, std::uint32_t to) const {
        std::uint32_t best = kNothing;
        for (std::uint32_t chunk = 0; chunk < owners_; ++chunk) {
            if (has_[from][chunk] && !has_[to][chunk] && (best == kNothing || copies_[chunk] < copies_[best]))
                best = chunk;
        }
        return best;
    }

    /// Finds a sender for `to`, others make room if they can.
    bool match(std::uint32_t to, std::vector<bool>& seen) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> senders;
        for (std::uint32_t from = 0; from < has_.size(); ++from) {
            if (gift_[to][from] != kNothing) senders.emplace_back(copies_[gift_[to][from]], from);
        }
        std::ranges::sort(senders);
        for (const auto& [copies, from] : senders) {
            if (seen[from]) continue;
            seen[from] = true;
            if (receiver_[from] == kNothing || match(receiver_[from], seen)) {
                receiver_[from] = to;
                return true;
            }
        }
        return false;
    }

    std::uint32_t owners_;
    std::vector<std::vector<bool>> has_;  ///< [member][chunk]
    std::vector<std::uint32_t> copies_;   ///< [chunk]
    // Of the round that is being made:
    std::vector<std::vector<std::uint32_t>> gift_;  ///< [to][from]: a chunk that could be handed over
    std::vector<std::uint32_t> receiver_;           ///< [from]
};

void write_straggler(Program& p, const Settings& settings) {
    const std::uint32_t n = p.ranks(), owners = n - 1, late = settings["late"];
    const std::uint32_t size = p.shape().chunks / owners;
    std::vector<std::uint32_t> ranks;
    std::vector<Share> shares;
    for (std::uint32_t r = 0; r < n; ++r) (void)writable(p, r, 0, p.shape().chunks);
    for (std::uint32_t r = 0; r < n; ++r) {
        if (r == late) continue;
        shares.push_back({{static_cast<std::uint32_t>(ranks.size()) * size, size}});
        ranks.push_back(r);
    }
    sum_shares(p, ranks, shares, static_cast<Style>(settings["early"]), work_buffer(p), {.channel = 0});
    ranks.push_back(late);
    Spreading spreading(owners);
    const std::uint32_t park = p.scratch("scratch");
    for (std::uint32_t t = 0; t < owners || !spreading.done(); ++t) {
        std::vector<bool> busy(n, false);
        if (t < owners) busy[t] = busy[owners] = true;
        for (const auto& [chunk, from, to] : spreading.round(busy)) {
            (void)p.chunk(ranks[from], kOutput, chunk * size, size).copy(ranks[to], kOutput, chunk * size);
        }
        if (t >= owners) continue;
        // Both sides send before either sum changes.
        (void)p.chunk(ranks[t], kOutput, t * size, size).copy(late, park, t * size, {.channel = 1});
        (void)p.chunk(late, kOutput, t * size, size).copy(ranks[t], park, t * size, {.channel = 1});
        for (const std::uint32_t rank : {ranks[t], late})
            (void)p.chunk(rank, kOutput, t * size, size).reduce(p.chunk(rank, park, t * size, size));
        spreading.complete(t, t);
        spreading.complete(t, owners);
    }
}

}  // namespace

Algorithm straggler() {
    return {
        .name = "straggler",
        .about = "all but one sum up first; the late rank then completes one chunk after the other",
        .source = "Devraj et al. (StragglAR), arXiv 2505.23523",
        .kinds = {CollectiveKind::AllReduce},
        .parameters = {{"late", "the rank that comes late", 0, 0, 1023, Knob::None},
                       {"early", "how the others sum up: 0 ring, 1 all pairs", 0, 0, 1, Knob::Any},
                       {"chunks", "chunks of a rank's share, sent in one step", 1, 1, 16}},
        .why_not = [](const Settings& settings) -> std::string {
            const std::uint32_t n = settings.request.ranks;
            return settings["late"] < n ? ""
                                        : fmt::format("the late rank {} is none of {}", settings["late"], n);
        },
        .chunks = [](const Settings& settings) { return settings["chunks"] * (settings.request.ranks - 1); },
        .write = write_straggler};
}

}  // namespace tutti::lang::library

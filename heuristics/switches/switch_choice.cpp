// Chooses, among some available chunks from a random position on, one that the fewest holders have claimed;
// or first the chunks that the source had from the beginning, which keeps the order of the Latin square
// (switch_flood.cpp). Neither rule is better everywhere, so one is chosen at random per run.

#include "heuristics/switches/switch_choice.hpp"

#include <algorithm>
#include <bit>

namespace tutti::heuristics {
namespace {

/// Chunks among which the rarest is taken.
constexpr std::size_t kChunksWeighed = 24;

bool is_set(std::span<const BitTable::Word> row, std::uint32_t i) {
    return ((row[i / 64] >> (i % 64)) & 1U) != 0;
}

}  // namespace

/// Chooses among the chunks of which the holder is a source.
std::optional<std::uint32_t> SwitchChoice::choose_own(const std::vector<std::uint32_t>& own, Row has,
                                                      Row claimed, Row barred) {
    if (own.empty()) return std::nullopt;
    std::optional<std::uint32_t> best;
    std::size_t k = own.size() > 1 ? rng_.below(own.size()) : 0;
    for (std::size_t weighed = 0; weighed < std::min(own.size(), kChunksWeighed); ++weighed, ++k) {
        if (k >= own.size()) k = 0;
        const std::uint32_t i = own[k];
        if (is_set(claimed, i) || !is_set(has, i)) continue;
        if (!barred.empty() && is_set(barred, i)) continue;
        if (!best || holdings_.claims(i) < holdings_.claims(*best)) best = i;
    }
    return best;
}

std::optional<std::uint32_t> SwitchChoice::choose(NodeId from, NodeId to, std::size_t rule) {
    const auto has = holdings_.has(from);
    const auto claimed = holdings_.claimed(to);
    Row barred;
    if (rule > 0) {
        barred = holdings_.claimed_inside(rule - 1, to);
    } else if (!holdings_.is_npu(to)) {
        barred = holdings_.claimed_by_all();
    }
    // Reductions at a switch: all send their contributions in the same order, so that one sum after the other
    // is completed.
    const bool in_order = !holdings_.is_npu(from) && !holdings_.own(from).empty();
    const auto own = in_order ? std::nullopt : choose_own(holdings_.own(from), has, claimed, barred);
    if (own && (own_always_ || holdings_.is_fresh(*own))) return own;
    const std::size_t words = has.size();
    const std::size_t shift = words > 1 && !in_order ? rng_.below(words) : 0;
    const int turn = in_order ? 0 : static_cast<int>(rng_.below(64));
    const std::size_t most = in_order ? 1 : kChunksWeighed;
    std::optional<std::uint32_t> best = own;
    std::size_t weighed = 0;
    for (std::size_t k = 0; k < words && weighed < most; ++k) {
        const std::size_t w = k + shift < words ? k + shift : k + shift - words;
        BitTable::Word bits = has[w] & ~claimed[w];
        if (bits == 0) continue;
        if (!barred.empty()) bits &= ~barred[w];
        for (bits = std::rotr(bits, turn); bits != 0 && weighed < most; bits &= bits - 1) {
            const auto bit = static_cast<unsigned>(std::countr_zero(bits) + turn) % 64U;
            const auto i = static_cast<std::uint32_t>(w * 64 + bit);
            if (!best || holdings_.claims(i) < holdings_.claims(*best)) best = i;
            ++weighed;
        }
    }
    return best;
}

}  // namespace tutti::heuristics

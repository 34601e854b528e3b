// Reduce-scatter and all-gather among some of the ranks: what hierarchical algorithms are put together from.
// On a ring the share of member i starts behind it and ends at it, which takes m - 1 messages one after the
// other; among all pairs, one step with m - 1 messages at once; by halving, log2 m rounds.

#include "lang/library/stages.hpp"

#include <fmt/format.h>

#include <bit>

namespace tutti::lang::library {

std::string why_not(Style style, std::uint32_t members) {
    return style != Style::Halving || std::has_single_bit(members)
               ? ""
               : fmt::format("halving is for powers of two, not for {} ranks", members);
}

void sum_shares(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                Style style, std::uint32_t buffer, const Directive& on) {
    const auto m = static_cast<std::uint32_t>(members.size());
    if (style == Style::Halving) return halve_sums(p, members, shares, halving(m), buffer, on);
    for (std::uint32_t i = 0; i < m; ++i) {
        for (const Run& run : shares[i]) {
            for (std::uint32_t s = 1; s < m; ++s) {
                // On a ring what was summed up goes on; among pairs it ends at the member that wants it.
                const std::uint32_t from = members[(i + s) % m];
                const std::uint32_t to = style == Style::Ring ? members[(i + s + 1) % m] : members[i];
                const Ref sent = p.chunk(from, buffer, run.first, run.count);
                (void)p.chunk(to, buffer, run.first, run.count).reduce(sent, on);
            }
        }
    }
}

void spread_shares(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                   Style style, std::uint32_t buffer, const Directive& on) {
    const auto m = static_cast<std::uint32_t>(members.size());
    if (style == Style::Halving) return double_copies(p, members, shares, halving(m), buffer, on);
    for (std::uint32_t i = 0; i < m; ++i) {
        for (const Run& run : shares[i]) {
            for (std::uint32_t s = 1; s < m; ++s) {
                const std::uint32_t from = style == Style::Ring ? members[(i + s - 1) % m] : members[i];
                (void)p.chunk(from, buffer, run.first, run.count)
                    .copy(members[(i + s) % m], buffer, run.first, on);
            }
        }
    }
}

}  // namespace tutti::lang::library

// Butterflies. A reduce-scatter by halving: before round s, pairs sum up the same shares; each hands the
// other those that it will not keep. Nothing that is sent in a round is written in it, because the two halves
// are disjoint, so that sums are added in place and nothing is parked. An all-gather is the same backwards.
// Source: Thakur, Rabenseifner and Gropp, IJHPCA 2005, sections 3 and 4; that other partners than those of
// one bit do as well is from De Sensi, Bonato, Saam and Hoefler, Swing, NSDI 2024, section 3.

#include "lang/library/butterfly.hpp"

#include <algorithm>
#include <numeric>

namespace tutti::lang::library {

Butterfly halving(std::uint32_t members) {
    Butterfly butterfly{members, {}};
    for (std::uint32_t bit = members / 2; bit > 0; bit /= 2) {
        auto& round = butterfly.partner.emplace_back(members);
        for (std::uint32_t i = 0; i < members; ++i) round[i] = i ^ bit;
    }
    return butterfly;
}

Butterfly reversed(Butterfly butterfly) {
    std::ranges::reverse(butterfly.partner);
    return butterfly;
}

std::vector<std::vector<std::vector<std::uint32_t>>> kept(const Butterfly& butterfly) {
    std::vector<std::vector<std::vector<std::uint32_t>>> sets(butterfly.rounds() + 1);
    sets.back().resize(butterfly.members);
    for (std::uint32_t i = 0; i < butterfly.members; ++i) sets.back()[i] = {i};
    for (std::size_t s = butterfly.rounds(); s-- > 0;) {
        sets[s].resize(butterfly.members);
        for (std::uint32_t i = 0; i < butterfly.members; ++i) {
            std::ranges::merge(sets[s + 1][i], sets[s + 1][butterfly.partner[s][i]],
                               std::back_inserter(sets[s][i]));
        }
    }
    return sets;
}

bool is_butterfly(const Butterfly& butterfly) {
    for (const auto& round : butterfly.partner) {
        for (std::uint32_t i = 0; i < butterfly.members; ++i) {
            if (round[i] >= butterfly.members || round[i] == i || round[round[i]] != i) return false;
        }
    }
    std::vector<std::uint32_t> everybody(butterfly.members);
    std::iota(everybody.begin(), everybody.end(), 0U);
    return std::ranges::all_of(kept(butterfly).front(), [&](const auto& set) { return set == everybody; });
}

Share joined(std::span<const Share> shares, std::span<const std::uint32_t> which) {
    Share all;
    for (const std::uint32_t i : which) all.insert(all.end(), shares[i].begin(), shares[i].end());
    std::ranges::sort(all, {}, &Run::first);
    Share runs;
    for (const Run& run : all) {
        if (!runs.empty() && runs.back().first + runs.back().count == run.first) {
            runs.back().count += run.count;
        } else {
            runs.push_back(run);
        }
    }
    return runs;
}

void halve_sums(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                const Butterfly& butterfly, std::uint32_t buffer, const Directive& on) {
    const auto sets = kept(butterfly);
    for (std::size_t s = 0; s < butterfly.rounds(); ++s) {
        for (std::uint32_t i = 0; i < butterfly.members; ++i) {
            const std::uint32_t to = butterfly.partner[s][i];
            for (const Run& run : joined(shares, sets[s + 1][to])) {
                const Ref sent = p.chunk(members[i], buffer, run.first, run.count);
                (void)p.chunk(members[to], buffer, run.first, run.count).reduce(sent, on);
            }
        }
    }
}

void double_copies(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                   const Butterfly& butterfly, std::uint32_t buffer, const Directive& on) {
    const auto sets = kept(butterfly);
    for (std::size_t s = butterfly.rounds(); s-- > 0;) {
        for (std::uint32_t i = 0; i < butterfly.members; ++i) {
            for (const Run& run : joined(shares, sets[s + 1][i])) {
                (void)p.chunk(members[i], buffer, run.first, run.count)
                    .copy(members[butterfly.partner[s][i]], buffer, run.first, on);
            }
        }
    }
}

void exchange_sums(Program& p, std::span<const std::uint32_t> members, const Run& all,
                   const Butterfly& butterfly, std::uint32_t buffer, std::uint32_t park, std::uint32_t at,
                   const Directive& on) {
    for (std::size_t s = 0; s < butterfly.rounds(); ++s, at += all.count) {
        // What is sent is what was there before the round, so it is parked before anything is added.
        for (std::uint32_t i = 0; i < butterfly.members; ++i) {
            (void)p.chunk(members[i], buffer, all.first, all.count)
                .copy(members[butterfly.partner[s][i]], park, at, on);
        }
        for (const std::uint32_t rank : members) {
            (void)p.chunk(rank, buffer, all.first, all.count).reduce(p.chunk(rank, park, at, all.count));
        }
    }
}

}  // namespace tutti::lang::library

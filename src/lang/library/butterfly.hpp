#pragma once

#include "lang/program.hpp"

#include <cstdint>
#include <span>
#include <vector>

/// Rounds in which pairs exchange, and what can be made of them among some of the ranks. Algorithms of the
/// library are written with these: halving and doubling, Swing, Bine, hierarchical ones.
namespace tutti::lang::library {

/// Neighbouring chunks of a buffer.
struct Run {
    std::uint32_t first = 0, count = 1;
};
/// What a member has to sum up, or brings: in ascending order.
using Share = std::vector<Run>;

/// In round s member i exchanges with member partner[s][i], whose partner is i. The members are a power of
/// two, and after all rounds everybody has heard of everybody exactly once.
struct Butterfly {
    std::uint32_t members = 0;
    std::vector<std::vector<std::uint32_t>> partner{};
    [[nodiscard]] std::size_t rounds() const { return partner.size(); }
};

/// Partners differ in one bit: the highest first, so that pairs exchange neighbouring shares.
[[nodiscard]] Butterfly halving(std::uint32_t members);
/// The rounds in the opposite order.
[[nodiscard]] Butterfly reversed(Butterfly butterfly);

/// [s][i]: the shares that member i still sums up before round s if in each round pairs halve between them
/// what they both sum up; after the last only its own. Read backwards: what it has while shares are gathered.
[[nodiscard]] std::vector<std::vector<std::vector<std::uint32_t>>> kept(const Butterfly& butterfly);
/// Whether it is one: partners of each other, and kept() are disjoint halves of everything.
[[nodiscard]] bool is_butterfly(const Butterfly& butterfly);

/// The runs of some shares, neighbours joined.
[[nodiscard]] Share joined(std::span<const Share> shares, std::span<const std::uint32_t> which);

/// Member i ends with the sum of everybody's share i, in `buffer`, which every member may change.
void halve_sums(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                const Butterfly& butterfly, std::uint32_t buffer, const Directive& on = {});
/// Share i of member i goes to the same place of everybody's `buffer`. The rounds are played backwards.
void double_copies(Program& p, std::span<const std::uint32_t> members, std::span<const Share> shares,
                   const Butterfly& butterfly, std::uint32_t buffer, const Directive& on = {});
/// Everybody ends with everybody's sum of `all`: pairs exchange all of it in every round. `park` has to be a
/// scratch buffer of its own, with `at` places in use.
void exchange_sums(Program& p, std::span<const std::uint32_t> members, const Run& all,
                   const Butterfly& butterfly, std::uint32_t buffer, std::uint32_t park, std::uint32_t at = 0,
                   const Directive& on = {});

}  // namespace tutti::lang::library

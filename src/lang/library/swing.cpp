// Swing: an all-reduce for rings and tori. As in halving and doubling everybody exchanges with another rank
// in each of log2 n rounds, but with one that is nearer: in round s even ranks go d(s) forwards and odd ones
// as far backwards, where d(s) = 1 - 2 + 4 - ... ± 2^s: 1, -1, 3, -5, 11, about two thirds of 2^s. So fewer
// links are shared by the messages of a round. On a torus of several dimensions the rounds
// take turns in them. With several ports the data is cut into as many parts: each begins in another
// dimension, and half of them are mirrored, so that all links of a rank work at the same time.
//
// Source: De Sensi, Bonato, Saam and Hoefler, Swing: Short-cutting Rings for Higher Bandwidth Allreduce, NSDI
// 2024, sections 3.1 (one dimension, bandwidth), 3.2 (latency) and 4 (tori).
//
// Sides of a torus that are no powers of two are left out: there the paper sends blocks twice. On a ring the
// ranks beyond a power of two hand their data to others before, and get the result after.

#include "lang/library/algorithms.hpp"
#include "lang/library/butterfly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::lang::library {
namespace {

/// The sides of the torus; rank = x + width (y + height z).
std::vector<std::uint32_t> torus_sides(const Settings& settings) {
    const std::uint32_t n = settings.request.ranks;
    if (settings["width"] == 0 && settings["height"] == 0) return {std::bit_floor(n), 1, 1};
    const std::uint32_t width = settings["width"] == 0 ? n : settings["width"];
    const std::uint32_t height = settings["height"] == 0 ? n / width : settings["height"];
    return {width, height, n / width / std::max(height, 1U)};
}

/// The ranks that swing.
std::uint32_t members_of(const Settings& settings) {
    const std::vector<std::uint32_t> sides = torus_sides(settings);
    return sides[0] * sides[1] * sides[2];
}

/// Where a rank of a ring goes in a round: 1, then 1 back, 3, 5 back, 11, ...
std::uint32_t swung(std::uint32_t at, std::uint32_t side, std::uint32_t round, bool mirrored) {
    std::int64_t distance = 0;
    for (std::uint32_t i = 0; i <= round; ++i) distance += (i % 2 == 0 ? 1 : -1) * (std::int64_t{1} << i);
    const bool forwards = (at % 2 == 0) != mirrored;
    const std::int64_t to = std::int64_t{at} + (forwards ? distance : -distance);
    return static_cast<std::uint32_t>(((to % side) + side) % side);
}

/// The rounds of one part: dimensions take turns from `first` on, as long as they have rounds left.
Butterfly swings(const std::vector<std::uint32_t>& sides, std::size_t first, bool mirrored) {
    Butterfly butterfly{sides[0] * sides[1] * sides[2], {}};
    std::vector<std::uint32_t> done(sides.size(), 0), stride{1, sides[0], sides[0] * sides[1]};
    const auto rounds = static_cast<std::size_t>(std::countr_zero(butterfly.members));
    for (std::size_t turn = first; butterfly.rounds() < rounds; ++turn) {
        const std::size_t d = turn % sides.size();
        if ((1U << done[d]) >= sides[d]) continue;
        auto& round = butterfly.partner.emplace_back(butterfly.members);
        for (std::uint32_t r = 0; r < butterfly.members; ++r) {
            const std::uint32_t at = r / stride[d] % sides[d];
            round[r] = r + (swung(at, sides[d], done[d], mirrored) - at) * stride[d];
        }
        ++done[d];
    }
    return butterfly;
}

void write_swing(Program& p, const Settings& settings) {
    const std::uint32_t n = members_of(settings), ports = settings["ports"], part = p.shape().chunks / ports;
    const std::vector<std::uint32_t> sides = torus_sides(settings);
    const std::size_t dimensions = 3 - static_cast<std::size_t>(std::ranges::count(sides, 1U));
    std::vector<std::uint32_t> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0U);
    const std::uint32_t park = p.scratch("scratch");
    fold_rest(p, n);
    for (std::uint32_t port = 0; port < ports; ++port) {
        const std::uint32_t at = port * part;
        const Butterfly butterfly = swings(sides, port % dimensions, (port / dimensions) % 2 == 1);
        const Directive on{.channel = static_cast<std::int32_t>(port)};
        if (settings["latency"] == 1) {
            const auto rounds = static_cast<std::uint32_t>(butterfly.rounds());
            exchange_sums(p, ranks, {at, part}, butterfly, kOutput, park, port * rounds * part, on);
            continue;
        }
        std::vector<Share> shares(n);
        for (std::uint32_t r = 0; r < n; ++r) shares[r] = {{at + r * (part / n), part / n}};
        halve_sums(p, ranks, shares, butterfly, kOutput, on);
        double_copies(p, ranks, shares, butterfly, kOutput, on);
    }
    hand_back(p, n);
}

}  // namespace

Algorithm swing() {
    return {.name = "swing",
            .about = "halving and doubling with partners that are near on a torus",
            .source = "De Sensi et al., NSDI 2024, sections 3 and 4",
            .kinds = {CollectiveKind::AllReduce},
            .parameters = {{"latency", "1: all data in each of log n rounds; 0: halved, then doubled", 0, 0,
                            1, Knob::Any},
                           {"width", "ranks in the first dimension of the torus; 0: it is a ring", 0, 0, 1024,
                            Knob::Divisors},
                           {"height", "ranks in the second; 0: there is no third", 0, 0, 1024, Knob::None},
                           {"ports", "parts of the data, each on other links", 1, 1, 6}},
            .why_not = [](const Settings& settings) -> std::string {
                const std::uint32_t n = settings.request.ranks, members = members_of(settings);
                const std::vector<std::uint32_t> sides = torus_sides(settings);
                const bool ring = settings["width"] == 0 && settings["height"] == 0;
                if (members != n && !ring) {
                    return fmt::format("{} ranks are no torus of {} x {} x ... (parameters width, height)", n,
                                       sides[0], sides[1]);
                }
                return power_of_two_only(members);
            },
            .chunks =
                [](const Settings& settings) {
                    return settings["ports"] * (settings["latency"] == 1 ? 1 : members_of(settings));
                },
            .write = write_swing};
}

}  // namespace tutti::lang::library

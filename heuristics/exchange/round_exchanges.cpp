// Recursive doubling, recursive multiplying, all pairs and folded exchanges: which orders of ranks and rounds
// are tried.
//
// Recursive doubling has the fewest rounds, log n, but n messages in each; a tree has the fewest messages,
// 2(n-1), but twice the rounds. A folded exchange is between them: in the first k digits the sum goes to one
// keeper, the keepers exchange in the others, and the sum is handed back: log n + k rounds and 2(n - n/2^k) +
// n/2^k (log n - k) messages. Chunks differ in the order of the digits and in the keepers, so that every link
// has work in every round: on a 4-cube, alpha = beta = 1, one folded digit keeps all links busy from the
// first tick to the last (11 ticks, the lower bound; trees: 15, recursive doubling: 17). On a cluster with
// the near digits folded it is the hierarchical all-reduce.
//
// There are more of them than there is time for, so what each takes is estimated first: on a fat tree of 64
// NPUs and 1 KB the estimate is within 5 % of the schedule, and takes a hundredth of the time.

#include "heuristics/exchange/best_exchange.hpp"
#include "heuristics/exchange/estimates.hpp"
#include "heuristics/exchange/round_plans.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostEstimated = std::size_t{1} << 14;  ///< messages of a chunk

/// The radices of a set's members.
using RadicesOf = std::function<std::vector<std::size_t>(std::size_t members)>;

enum class RoundTurns : std::uint8_t { NearFirst, FarFirst, Rotated };

/// The order of the rounds for the i-th chunk.
std::vector<std::size_t> digits_of(std::size_t count, RoundTurns turns, std::size_t i) {
    std::vector<std::size_t> digits(count);
    std::iota(digits.begin(), digits.end(), std::size_t{0});
    if (turns == RoundTurns::FarFirst) std::ranges::reverse(digits);
    if (turns == RoundTurns::Rotated && count > 0)
        std::ranges::rotate(digits, digits.begin() + static_cast<std::ptrdiff_t>(i % count));
    return digits;
}

/// The order of that number; those of all NPUs come after those of the members.
const std::vector<NodeId>& chosen_order(const Exchanges::Set& set, std::size_t number) {
    number %= set.orders.size() + set.wide_orders.size();
    return number < set.orders.size() ? set.orders[number] : set.wide_orders[number - set.orders.size()];
}

/// One way to sum up: digits, how many of them are folded, and their order.
struct Variant {
    RadicesOf radices_of;
    std::size_t folded = 0;
};

/// The messages of one chunk.
std::size_t messages_of(std::size_t members, std::span<const std::size_t> radices, std::size_t folded) {
    std::size_t messages = 0, left = members;
    for (std::size_t turn = 0; turn < radices.size(); ++turn) {
        if (turn < folded) {
            messages += 2 * (left - left / radices[turn]);
            left /= radices[turn];
        } else {
            messages += left * (radices[turn] - 1);
        }
    }
    return messages;
}

/// The plans of a set's chunks: by turns of the digits, then by keeper.
std::vector<RoundPlan> plans_of(const std::vector<NodeId>& order, std::size_t chunks, const Variant& variant,
                                RoundTurns turns) {
    const auto radices = variant.radices_of(order.size());
    const std::size_t folded = std::min(variant.folded, radices.size());
    const std::size_t rotations = turns == RoundTurns::Rotated ? std::max<std::size_t>(radices.size(), 1) : 1;
    std::size_t keepers = 1;
    for (std::size_t turn = 0; turn < folded; ++turn) keepers *= *std::ranges::max_element(radices);
    std::vector<RoundPlan> plans;
    for (std::size_t i = 0; i < std::min(chunks, rotations * keepers); ++i) {
        const auto digits = digits_of(radices.size(), turns, i % rotations);
        plans.push_back(digit_rounds(order, {radices, digits, folded, i / rotations}));
    }
    return plans;
}

void try_rounds(BestExchange& best, const Exchanges& exchanges, std::size_t number, const Variant& variant,
                RoundTurns turns) {
    std::size_t messages = 0;
    for (const Exchanges::Set& set : exchanges.sets()) {
        const std::size_t members = chosen_order(set, number).size();
        messages += set.chunks.size() * messages_of(members, variant.radices_of(members), variant.folded);
    }
    if (!best.goes_on(messages)) return;
    std::vector<std::vector<RoundPlan>> plans;  // by set
    for (const Exchanges::Set& set : exchanges.sets())
        plans.push_back(plans_of(chosen_order(set, number), set.chunks.size(), variant, turns));
    std::vector<RoundSum> sums;
    for (std::size_t s = 0; s < plans.size(); ++s) {
        const Exchanges::Set& set = exchanges.sets()[s];
        for (std::size_t i = 0; i < set.chunks.size(); ++i)
            sums.push_back({set.chunks[i], &plans[s][i % plans[s].size()]});
    }
    best.take(schedule_rounds(exchanges.graph(), sums, best.stop()));
}

/// What the variant takes, about: the latencies of its rounds and the time of the fullest link. Folded
/// chunks have different keepers, so there it is the time of all links of NPUs, in equal parts.
Ticks estimated(const Exchanges& exchanges, std::size_t number, const Variant& variant) {
    const MessageGraph& graph = exchanges.graph();
    LoadEstimate loads(graph);
    Ticks latency, shares;
    for (const Exchanges::Set& set : exchanges.sets()) {
        const auto& order = chosen_order(set, number);
        const auto radices = variant.radices_of(order.size());
        const std::size_t folded = std::min(variant.folded, radices.size());
        if (messages_of(order.size(), radices, folded) > kMostEstimated) return Ticks::max();
        const auto digits = digits_of(radices.size(), RoundTurns::NearFirst, 0);
        Ticks rounds;
        const Ticks sent = loads.sent();
        for (const Round& round : digit_rounds(order, {radices, digits, folded, 0})) {
            Ticks slowest;
            for (const Meeting& meeting : round) {
                for (const auto& [from, to] : meeting.messages) {
                    if (!graph.joins(from, to)) return Ticks::max();
                    slowest = std::max(slowest, graph.time(from, to, set.chunks.front()));
                    loads.add(from, to, set.chunks.front(), set.chunks.size());
                }
            }
            rounds += slowest;
        }
        latency = std::max(latency, rounds);
        shares += Ticks((loads.sent() - sent).count() / static_cast<std::int64_t>(order.size()));
    }
    return latency + (variant.folded > 0 ? shares : loads.fullest());
}

std::size_t orders_of(const Exchanges& exchanges) {
    std::size_t orders = 0;
    for (const Exchanges::Set& set : exchanges.sets())
        orders = std::max(orders, set.orders.size() + set.wide_orders.size());
    return orders;
}

/// In the order of the estimates. Of equal ones those with turns in rotation come first, because that is
/// mostly the best, and where time is short later ones are not reached.
void try_all(BestExchange& best, const Exchanges& exchanges, const std::vector<Variant>& variants) {
    struct Try {
        Ticks estimate;
        RoundTurns turns;
        std::size_t order;
        const Variant* variant;
    };
    std::vector<Try> tries;
    for (std::size_t o = 0; o < orders_of(exchanges); ++o) {
        for (const Variant& variant : variants) {
            if (best.stop().requested()) return;
            const Ticks estimate = estimated(exchanges, o, variant);
            const Ticks later(estimate.count() / 16);
            for (const RoundTurns turns :
                 {RoundTurns::Rotated, RoundTurns::NearFirst, RoundTurns::FarFirst}) {
                const bool is_rotated = turns == RoundTurns::Rotated || estimate == Ticks::max();
                tries.push_back({is_rotated ? estimate : estimate + later, turns, o, &variant});
            }
        }
    }
    std::ranges::stable_sort(tries, {}, [](const Try& t) { return std::pair(t.estimate, t.turns); });
    for (const Try& t : tries) try_rounds(best, exchanges, t.order, *t.variant, t.turns);
}

/// Of the variant that is tried first.
Ticks least_estimate(const Exchanges& exchanges, const std::vector<Variant>& variants) {
    Ticks least = Ticks::max();
    for (std::size_t o = 0; o < orders_of(exchanges); ++o) {
        for (const Variant& variant : variants) least = std::min(least, estimated(exchanges, o, variant));
    }
    return least;
}

/// Recursive multiplying for all sizes of sets that the instance has.
std::vector<RadicesOf> multiplying(const Exchanges& exchanges) {
    std::size_t most = 0;
    for (const Exchanges::Set& set : exchanges.sets())
        most = std::max(most, multiplying_radices(set.members.size()).size());
    std::vector<RadicesOf> radices;
    for (std::size_t k = 0; k < most; ++k) {
        radices.emplace_back([k](std::size_t n) {
            const auto all = multiplying_radices(n);
            return all.empty() ? doubling_radices(n) : all[k % all.size()];
        });
    }
    return radices;
}

using VariantsOf = std::vector<Variant> (*)(const Exchanges&);

std::vector<Variant> doubling_variants(const Exchanges&) { return {{doubling_radices}}; }

std::vector<Variant> meetings_of_all(const Exchanges&) {
    return {{[](std::size_t n) { return std::vector{n}; }}};
}

std::vector<Variant> multiplying_variants(const Exchanges& exchanges) {
    std::vector<Variant> variants;
    for (RadicesOf& radices_of : multiplying(exchanges)) variants.push_back({std::move(radices_of)});
    return variants;
}

std::vector<Variant> folded_variants(const Exchanges& exchanges) {
    std::size_t most = 0;
    for (const Exchanges::Set& set : exchanges.sets())
        most = std::max(most, doubling_radices(set.members.size()).size());
    std::vector<Variant> variants;
    for (std::size_t folded = 1; folded <= most; ++folded) variants.push_back({doubling_radices, folded});
    for (const RadicesOf& radices_of : multiplying(exchanges)) {
        for (const std::size_t folded : {1U, 2U}) variants.push_back({radices_of, folded});
    }
    return variants;
}

template <VariantsOf kVariants>
std::optional<Schedule> best_of(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    BestExchange best(exchanges, target, turn);
    const auto variants = kVariants(exchanges);
    try_all(best, exchanges, variants);
    return best.schedule();
}

}  // namespace

std::optional<Schedule> recursive_doubling(const Exchanges& exchanges, Ticks target,
                                           const ExchangeTurn& turn) {
    return best_of<doubling_variants>(exchanges, target, turn);
}
std::optional<Schedule> all_pairs(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of<meetings_of_all>(exchanges, target, turn);
}
std::optional<Schedule> recursive_multiplying(const Exchanges& exchanges, Ticks target,
                                              const ExchangeTurn& turn) {
    return best_of<multiplying_variants>(exchanges, target, turn);
}
std::optional<Schedule> folded_exchange(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn) {
    return best_of<folded_variants>(exchanges, target, turn);
}

Ticks estimate_doubling(const Exchanges& exchanges) {
    return least_estimate(exchanges, doubling_variants(exchanges));
}
Ticks estimate_pairs(const Exchanges& exchanges) {
    return least_estimate(exchanges, meetings_of_all(exchanges));
}
Ticks estimate_multiplying(const Exchanges& exchanges) {
    return least_estimate(exchanges, multiplying_variants(exchanges));
}
Ticks estimate_folded(const Exchanges& exchanges) {
    return least_estimate(exchanges, folded_variants(exchanges));
}

}  // namespace tutti::heuristics

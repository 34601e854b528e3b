// Recursive doubling, recursive multiplying and all pairs: which orders of ranks and rounds are tried.

#include "heuristics/exchange/best_exchange.hpp"
#include "heuristics/exchange/round_plans.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace tutti::heuristics {
namespace {

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

void try_rounds(BestExchange& best, const Exchanges& exchanges, std::size_t number,
                const RadicesOf& radices_of, RoundTurns turns, const Stop& stop) {
    std::size_t messages = 0;
    for (const Exchanges::Set& set : exchanges.sets()) {
        const std::size_t members = chosen_order(set, number).size();
        for (const std::size_t radix : radices_of(members))
            messages += set.chunks.size() * members * (radix - 1);
    }
    if (!best.goes_on(messages)) return;
    std::vector<std::vector<RoundPlan>> plans;  // by set and rotation
    for (const Exchanges::Set& set : exchanges.sets()) {
        const auto& order = chosen_order(set, number);
        const auto radices = radices_of(order.size());
        const std::size_t count = turns == RoundTurns::Rotated ? std::max<std::size_t>(radices.size(), 1) : 1;
        auto& rotations = plans.emplace_back();
        for (std::size_t i = 0; i < count; ++i)
            rotations.push_back(digit_rounds(order, radices, digits_of(radices.size(), turns, i)));
    }
    std::vector<RoundSum> sums;
    for (std::size_t s = 0; s < plans.size(); ++s) {
        const Exchanges::Set& set = exchanges.sets()[s];
        for (std::size_t i = 0; i < set.chunks.size(); ++i)
            sums.push_back({set.chunks[i], &plans[s][i % plans[s].size()]});
    }
    best.take(schedule_rounds(exchanges.graph(), sums, stop));
}

/// All radices with turns in rotation first, because that is mostly the best, and where time is short later
/// ones are not reached.
void try_all(BestExchange& best, const Exchanges& exchanges, const std::vector<RadicesOf>& radices,
             const Stop& stop) {
    std::size_t orders = 0;
    for (const Exchanges::Set& set : exchanges.sets())
        orders = std::max(orders, set.orders.size() + set.wide_orders.size());
    for (const RoundTurns turns : {RoundTurns::Rotated, RoundTurns::NearFirst, RoundTurns::FarFirst}) {
        for (std::size_t o = 0; o < orders; ++o) {
            for (const RadicesOf& radices_of : radices)
                try_rounds(best, exchanges, o, radices_of, turns, stop);
        }
    }
}

}  // namespace

std::optional<Schedule> recursive_doubling(const Exchanges& exchanges, Ticks target, const Stop& stop) {
    BestExchange best(exchanges, target, stop);
    try_all(best, exchanges, {doubling_radices}, stop);
    return best.schedule();
}

std::optional<Schedule> all_pairs(const Exchanges& exchanges, Ticks target, const Stop& stop) {
    BestExchange best(exchanges, target, stop);
    try_all(best, exchanges, {[](std::size_t n) { return std::vector{n}; }}, stop);
    return best.schedule();
}

std::optional<Schedule> recursive_multiplying(const Exchanges& exchanges, Ticks target, const Stop& stop) {
    BestExchange best(exchanges, target, stop);
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
    try_all(best, exchanges, radices, stop);
    return best.schedule();
}

}  // namespace tutti::heuristics

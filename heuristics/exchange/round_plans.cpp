#include "heuristics/exchange/round_plans.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostRadices = 12;

/// The members of a digit's meetings exchange what they have, everybody with everybody, shift after shift.
Round meetings_of_digit(std::span<const NodeId> order, std::size_t product, std::size_t weight,
                        std::size_t radix) {
    Round round;
    for (std::size_t first = 0; first < product; ++first) {
        if (first / weight % radix != 0) continue;
        Meeting meeting;
        for (std::size_t shift = 1; shift < radix; ++shift) {
            for (std::size_t i = 0; i < radix; ++i) {
                meeting.messages.emplace_back(order[first + i * weight],
                                              order[first + (i + shift) % radix * weight]);
            }
        }
        round.push_back(std::move(meeting));
    }
    return round;
}

}  // namespace

RoundPlan digit_rounds(std::span<const NodeId> order, std::span<const std::size_t> radices,
                       std::span<const std::size_t> digits) {
    std::vector<std::size_t> weights{1};
    for (const std::size_t radix : radices) weights.push_back(weights.back() * radix);
    const std::size_t product = weights.back();
    expects(product <= order.size() && order.size() <= 2 * product);
    RoundPlan plan;
    Round fold, unfold;
    for (std::size_t i = product; i < order.size(); ++i) {
        fold.push_back({{{order[i], order[i - product]}}});
        unfold.push_back({{{order[i - product], order[i]}}, true});
    }
    plan.push_back(std::move(fold));
    for (const std::size_t digit : digits)
        plan.push_back(meetings_of_digit(order, product, weights[digit], radices[digit]));
    plan.push_back(std::move(unfold));
    return plan;
}

std::vector<std::size_t> doubling_radices(std::size_t members) {
    return std::vector<std::size_t>(static_cast<std::size_t>(std::bit_width(members) - 1), 2);
}

std::vector<std::vector<std::size_t>> multiplying_radices(std::size_t members) {
    std::vector<std::vector<std::size_t>> found;
    const auto enter = [&](std::vector<std::size_t> radices) {
        if (radices.size() < 2 || found.size() == kMostRadices) return;
        if (std::ranges::find(found, radices) == found.end()) found.push_back(std::move(radices));
    };
    for (std::size_t a = 2; a <= members / 2; ++a) {
        if (members % a == 0) enter({a, members / a});
    }
    for (const std::size_t most : {4U, 8U, 3U}) {  // as many as possible of that size, then smaller ones
        std::vector<std::size_t> radices;
        std::size_t rest = members;
        for (std::size_t radix = most; radix >= 2; --radix) {
            for (; rest % radix == 0; rest /= radix) radices.push_back(radix);
        }
        if (rest == 1) enter(std::move(radices));
    }
    // Few messages first: where time is short, some of them are tried.
    std::ranges::stable_sort(found, {}, [](const auto& radices) {
        return std::accumulate(radices.begin(), radices.end(), std::size_t{0});
    });
    return found;
}

}  // namespace tutti::heuristics

#include "heuristics/exchange/round_plans.hpp"

#include "core/expects.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tutti::heuristics {
namespace {

constexpr std::size_t kMostRadices = 12;

/// The positions that take part in a turn, and the meetings that it is about.
class Digits {
  public:
    Digits(std::span<const NodeId> order, const RoundDigits& digits) : order_(order), digits_(digits) {
        for (const std::size_t radix : digits.radices) weights_.push_back(weights_.back() * radix);
        std::size_t keeper = digits.keeper;
        for (std::size_t turn = 0; turn < digits.folded; ++turn) {
            kept_.push_back(keeper % radix(turn));
            keeper /= radix(turn);
        }
    }

    [[nodiscard]] std::size_t product() const { return weights_.back(); }

    /// Those who are left exchange what they have, everybody with everybody, shift after shift.
    [[nodiscard]] Round exchanges(std::size_t turn) const {
        return meetings(turn, [&](std::size_t first, Meeting& meeting) {
            for (std::size_t shift = 1; shift < radix(turn); ++shift) {
                for (std::size_t i = 0; i < radix(turn); ++i) {
                    meeting.messages.emplace_back(member(first, turn, i),
                                                  member(first, turn, (i + shift) % radix(turn)));
                }
            }
        });
    }
    /// The keeper gets what the others have.
    [[nodiscard]] Round fold(std::size_t turn) const {
        return meetings(turn, [&](std::size_t first, Meeting& meeting) {
            for (std::size_t i = 1; i < radix(turn); ++i)
                meeting.messages.emplace_back(other(first, turn, i), member(first, turn, kept_[turn]));
        });
    }
    /// The others get what the keeper has.
    [[nodiscard]] Round unfold(std::size_t turn) const {
        return meetings(turn, [&](std::size_t first, Meeting& meeting) {
            meeting.copies = true;
            for (std::size_t i = 1; i < radix(turn); ++i)
                meeting.messages.emplace_back(member(first, turn, kept_[turn]), other(first, turn, i));
        });
    }

  private:
    [[nodiscard]] std::size_t radix(std::size_t turn) const { return digits_.radices[digits_.turns[turn]]; }
    [[nodiscard]] std::size_t weight(std::size_t turn) const { return weights_[digits_.turns[turn]]; }
    [[nodiscard]] std::size_t digit(std::size_t position, std::size_t turn) const {
        return position / weight(turn) % radix(turn);
    }
    [[nodiscard]] NodeId member(std::size_t first, std::size_t turn, std::size_t value) const {
        return order_[first + value * weight(turn)];
    }
    [[nodiscard]] NodeId other(std::size_t first, std::size_t turn, std::size_t i) const {
        return member(first, turn, (kept_[turn] + i) % radix(turn));
    }
    /// Whether a position is a keeper in all folded turns before this one.
    [[nodiscard]] bool is_left(std::size_t position, std::size_t turn) const {
        for (std::size_t t = 0; t < std::min(turn, digits_.folded); ++t) {
            if (digit(position, t) != kept_[t]) return false;
        }
        return true;
    }
    /// `fill(first, meeting)` for those who meet: `first` is the position with digit 0.
    [[nodiscard]] Round meetings(std::size_t turn, const auto& fill) const {
        Round round;
        for (std::size_t first = 0; first < product(); ++first) {
            if (digit(first, turn) == 0 && is_left(first, turn)) fill(first, round.emplace_back());
        }
        return round;
    }

    std::span<const NodeId> order_;
    const RoundDigits& digits_;
    std::vector<std::size_t> weights_{1};
    std::vector<std::size_t> kept_;  ///< by folded turn: the digit of the keepers
};

}  // namespace

RoundPlan digit_rounds(std::span<const NodeId> order, const RoundDigits& digits) {
    expects(digits.turns.size() == digits.radices.size() && digits.folded <= digits.turns.size());
    const Digits positions(order, digits);
    const std::size_t product = positions.product();
    expects(product <= order.size() && order.size() <= 2 * product);
    RoundPlan plan;
    Round surplus_in, surplus_out;
    for (std::size_t i = product; i < order.size(); ++i) {
        surplus_in.push_back({{{order[i], order[i - product]}}});
        surplus_out.push_back({{{order[i - product], order[i]}}, true});
    }
    plan.push_back(std::move(surplus_in));
    for (std::size_t turn = 0; turn < digits.turns.size(); ++turn)
        plan.push_back(turn < digits.folded ? positions.fold(turn) : positions.exchanges(turn));
    for (std::size_t turn = digits.folded; turn-- > 0;) plan.push_back(positions.unfold(turn));
    plan.push_back(std::move(surplus_out));
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

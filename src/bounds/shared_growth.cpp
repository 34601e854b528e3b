// Growth in parts, where a port that sends inside its part cannot send to another part at that moment.
//
// Look at the messages by which an NPU first gets a chunk: one for each pair of a chunk and an NPU that gets
// it. Let i(u) of them start at u and stay in a part, o(u) go to another part. By the end,
//
// - starts: in any `gap` ticks a port starts one message, and only NPUs that know something start any. Beside
//   the root these are no more than the messages that have arrived.
// - everybody: as before, with all NPUs.
// - inside: whoever has a chunk by an inner message has it on a chain of inner messages from an NPU that it
//   entered the part at, or from the root. By `inside`, each entry informs no more than so many so soon; and
//   the j-th chunk that leaves the root does not leave it before `leaving[j]`.
//
// All are linear in i and o, so the largest number of messages that can have arrived is that of a linear
// program, and prices of its rows (its dual) prove it. They come from a rounded simplex method, are rounded
// to integers, and are then judged exactly: with these prices, what does the cheapest message pay at least,
// and what do all rows cost? A program with integers would say more, but has no such proof.
//
// Backwards, for sums that one NPU wants: the message by which an NPU sends its last word on a chunk; times
// from the end, starts and arrivals exchanged.

#include "bounds/shared_growth.hpp"

#include "bounds/matrix_game.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::bounds {
namespace {

constexpr double kPriceOfOne = 1 << 20;  ///< the integer that stands for the largest price
__extension__ using Wide = __int128;

class Program {
  public:
    Program(const SharedGrowth& growth, std::int64_t end) : growth_(growth), end_(end) {
        const auto ticks = static_cast<std::size_t>(end + 1);
        informed_.resize(ticks);
        for (std::size_t t = 0; t < ticks; ++t) {
            informed_[t] = std::ranges::count_if(
                growth.inside, [t](std::int64_t time) { return time <= static_cast<std::int64_t>(t); });
        }
        for (std::int64_t t = 0; t <= end; ++t) {
            std::int64_t at_home = 0;
            for (const std::int64_t leaving : growth.leaving) at_home += informed(t - leaving);
            room_.insert(room_.end(), {growth.ports, growth.ports * growth.npus, at_home});
        }
        for (std::int64_t u = 0; u + growth.inner <= end; ++u) add_column(u, false);
        for (std::int64_t u = 0; u + growth.outer <= end; ++u) add_column(u, true);
    }

    [[nodiscard]] std::vector<std::array<std::int64_t, 3>> prices() const {
        std::vector<std::vector<double>> entry;
        for (const auto& column : columns_) entry.emplace_back(column.begin(), column.end());
        const std::vector<double> exact = row_prices(entry, {room_.begin(), room_.end()});
        const double most = *std::ranges::max_element(exact);
        std::vector<std::array<std::int64_t, 3>> result(static_cast<std::size_t>(end_ + 1));
        for (std::size_t row = 0; row < exact.size(); ++row)
            result[row / 3][row % 3] = std::llround(exact[row] / most * kPriceOfOne);
        return result;
    }

    /// Whether fewer than `wanted` messages can be paid.
    [[nodiscard]] bool proves(const std::vector<std::array<std::int64_t, 3>>& prices,
                              std::uint64_t wanted) const {
        const auto sum = [&](const std::vector<std::int64_t>& amounts) {
            Wide total = 0;
            for (std::size_t row = 0; row < amounts.size(); ++row)
                total += Wide{prices[row / 3][row % 3]} * amounts[row];
            return total;
        };
        Wide cheapest = sum(columns_.front());
        for (const auto& column : columns_) cheapest = std::min(cheapest, sum(column));
        return cheapest > 0 && sum(room_) < cheapest * Wide{wanted};
    }

    [[nodiscard]] bool empty() const { return columns_.empty(); }

  private:
    /// How many an entry can have informed so long after, beside itself.
    [[nodiscard]] std::int64_t informed(std::int64_t after) const {
        return after < 0 ? 0 : informed_[static_cast<std::size_t>(after)];
    }
    /// What a message that starts at `start` takes of every row.
    void add_column(std::int64_t start, bool outer) {
        const std::int64_t arrival = start + (outer ? growth_.outer : growth_.inner);
        std::vector<std::int64_t> column;
        for (std::int64_t t = 0; t <= end_; ++t) {
            const std::int64_t starts = t - growth_.gap < start && start <= t ? 1 : 0;
            const std::int64_t inside = outer ? -informed(t - arrival) : (arrival <= t ? 1 : 0);
            column.insert(column.end(), {starts - (arrival <= t ? growth_.ports : 0), starts, inside});
        }
        columns_.push_back(std::move(column));
    }

    const SharedGrowth& growth_;
    const std::int64_t end_;
    std::vector<std::int64_t> informed_;
    std::vector<std::vector<std::int64_t>> columns_;  ///< three rows for each tick
    std::vector<std::int64_t> room_;
};

}  // namespace

std::vector<std::array<std::int64_t, 3>> growth_prices(const SharedGrowth& growth, std::int64_t end,
                                                       std::uint64_t wanted) {
    const Program program(growth, end);
    if (program.empty()) return {};
    auto prices = program.prices();
    if (!program.proves(prices, wanted)) prices.clear();
    return prices;
}

}  // namespace tutti::bounds

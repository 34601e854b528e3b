#include "heuristics/paths/slot_market.hpp"

#include <algorithm>

namespace tutti::heuristics {
namespace {

constexpr float kPressure = 2, kMorePressure = 1.15F, kMostPressure = 250;
constexpr float kContestMemory = 0.3F;
constexpr std::int64_t kMostSlotsOfHop = 1 << 14;  ///< more than any horizon has
constexpr float kTie = 1e-6F;                      ///< hops differ by a thousand of them at most

}  // namespace

SlotTimes::SlotTimes(const SpreadProblem& problem, const HopTimes& times, Ticks slot)
    : hops_(problem.graph.hops()) {
    const auto slots = [&](std::int64_t units) {
        const std::int64_t count = (times.ticks(units).count() + slot.count() - 1) / slot.count();
        return static_cast<std::int32_t>(std::min(count, kMostSlotsOfHop));
    };
    for (std::uint32_t kind = 0; kind < times.kinds(); ++kind) {
        for (std::size_t h = 0; h < hops_; ++h) {
            const std::int32_t busy = slots(times.busy(HopId(h), kind));
            rows_.push_back({busy, std::max(busy, slots(times.transit(HopId(h), kind)))});
        }
    }
}

SlotMarket::SlotMarket(std::size_t hops, std::int32_t slots, Rng& rng)
    : slots_(static_cast<std::size_t>(slots)),
      pressure_(kPressure),
      users_(hops * slots_, 0),
      memory_(users_.size(), 0),
      price_(users_.size()),
      tie_(hops) {
    for (float& tie : tie_) tie = kTie * static_cast<float>(rng.below(1000));
    for (std::size_t cell = 0; cell < users_.size(); ++cell) update(cell);
}

void SlotMarket::update(std::size_t cell) {
    price_[cell] =
        (1 + memory_[cell]) * (1 + pressure_ * static_cast<float>(users_[cell])) - 1 + tie_[cell / slots_];
}

void SlotMarket::change(HopId hop, std::int32_t start, std::int32_t busy, int users) {
    for (std::size_t c = cell(hop, start); c < cell(hop, start + busy); ++c) {
        users_[c] = static_cast<std::uint16_t>(users_[c] + users);
        update(c);
    }
}

bool SlotMarket::is_contested(HopId hop, std::int32_t start, std::int32_t busy) const {
    const auto users = std::span(users_).subspan(cell(hop, start), static_cast<std::size_t>(busy));
    return std::ranges::any_of(users, [](std::uint16_t count) { return count > 1; });
}

std::uint64_t SlotMarket::settle() {
    pressure_ = std::min(pressure_ * kMorePressure, kMostPressure);
    std::uint64_t contests = 0;
    for (std::size_t cell = 0; cell < users_.size(); ++cell) {
        if (users_[cell] == 0) continue;
        contests += users_[cell] - 1U;
        memory_[cell] += kContestMemory * static_cast<float>(users_[cell] - 1);
        update(cell);
    }
    return contests;
}

}  // namespace tutti::heuristics

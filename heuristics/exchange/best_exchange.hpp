#pragma once

#include "heuristics/exchange/exchanges.hpp"

namespace tutti::heuristics {

/// Keeps the shortest schedule of several tries.
class BestExchange {
  public:
    BestExchange(const Exchanges& exchanges, Ticks target, const ExchangeTurn& turn)
        : exchanges_(exchanges), target_(target), turn_(turn) {}

    /// When the next try must end.
    [[nodiscard]] const Stop& stop() const { return moves_ ? turn_.all : turn_.first; }
    /// Whether another try with that many messages is worth its time.
    [[nodiscard]] bool goes_on(std::size_t messages) {
        if (stop().requested() || (moves_ && makespan_ <= target_)) return false;
        if (messages > Exchanges::kMostMessages || (work_ > 0 && work_ + messages > Exchanges::kMostWork))
            return false;
        work_ += messages;
        return true;
    }
    void take(std::optional<std::vector<Move>> moves) {
        if (!moves) return;
        const Ticks makespan = makespan_of(*moves);
        if (moves_ && makespan >= makespan_) return;
        makespan_ = makespan;
        moves_ = std::move(moves);
    }
    [[nodiscard]] std::optional<Schedule> schedule() const {
        if (!moves_) return std::nullopt;
        return schedule_of(exchanges_.instance(), *moves_);
    }

  private:
    const Exchanges& exchanges_;
    const Ticks target_;
    const ExchangeTurn& turn_;
    std::size_t work_ = 0;
    Ticks makespan_;
    std::optional<std::vector<Move>> moves_;
};

}  // namespace tutti::heuristics

#pragma once

#include "core/rng.hpp"
#include "heuristics/paths/hop_times.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti::heuristics {

/// The times of hops of one link in slots of equal length, by hop and kind (HopTimes), rounded up.
class SlotTimes {
  public:
    SlotTimes(const SpreadProblem& problem, const HopTimes& times, Ticks slot);

    [[nodiscard]] std::int32_t busy(HopId hop, std::uint32_t kind) const { return row(hop, kind).busy; }
    /// At least busy.
    [[nodiscard]] std::int32_t transit(HopId hop, std::uint32_t kind) const { return row(hop, kind).transit; }

  private:
    struct Row {
        std::int32_t busy, transit;
    };
    [[nodiscard]] const Row& row(HopId hop, std::uint32_t kind) const {
        return rows_[kind * hops_ + hop.index()];
    }
    std::size_t hops_;
    std::vector<Row> rows_;
};

/// How many transfers want each slot of each hop, and what one more of them pays: the more, the more want it
/// now and the more often it was contested.
class SlotMarket {
  public:
    /// Memory: 10 bytes for each slot of a hop.
    SlotMarket(std::size_t hops, std::int32_t slots, Rng& rng);

    void enter(HopId hop, std::int32_t start, std::int32_t busy) { change(hop, start, busy, 1); }
    void leave(HopId hop, std::int32_t start, std::int32_t busy) { change(hop, start, busy, -1); }
    /// Whether one of the slots is wanted by several.
    [[nodiscard]] bool is_contested(HopId hop, std::int32_t start, std::int32_t busy) const;
    /// The prices of a hop, by slot.
    [[nodiscard]] std::span<const float> prices(HopId hop) const {
        return std::span(price_).subspan(hop.index() * slots_, slots_);
    }
    /// Makes contested slots more expensive for good, and all sharing. Returns how many wants are too many.
    std::uint64_t settle();

  private:
    void change(HopId hop, std::int32_t start, std::int32_t busy, int users);
    void update(std::size_t cell);
    [[nodiscard]] std::size_t cell(HopId hop, std::int32_t slot) const {
        return hop.index() * slots_ + static_cast<std::size_t>(slot);
    }

    std::size_t slots_;
    float pressure_;
    std::vector<std::uint16_t> users_;  ///< by hop and slot
    std::vector<float> memory_, price_;
    std::vector<float> tie_;  ///< by hop
};

}  // namespace tutti::heuristics

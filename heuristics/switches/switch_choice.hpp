#pragma once

#include "core/rng.hpp"
#include "heuristics/switches/switch_holdings.hpp"

#include <optional>

namespace tutti::heuristics {

/// Which chunk a holder pulls from another (switch_choice.cpp).
class SwitchChoice {
  public:
    /// Both must outlive this. `own_always`: whether a source's own chunks come before rarer ones.
    SwitchChoice(const SwitchHoldings& holdings, bool own_always, Rng& rng)
        : holdings_(holdings), own_always_(own_always), rng_(rng) {}

    /// A chunk that `from` has and `to` has not claimed, and that the clusters of the `rule` finest levels
    /// around `to` lack. O(chunks/64).
    [[nodiscard]] std::optional<std::uint32_t> choose(NodeId from, NodeId to, std::size_t rule);

  private:
    using Row = std::span<const BitTable::Word>;
    [[nodiscard]] std::optional<std::uint32_t> choose_own(const std::vector<std::uint32_t>& own, Row has,
                                                          Row claimed, Row barred);

    const SwitchHoldings& holdings_;
    const bool own_always_;
    Rng& rng_;
};

}  // namespace tutti::heuristics

#pragma once

#include "heuristics/paths/hop_times.hpp"

#include <array>
#include <vector>

namespace tutti::heuristics {

/// The price of sending one more chunk over a hop, given the loads of its links. The price of a link grows
/// exponentially with its load, so the sum of prices along a path is about that of its fullest link, and
/// paths that avoid full links win even if they are longer. At a load of `base` a link costs its busy time;
/// kSteepness decides how fast the price falls below that load. Every hop also has a **penalty**, a fraction
/// of its transit time, so that paths make no needless detours through an empty network.
///
/// Doubles, but only sums and products of them: the same on every machine.
struct PriceShape {
    double steepness;
    double penalty;  ///< of the transit time
};

class LinkPrices {
  public:
    LinkPrices(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape);

    /// The load at which links count as full. Precondition: base > 0. O(links).
    void set_base(std::int64_t base);

    /// Adds permanent load; counts from the next base on.
    void take(LinkId link, std::int64_t load) { load_[link.index()] += load; }
    void add(HopId hop, std::uint32_t kind) { change(hop, kind, 1); }
    void remove(HopId hop, std::uint32_t kind) { change(hop, kind, -1); }

    [[nodiscard]] std::size_t kinds() const { return kinds_; }
    /// The price of all its links.
    [[nodiscard]] double price(HopId hop, std::uint32_t kind) const {
        if (!flat_.empty()) return flat_[hop.index()];
        const std::size_t last = leg_begin_[hop.index() + 1];
        double price = 0;
        for (std::size_t i = leg_begin_[hop.index()]; i < last; ++i) {
            price += price_[link_[i]] * static_cast<double>(busy_[kind * link_.size() + i]);
        }
        return price;
    }
    /// The part of the cost that does not depend on the load.
    [[nodiscard]] double penalty(HopId hop, std::uint32_t kind) const {
        return penalty_[kind * (leg_begin_.size() - 1) + hop.index()];
    }
    /// Of all links, each for one tick on it.
    [[nodiscard]] double total() const;
    /// The busy times of all that was added, in HopTimes' units, by link.
    [[nodiscard]] const std::vector<std::int64_t>& loads() const { return load_; }
    [[nodiscard]] std::int64_t largest_load() const;
    /// The load of the fullest of the hop's links.
    [[nodiscard]] std::int64_t load(HopId hop) const {
        std::int64_t most = 0;
        for (std::size_t i = leg_begin_[hop.index()]; i < leg_begin_[hop.index() + 1]; ++i) {
            most = most < load_[link_[i]] ? load_[link_[i]] : most;
        }
        return most;
    }

  private:
    static constexpr std::size_t kSteps =
        2048;  ///< of the table of exponentials, from an empty link to a full one

    void change(HopId hop, std::uint32_t kind, std::int64_t sign);
    void update(std::size_t link);

    std::size_t kinds_;
    std::vector<std::uint32_t> leg_begin_;  ///< by hop, into link_
    std::vector<std::uint32_t> link_;
    std::vector<std::int64_t> busy_;  ///< by kind and leg
    std::vector<double> penalty_;     ///< by kind and hop
    std::vector<std::int64_t> load_;
    std::vector<std::int64_t> grain_;  ///< by link: what one more chunk adds
    std::vector<double> price_;
    std::vector<double> flat_;           ///< by hop, where each is one link and there is one kind
    std::vector<std::uint32_t> hop_of_;  ///< by link, then
    std::array<double, 2 * kSteps> exponential_;
    double scale_ = 0;
};

}  // namespace tutti::heuristics

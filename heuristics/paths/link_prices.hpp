#pragma once

#include "heuristics/paths/hop_times.hpp"

#include <array>
#include <vector>

namespace tutti::heuristics {

/// What it costs to send one more chunk over a hop, given what its links carry already. The price of a link
/// grows exponentially with its load, so that the sum of prices along a way is about that of the fullest link
/// on it, and ways that avoid full links win even if they are longer. At a load of `base` a link costs its
/// busy time; kSteepness decides how soon before that it becomes cheap. Besides, every hop has a **toll**, a
/// little of its transit time, so that nobody makes detours through an empty network for nothing.
///
/// Doubles, but only sums and products of them: the same on every machine.
struct PriceShape {
    double steepness;
    double toll;  ///< of the transit time
};

class LinkPrices {
  public:
    LinkPrices(const SpreadProblem& problem, const HopTimes& times, const PriceShape& shape);

    /// The load at which links count as full. Precondition: base > 0. O(links).
    void set_base(std::int64_t base);

    /// Load that is there whatever is added and removed; counts from the next base on.
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
    /// What the hop costs besides, however empty its links.
    [[nodiscard]] double toll(HopId hop, std::uint32_t kind) const {
        return toll_[kind * (leg_begin_.size() - 1) + hop.index()];
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
    std::vector<double> toll_;        ///< by kind and hop
    std::vector<std::int64_t> load_;
    std::vector<std::int64_t> grain_;  ///< by link: what one more chunk adds
    std::vector<double> price_;
    std::vector<double> flat_;           ///< by hop, where each is one link and there is one kind
    std::vector<std::uint32_t> hop_of_;  ///< by link, then
    std::array<double, 2 * kSteps> exponential_;
    double scale_ = 0;
};

}  // namespace tutti::heuristics

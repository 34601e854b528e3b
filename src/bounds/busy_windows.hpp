#pragma once

#include "bounds/link_window.hpp"
#include "bounds/paced_paths.hpp"
#include "bounds/traffic.hpp"

#include <optional>
#include <vector>

namespace tutti::bounds {

/// When a link may be busy with what counts: from `first` to `tail` before the end, in multiples of `unit`.
struct BusyWindow {
    Ticks first = kNever, tail = kNever;
    std::int64_t unit = 1;

    [[nodiscard]] std::int64_t length(std::int64_t end) const {
        if (first == kNever || tail == kNever) return 0;
        const std::int64_t all = end - first.count() - tail.count();
        return all <= 0 ? 0 : all / unit * unit;
    }
};

/// For how long links can be busy with messages on chains from a holder to a receiver, by when
/// (trees.cpp).
class BusyWindows {
  public:
    explicit BusyWindows(const Traffic& traffic);

    /// The least end by which the lengths times the windows reach `cost`; none if they never do.
    [[nodiscard]] std::optional<Ticks> least_end(const std::vector<std::int64_t>& length, Wide cost) const;

    std::vector<BusyWindow> windows;  ///< per link

  private:
    [[nodiscard]] Bytes smallest() const { return traffic_.smallest().bytes; }
    [[nodiscard]] BusyWindow window(LinkId id, const PacedTimes& from, const PacedTimes& to) const;
    /// What all busy times of the link are multiples of.
    [[nodiscard]] std::int64_t unit(LinkId id) const;
    [[nodiscard]] bool enough(const std::vector<std::int64_t>& length, Wide cost, std::int64_t end) const;

    const Traffic& traffic_;
    const Topology& topology_;
    PacedNetwork network_;
    bool one_size_ = true;
};

}  // namespace tutti::bounds

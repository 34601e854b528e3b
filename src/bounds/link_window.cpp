#include "bounds/link_window.hpp"

#include "core/expects.hpp"
#include "core/least_tick.hpp"

namespace tutti::bounds {

bool enough(std::span<const LinkWindow> windows, Wide weight, Ticks end) {
    Wide total = 0;
    for (const LinkWindow& window : windows) {
        total += Wide{window.sends(end)} * window.weight;
        if (total >= weight) return true;
    }
    return false;
}

std::optional<Ticks> least_end(std::span<const LinkWindow> windows, Wide weight) {
    expects(weight > 0);
    return least_tick([&](Ticks end) { return enough(windows, weight, end); });
}

}  // namespace tutti::bounds

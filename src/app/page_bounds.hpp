#pragma once

#include "report/judged_view.hpp"
#include "synth/bounding.hpp"

namespace tutti::app {

/// The bounds that pages show are those that every command names.
inline std::vector<Bound> page_bounds(const Instance& instance, Ticks enough, const Stop& stop) {
    return synth::bounds_of(instance, enough, stop).bounds();
}

}  // namespace tutti::app

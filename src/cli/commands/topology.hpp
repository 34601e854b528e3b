#pragma once

#include "app/topology.hpp"

namespace tutti::cli {

/// What `tutti topology` shows.
struct TopologyPage {
    app::TopologyOptions topology{};
    bool links = false;  ///< a line for each link
    friend bool operator==(const TopologyPage&, const TopologyPage&) = default;
};

}  // namespace tutti::cli

#pragma once

#include "core/ticks.hpp"

#include <cstdint>
#include <vector>

namespace tutti::heuristics {

/// A network under a group of symmetries. Places are NPUs numbered orbit by orbit: orbit * group + element. A
/// machine is an orbit of links, on which one transfer at a time may be booked; it leads from each place of
/// its tail orbit to heads[element].
struct QuotientNetwork {
    struct Machine {
        std::uint32_t tails = 0;  ///< the orbit
        Ticks transit, busy;
        std::vector<std::uint32_t> heads;
    };
    std::uint32_t group = 1;
    std::uint32_t orbits = 1;
    std::vector<Machine> machines;

    [[nodiscard]] std::uint32_t places() const { return group * orbits; }
};

/// A transfer of a spread from a tail place over a machine.
struct QuotientTransfer {
    std::uint32_t spread, machine, tail;
    Ticks start;
};

struct QuotientFlood {
    Ticks makespan;
    std::vector<QuotientTransfer> transfers;  ///< in order of start
};

}  // namespace tutti::heuristics

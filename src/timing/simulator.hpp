#pragma once

#include "core/stop.hpp"
#include "core/topology.hpp"
#include "timing/timed_program.hpp"

#include <optional>
#include <vector>

namespace tutti::timing {

/// The load of one link.
struct LinkLoad {
    LinkId link;
    Ticks busy;                   ///< ticks in which it was taken
    std::uint64_t transfers = 0;  ///< pieces of data that it carried
    std::int64_t bytes = 0;       ///< their sizes together
    friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// One transfer on one link.
struct LinkUse {
    TaskId task = 0;
    LinkId link;
    Ticks start;
    friend bool operator==(const LinkUse&, const LinkUse&) = default;
};

struct Timeline {
    Ticks makespan;                 ///< the last arrival
    std::vector<Ticks> ends{};      ///< the same of each part
    std::vector<LinkLoad> links{};  ///< those that were used, by number
    std::vector<LinkUse> uses{};    ///< every transfer, in order of the requests; only where asked for
    std::uint64_t transfers = 0;    ///< tasks that moved data
    std::optional<TaskId> stuck{};  ///< the first task that never became ready; none: all is done
};

/// Simulates the program on the topology, from tick 0, with the time model of schedules. Deterministic,
/// integers only; O(hops of all tasks * log(tasks in flight)) where the links have no gaps. Throws LimitError
/// when stopped, InputError when times or bytes overflow. Preconditions: routes are paths of the topology
/// that use no link twice; sizes are > 0 where the topology is in physical units.
[[nodiscard]] Timeline simulate(const Topology& topology, const TimedProgram& program, bool keep_uses = false,
                                const Stop& stop = {});

}  // namespace tutti::timing

#pragma once

#include "core/stop.hpp"
#include "models/program.hpp"
#include "models/routing.hpp"

#include <functional>
#include <limits>

namespace tutti::models {

/// "Is there a schedule of makespan <= horizon?" as a program, and how to read its solution.
struct Question {
    Program program;
    std::function<std::vector<Transfer>(std::span<const std::int64_t>)> read;
    /// Whether "infeasible" holds for every schedule; else only for those of some form (invariant under a
    /// symmetry).
    bool refutes = true;
    /// The stop came while it was written: the program is only a part of it.
    bool stopped = false;
    /// The program grew beyond Asked::most_size and is only a part of it.
    bool too_large = false;
};

/// The horizon asked about, and where to look first.
struct Asked {
    Units64 horizon = 0;
    std::span<const Transfer> hint = {};
    Stop stop = {};  ///< a large question takes seconds to write
    std::size_t most_size = std::numeric_limits<std::size_t>::max();  ///< of the program, Program::size()
    /// Which commodities stay as they are, and what those do (perhaps beyond the horizon): only the others
    /// are asked about. Empty: none stay. `time_indexed`, without a quotient, where no buffer is limited; in
    /// `interval` sums stay on the hops of the hint, at other times.
    std::vector<bool> stays = {};
    std::span<const Transfer> standing = {};
    /// Of spreads and flows in `time_indexed`: every link starts at the multiples of its busy time after its
    /// first start or before its last one only ("infeasible" then proves nothing).
    bool pressed = false;
    /// With `pressed`, and in `exchange`, if not empty: only the hops of these transfers are taken, at any
    /// time.
    std::span<const Transfer> ways = {};
};

}  // namespace tutti::models

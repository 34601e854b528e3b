#pragma once

#include "core/bound.hpp"
#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "core/search_options.hpp"
#include "core/stop.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::models {

/// The start of the search, and its callbacks.
struct HorizonRequest {
    const Instance& instance;
    Bound bound;                        ///< the best lower bound so far
    Schedule incumbent;                 ///< the best schedule so far, verified
    std::vector<std::string> backends;  ///< who may answer; empty: all that are built in
    unsigned threads = 1;
    std::uint64_t seed = 1;
    std::optional<std::size_t> memory_bytes = {};
    Stop stop;
    /// Called with one line of progress at a time. May be empty.
    std::function<void(const std::string&)> story;
    /// Judges every schedule that a solver claims; throws if it is not valid or not as short as asked.
    std::function<void(const Schedule&, const std::string& who)> judge;
    /// Called after each answer that improves the incumbent or the bound. May be empty.
    std::function<void(std::optional<Ticks> makespan, std::optional<Ticks> bound)> found = {};
    SearchOptions options = {};
};

struct HorizonResult {
    Bound bound;             ///< at least the one it started from
    Schedule schedule;       ///< at most as long as the incumbent
    std::string found_by;    ///< who found it; empty: it is the incumbent
    std::string refuted_by;  ///< who proved the bound; empty: it is the first one
    std::string obstacle;    ///< why there is no proof, if it is not for want of time; else empty
    std::map<std::string, std::string> versions;  ///< of the solvers that were asked
    bool stopped = false;                         ///< the request's stop ended it

    [[nodiscard]] bool proven() const { return schedule.makespan <= bound.value; }
};

/// Searches the horizons T between bound and incumbent: "is there a schedule of makespan <= T?" is given to
/// encodings and solvers, on few threads in turn with growing slices of time, on more threads concurrently;
/// the first answer is used. "Feasible" improves the incumbent, "infeasible" the bound, until they meet.
[[nodiscard]] HorizonResult search_horizons(const HorizonRequest& request);

/// Why exact synthesis is impossible: no solver is available, or none of those named, and how to get one.
/// Empty if it is possible.
[[nodiscard]] std::string why_no_solver(const std::vector<std::string>& backends);

}  // namespace tutti::models

#pragma once

#include "models/backend.hpp"
#include "models/relaxation/traffic.hpp"

#include "core/bound.hpp"

namespace tutti::models {

/// One horizon of the time-expanded relaxation, in units of `unit` ticks.
struct TimedCase {
    const Instance& instance;
    const std::vector<Trip>& trips;
    std::int64_t unit = 1;
    std::vector<std::int64_t> busy;  ///< per link
    std::int64_t horizon = 0;
};

/// A weight for the window of `busy` units from `window` on.
struct WindowWeight {
    std::size_t link;
    std::int64_t window;
    double weight;
};

/// "How much flow is missing at the horizon?", asked of a solver. Refutes the horizon if that is more than
/// nothing.
struct TimedAnswer {
    enum class Word { Missing, Fits, TooLarge, Unknown };
    Word word = Word::Unknown;
    std::vector<WindowWeight> weights;  ///< the duals, when Missing
    std::size_t entries = 0;            ///< of the program, where it was put to the solver
};
/// Precondition: each trip alone can be made by the horizon.
[[nodiscard]] TimedAnswer solve_timed(const TimedCase& timed, const Backend& backend,
                                      const SolveLimits& limits, std::size_t most_entries);

/// Whether these weights (integers, per link and window) prove that the trips do not fit into the horizon:
/// the cheapest paths through time sum to more than the weights. Exact.
struct WholeWeight {
    std::size_t link;
    std::int64_t window;
    std::int64_t weight;
};
[[nodiscard]] bool refutes(const TimedCase& timed, const std::vector<WholeWeight>& weights);

}  // namespace tutti::models

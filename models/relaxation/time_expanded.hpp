#pragma once

#include "models/backend.hpp"
#include "models/relaxation.hpp"
#include "models/relaxation/traffic.hpp"

#include "core/bound.hpp"

#include <functional>
#include <optional>
#include <vector>

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

/// The first horizon from `low` on that is not refuted: one by one, then in growing steps until one is not,
/// then between the two. A stop ends it early.
[[nodiscard]] std::int64_t first_not_refuted(std::int64_t low,
                                             const std::function<bool(std::int64_t horizon)>& is_refuted,
                                             const Stop& stop);

/// The tries to turn duals into integers: the first weights, at least 0, that are accepted.
[[nodiscard]] std::optional<std::vector<WholeWeight>> whole_weights(
    const std::vector<WindowWeight>& duals,
    const std::function<bool(const std::vector<WholeWeight>&)>& is_accepted);

/// The bound where every receiver pays for the message that brings it a chunk (certificates with `messages`),
/// from `from` on, as time_expanded_bound.
[[nodiscard]] Relaxed messages_bound(const Instance& instance, const Backend& backend, Ticks from,
                                     const RelaxationLimits& limits);

}  // namespace tutti::models

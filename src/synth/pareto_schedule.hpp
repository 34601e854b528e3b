#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "models/step_problem.hpp"

#include <optional>

namespace tutti::synth {

/// What an algorithm of the synchronous model does: a plan that copies, one that reduces (on the reversed
/// network), or both, the reduction first.
struct StepAlgorithm {
    int chunks = 1;
    std::optional<models::StepPlan> reduction, copies;
};

/// An instance and a schedule of it that has passed the verifier.
struct Realised {
    Instance instance;
    Schedule schedule;
};

/// The algorithm by the clock of rounds: the instance's network with alpha 0 and links so fast that each
/// carries its chunks per round; each step begins when the rounds of those before it are over. `round` is a
/// round's length.
struct RoundClock {
    Realised realised;
    Ticks round;
};
[[nodiscard]] RoundClock by_rounds(const Instance& instance, const models::StepView& view,
                                   const StepAlgorithm& algorithm, const std::string& name);

/// The algorithm on the network as it is: every send as early as its chunk and its link allow, in the order
/// of steps.
[[nodiscard]] Realised by_ticks(const Instance& instance, const models::StepView& view,
                                const StepAlgorithm& algorithm, const std::string& name);

}  // namespace tutti::synth

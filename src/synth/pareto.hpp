#pragma once

#include "core/instance.hpp"
#include "core/schedule.hpp"
#include "models/pareto.hpp"
#include "synth/pareto_schedule.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::synth {

/// An algorithm of the frontier, verified twice: by the clock of rounds, and in ticks on the network as it
/// is.
struct ParetoPoint {
    models::StepPoint point;       ///< chunks as the instance's field `chunks` counts them
    std::int64_t sccl_chunks = 1;  ///< per node, as SCCL's paper counts them
    models::Ratio ratio;           ///< R over sccl_chunks
    bool proven = true;            ///< every better point was refuted
    bool latency_optimal = false, bandwidth_optimal = false;
    std::string by;      ///< the solver that found it
    double seconds = 0;  ///< what finding it took
    RoundClock rounds;
    Realised ticks;
};

struct ParetoResult {
    bool composition = false;  ///< an all-reduce: optimal among reduce-scatter and then all-gather
    std::vector<ParetoPoint> points;
    std::vector<models::PointAnswer> undecided;
    int fewest_steps = 0;
    models::Ratio least_ratio;  ///< of R over sccl_chunks
    int max_chunks = 0;         ///< as the field counts them
    bool complete = false;      ///< every point is proven and none can be missing within the limits
    std::string end;            ///< why the enumeration ended, as text
    std::size_t refuted = 0;
    double seconds = 0;
};

/// All Pareto-optimal synchronous algorithms of the instance's collective. Its field `chunks` is ignored.
/// Throws InputError for what models::step_view refuses, InfeasibleError when a receiver cannot be reached,
/// LimitError without the solver asked for.
[[nodiscard]] ParetoResult pareto(const Instance& instance, const models::ParetoRequest& request);

/// One question: is there an algorithm of these steps, rounds and chunks?
struct PointResult {
    models::Decision decision = models::Decision::Undecided;
    bool composition = false;
    std::string by, words;
    double seconds = 0;
    std::optional<ParetoPoint> found;
};
[[nodiscard]] PointResult pareto_point(const Instance& instance, const models::StepPoint& point,
                                       const models::ParetoRequest& request);

}  // namespace tutti::synth

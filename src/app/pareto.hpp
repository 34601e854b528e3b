#pragma once

#include "app/json.hpp"
#include "app/watch.hpp"
#include "core/instance.hpp"
#include "synth/pareto.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tutti::app {

struct ParetoOptions {
    std::string instance{};  ///< a path, or "-"
    std::string output{};    ///< a folder, or empty
    std::optional<int> max_steps{}, max_chunks{}, max_rounds{}, k{};
    std::optional<std::array<int, 3>> point{};  ///< steps, rounds, chunks
    std::string backend = "auto";               ///< or one of solver_names()
    std::uint64_t seed = 1;
    unsigned threads = 1;
    std::optional<double> time_limit{};  ///< seconds
    friend bool operator==(const ParetoOptions&, const ParetoOptions&) = default;
};

/// The files of an algorithm, in rounds and in ticks; empty names where nothing was written.
struct ParetoFiles {
    std::string instance{}, schedule{}, ticks_instance{}, ticks_schedule{};
};

struct ParetoFrontier {
    Instance instance;
    synth::ParetoResult result{};
    std::vector<ParetoFiles> files{};  ///< one for each point
};

struct ParetoAnswer {
    Instance instance;
    synth::PointResult result{};
    ParetoFiles files{};
};

/// All Pareto-optimal synchronous algorithms of the instance's collective, written below options.output.
/// Throws InputError, InfeasibleError, LimitError if the requested solver is missing, BugError. Precondition:
/// no options.point.
[[nodiscard]] ParetoFrontier pareto(const ParetoOptions& options, const Watch& watch = {});

/// Whether there is an algorithm of those steps, rounds and chunks. Precondition: options.point.
[[nodiscard]] ParetoAnswer pareto_point(const ParetoOptions& options, const Watch& watch = {});

/// The keys of docs/pareto.md, except the exit code.
[[nodiscard]] io::Json json_of(const ParetoFrontier& frontier);
[[nodiscard]] io::Json json_of(const ParetoAnswer& answer, const std::array<int, 3>& point);

/// "3/2", or "2".
[[nodiscard]] std::string text_of(models::Ratio ratio);
/// "feasible", "infeasible", "unknown".
[[nodiscard]] std::string_view name_of(models::Decision decision);

}  // namespace tutti::app

#pragma once

#include "app/bench_plan.hpp"

namespace tutti::app {

/// Plans beside MPI's own collectives, in the processes that mpirun started: one is one rank.
[[nodiscard]] BenchResult bench_against_mpi(const BenchOptions& options, const Watch& watch,
                                            const std::function<void(const BenchRow&)>& row);

}  // namespace tutti::app

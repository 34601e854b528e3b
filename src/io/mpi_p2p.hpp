#pragma once

#include "plan/round_plan.hpp"

#include <string>

namespace tutti::io {

/// The plan as a C++17 source with one function, which runs it by MPI_Isend and MPI_Irecv. Precondition: the
/// plan is valid.
[[nodiscard]] std::string mpi_p2p_text(const plan::RoundPlan& plan);

}  // namespace tutti::io

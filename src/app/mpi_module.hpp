#pragma once

#include "run/mpi_library.hpp"

#include <memory>

namespace tutti::app {

/// The MPI library of the processes that mpirun started, by its module, which is looked for where the
/// solvers' modules are. Throws InputError if there is none, with where it was sought.
[[nodiscard]] std::unique_ptr<run::MpiLibrary> open_mpi();

}  // namespace tutti::app

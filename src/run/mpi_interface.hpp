#pragma once

// What the MPI module and the program that opens it agree on. Included by the two sides: app/mpi_module.cpp
// and mpi/module.cpp.

#include "run/mpi_library.hpp"

namespace tutti::run {

/// TUTTI_MPI_INTERFACE is a hash of mpi_library.hpp and of all headers of ours that it includes, so it
/// changes whenever they do.
inline constexpr const char* kMpiInterface = TUTTI_MPI_INTERFACE ", compiler " __VERSION__;

/// The function that a module exports under this name: a library that was initialised, or null if `interface`
/// is not the text that the module was built with.
inline constexpr const char* kMpiModuleFunction = "tutti_open_mpi";
using MpiModuleFunction = MpiLibrary*(const char* interface);

}  // namespace tutti::run

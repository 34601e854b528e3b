#pragma once

#include "run/element_type.hpp"

#include <mpi.h>

#include <optional>

namespace tutti::mpi {

/// MPI's handle; MPI_DATATYPE_NULL and MPI_OP_NULL where it has none.
[[nodiscard]] MPI_Datatype datatype_of(run::ElementType type);
[[nodiscard]] MPI_Op op_of(run::Operator op);
/// What a handle of a program means; nothing if plans cannot reduce that.
[[nodiscard]] std::optional<run::ElementType> element_type_of(MPI_Datatype type);
[[nodiscard]] std::optional<run::Operator> operator_of(MPI_Op op);

}  // namespace tutti::mpi

#pragma once

#include "plan/round_plan.hpp"

#include <string>
#include <string_view>

namespace tutti::io {

// What the C++ sources of rounds have in common (mpi_p2p.hpp, nccl_p2p.hpp).

/// The plan's name as that of a C function: "tutti_" and letters, digits, underscores.
[[nodiscard]] std::string function_name_of(const plan::RoundPlan& plan);

/// The words of one library.
struct RoundLibrary {
    std::string_view messages;      ///< "MPI messages"
    std::string_view parameters;    ///< of the function, from `count` on
    std::string_view descriptions;  ///< of those behind `count`, each a line of the comment
    std::string_view result;        ///< of the function, its type
    std::string_view results;       ///< and its values
    std::string_view datatype;      ///< the type of a datatype
    std::string_view usage;         ///< how to compile and run it, as lines of the comment
};

/// The comment at the top: what it is, for whom, how it is called, who is who, how it is run.
[[nodiscard]] std::string round_heading(const plan::RoundPlan& plan, const RoundLibrary& library);

/// Constants, the table of steps, and how a place is found in a call: what runs the table needs.
[[nodiscard]] std::string round_tables(const plan::RoundPlan& plan);

}  // namespace tutti::io

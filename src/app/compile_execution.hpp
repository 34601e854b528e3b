#pragma once

#include "app/compile.hpp"
#include "app/python_program.hpp"

namespace tutti::app {

/// The plan of a program for MSCCL++, judged. With findings there is no text.
struct JudgedExecution {
    CompiledPlan facts{};
    std::string text{};  ///< JSON
    std::vector<CompileFinding> findings{};
};

/// Reads the plan that the program has made, verifies it for every interleaving, and names the program's line
/// of what is wrong. Throws InputError where the options do not fit such a program, or the plan cannot be
/// read.
[[nodiscard]] JudgedExecution verified_execution(const PythonPlan& made, const CompileOptions& options,
                                                 const Stop& stop);

/// The plan of an algorithm of the library, judged. Throws InternalError if it is not acceptable, InputError
/// where the options do not fit.
[[nodiscard]] JudgedExecution verified_execution(plan::ExecutionPlan plan, const CompileOptions& options);

}  // namespace tutti::app

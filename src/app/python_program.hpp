#pragma once

#include "core/stop.hpp"

#include <string>
#include <vector>

namespace tutti::app {

/// The plan of a program for MSCCL++, and the program's lines for its operations: two files.
struct PythonPlan {
    std::string plan{}, lines{};
};

/// What a program has made: files of traces and of plans, each in order, or why not.
struct PythonTraces {
    std::vector<std::string> files{};
    std::vector<PythonPlan> plans{};
    /// The program ran, but its own check fails: in words, and where.
    std::string failed_check{}, place{};
};

/// Runs a Python program with `tutti.msccl` in place of `msccl` and `tutti.mscclpp` in place of `mscclpp`;
/// what it traces, and the plans that it makes, are written to files of that folder. The program's own output
/// goes to standard error. The interpreter is TUTTI_PYTHON, or python3. Throws InputError with what the
/// program said where it fails, or where there is no Python, LimitError when stopped.
[[nodiscard]] PythonTraces trace_python(const std::string& program, const std::vector<std::string>& arguments,
                                        const std::string& folder, const Stop& stop);

}  // namespace tutti::app

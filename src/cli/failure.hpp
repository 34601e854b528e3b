#pragma once

#include "app/json.hpp"
#include "cli/exit_code.hpp"
#include "cli/streams.hpp"

#include <exception>
#include <string>
#include <vector>

namespace tutti::cli {

/// Why a command failed.
struct Failure {
    ExitCode code = ExitCode::Bug;
    std::string message;
    std::string file, place;  ///< where, if the input is wrong
    std::string reproducer;   ///< a file, if the bug is ours
};

/// The only place that maps exceptions to exit codes. The instance of an app::BugError is written to
/// ./tutti-bug-<name>.json, so that it can be reported.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

/// {"error": …, "exit_code": 2} and, where known, "file", "place", "reproducer".
[[nodiscard]] io::Json failure_json(const Failure& failure);

/// Prints the failure to `err` and, with --json among the arguments, to `out` too.
void report(const Failure& failure, const std::vector<std::string>& arguments, const Streams& streams);

}  // namespace tutti::cli

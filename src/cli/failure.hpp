#pragma once

#include "cli/exit_code.hpp"
#include "cli/streams.hpp"
#include "core/instance.hpp"
#include "io/json_view.hpp"

#include <exception>
#include <string>
#include <vector>

namespace tutti::cli {

/// Why a command could not do what it was asked for.
struct Failure {
    ExitCode code = ExitCode::Bug;
    std::string message;
    std::string file, place;  ///< where, if the input is wrong
    std::string reproducer;   ///< a file, if the bug is ours
};

/// A bug of ours that a file reproduces.
class BugError : public InternalError {
  public:
    BugError(const std::string& message, std::string reproducer)
        : InternalError(message), reproducer_(std::move(reproducer)) {}
    [[nodiscard]] const std::string& reproducer() const { return reproducer_; }

  private:
    std::string reproducer_;
};

/// The one place that gives exceptions their exit codes.
[[nodiscard]] Failure failure_of(const std::exception_ptr& error);

/// {"error": …, "exit_code": 2} and, where known, "file", "place", "reproducer".
[[nodiscard]] io::Json failure_json(const Failure& failure);

/// Says on `err` what went wrong and, with --json among the arguments, on `out` too.
void report(const Failure& failure, const std::vector<std::string>& arguments, const Streams& streams);

/// Inside a catch block: passes on what is not a bug. For a bug it writes the instance to
/// ./tutti-bug-<name>.json and throws a BugError that names the file.
[[noreturn]] void rethrow_with_reproducer(const Instance& instance);

/// What `work` returns; a bug on the way leaves the instance behind as a file.
template <class Work>
auto with_reproducer(const Instance& instance, const Work& work) {
    try {
        return work();
    } catch (...) {
        rethrow_with_reproducer(instance);
    }
}

}  // namespace tutti::cli

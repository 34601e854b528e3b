#pragma once

#include <atomic>

namespace tutti::cli {

/// From now on the first Ctrl-C (or SIGTERM) only sets the flag, so that results so far can be written; the
/// second one kills the process. A closed pipe becomes a failed write instead of a signal.
[[nodiscard]] const std::atomic<bool>& catch_signals();

}  // namespace tutti::cli

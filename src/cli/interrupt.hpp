#pragma once

#include <atomic>

namespace tutti::cli {

/// From now on the first Ctrl-C (or SIGTERM) only raises the flag, so that what there is can be written; the
/// second one kills as ever. A closed pipe becomes a failed write instead of a signal.
[[nodiscard]] const std::atomic<bool>& catch_signals();

}  // namespace tutti::cli

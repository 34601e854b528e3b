#pragma once

namespace tutti::cli {

/// What the process returns. Scripts rely on these numbers.
enum class ExitCode : int {
    Done = 0,           ///< done, and valid
    Failed = 1,         ///< a schedule is invalid, a batch holds a failure, or results got worse
    BadInput = 2,       ///< bad usage, malformed input, or a file that cannot be read or written
    LimitReached = 3,   ///< no schedule within the limits of time or memory
    Infeasible = 4,     ///< no schedule can exist
    Bug = 70,           ///< a bug of ours (EX_SOFTWARE of sysexits.h)
    Interrupted = 130,  ///< ended by Ctrl-C or SIGTERM, as shells count it (128 + SIGINT)
};

}  // namespace tutti::cli

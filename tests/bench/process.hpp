#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tutti::bench {

/// What became of a command.
struct ProcessEnd {
    std::string out;           ///< its standard output
    std::string last_words;    ///< the last line of its standard error
    int code = -1;             ///< its exit code; -1 if it was killed
    bool out_of_time = false;  ///< had all the processor time that it may have
    double cpu_seconds = 0;    ///< user and system time
    double wall_seconds = 0;
    std::size_t peak_bytes = 0;
};

struct ProcessLimits {
    double cpu_seconds = 60;
    std::size_t bytes = std::size_t{20} << 30;
};

/// Runs a command (its path first) to its end, or until it has used up its limits.
[[nodiscard]] ProcessEnd run_process(const std::vector<std::string>& words, const ProcessLimits& limits);

}  // namespace tutti::bench

#pragma once

#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// What a batch left behind, found again from anywhere.
struct FoundResults {
    std::string folder{};  ///< in which they are; empty for standard input
    /// The last line of each key, in the order in which the keys came first. Each has a key and a label:
    /// lines of `synth --json` get those that follow from their file. A journal names files as seen from
    /// where its run was (run.json has that as "from"); here they are as seen from this process, wherever
    /// they are found, and schedules also where the folder itself was moved.
    std::vector<ResultLine> lines{};
    bool moved = false;       ///< some path was not as the journal has it
    std::size_t damaged = 0;  ///< lines that could not be read
};

enum class DamagedLines { Refuse, PassOver };

/// A results folder or a results.jsonl; "-" is standard input. Throws InputError.
[[nodiscard]] FoundResults find_results(const std::string& path, DamagedLines damaged = DamagedLines::Refuse);

/// The line that is about this schedule, if it lies below a folder of results. Unreadable results are none.
[[nodiscard]] std::optional<ResultLine> line_about(const std::string& schedule);

}  // namespace tutti::io

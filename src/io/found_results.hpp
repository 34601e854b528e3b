#pragma once

#include "io/result_jsonl.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tutti::io {

/// The results of a batch, with file names resolved for this process.
struct FoundResults {
    std::string folder{};  ///< in which they are; empty for standard input
    /// The last line of each key, in the order in which the keys first occur. Each has a key and a label;
    /// those of `synth --json` lines follow from their file. A journal names files relative to the working
    /// directory of its run ("from" in run.json). Here they are relative to this process's, if they exist;
    /// schedules are found even when the folder was moved.
    std::vector<ResultLine> lines{};
    bool moved = false;       ///< some path was not as the journal has it
    std::size_t damaged = 0;  ///< lines that could not be read
};

enum class DamagedLines { Refuse, PassOver };

/// A results folder or a results.jsonl; "-" is standard input. Throws InputError.
[[nodiscard]] FoundResults find_results(const std::string& path, DamagedLines damaged = DamagedLines::Refuse);

/// The result line of this schedule, if it is in a results folder. Unreadable results count as none.
[[nodiscard]] std::optional<ResultLine> line_about(const std::string& schedule);

}  // namespace tutti::io

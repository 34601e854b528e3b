#pragma once

#include "app/judge_options.hpp"
#include "app/sniff.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::app {

enum class FileKind {
    Instance,
    Schedule,  ///< of ours, which needs its instance
    Plan,      ///< of another tool, complete in itself
    TensorProgram,
    TensorSchedule,  ///< of a tensor program, which it needs
    Unclear
};

/// The kind of a file, determined by its first bytes.
[[nodiscard]] FileKind kind_of_bytes(std::string_view bytes);
[[nodiscard]] FileKind kind_of(const Sniffed& sniffed);
/// Of standard input, and of what cannot be read: Unclear. The reader proper will report the error.
[[nodiscard]] FileKind kind_of_path(const std::string& path);

/// An instance and its schedules.
struct ScheduleFiles {
    std::string instance{};
    std::vector<std::string> schedules{};
};

/// Finds the instance among the files by their content. Standard input and unrecognised files fill the role
/// that is left: the first is the instance if there is none yet, the others are schedules. Throws InputError
/// when there is no instance, or two.
[[nodiscard]] ScheduleFiles instance_and_schedules(const std::vector<std::string>& files);

/// Files to be judged, by kind.
struct FilesToJudge {
    std::optional<ScheduleFiles> ours{};
    std::vector<std::string> plans{};
    std::vector<std::string> folders{};
};

/// Sorts the files by their content. A single unrecognised file counts as a (malformed) plan. Throws
/// InputError as above, and when an instance or a schedule is alone.
[[nodiscard]] FilesToJudge sorted_files(const JudgeOptions& options);

}  // namespace tutti::app

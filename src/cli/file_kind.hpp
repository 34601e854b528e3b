#pragma once

#include "cli/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tutti::cli {

enum class FileKind { Instance, Schedule, Unclear };

/// What a file is, told from its first bytes: a stream's first letter, or the first field of a JSON object.
[[nodiscard]] FileKind kind_of_beginning(std::string_view bytes);

/// The files of `tutti verify` by their parts.
struct VerifyFiles {
    std::string instance;
    std::vector<std::string> schedules;
};

/// Finds the instance among the files by their content. Standard input and files that do not tell take the
/// part that is left: the instance if there is none yet (the first of them), else a schedule. Throws
/// InputError when there are two instances.
[[nodiscard]] VerifyFiles sorted_out(const VerifyOptions& options);

}  // namespace tutti::cli

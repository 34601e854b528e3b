#pragma once

#include "batch/task.hpp"
#include "core/instance.hpp"

#include <string>

namespace tutti::batch {

/// The task's instance, varied as the task asks. Throws InputError, also for what is no regular file: nothing
/// waits for a pipe.
[[nodiscard]] Instance instance_of(const Task& task);

/// A hash of the file's bytes (FNV-1a, 64 bits) as 16 hexadecimal digits, by which a changed file is noticed;
/// empty for what is no regular file, cannot be read, or is too large to be read as an instance.
[[nodiscard]] std::string digest_of(const std::filesystem::path& path);

}  // namespace tutti::batch

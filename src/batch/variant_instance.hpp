#pragma once

#include "batch/task.hpp"
#include "core/instance.hpp"

#include <string>

namespace tutti::batch {

/// The task's instance, with the chunks and the size of a call that the variant asks for. Throws InputError:
/// also for what is no regular file (nothing waits for a pipe), for `chunks` of a kind of collective that has
/// no such field, and for `bytes` in abstract units or of custom demands.
[[nodiscard]] Instance instance_of(const Task& task);

/// A hash of the file's bytes (FNV-1a, 64 bits) as 16 hexadecimal digits, by which a changed file is noticed;
/// empty for what is no regular file, cannot be read, or is too large to be read as an instance.
[[nodiscard]] std::string digest_of(const std::filesystem::path& path);

}  // namespace tutti::batch

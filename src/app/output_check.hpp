#pragma once

#include <string>

namespace tutti::app {

/// Called before the work, so that errors come early: the output must not be the instance, and must be
/// writable ("-" is standard output and always is). Throws InputError.
void check_output(const std::string& target, const std::string& instance_file);

}  // namespace tutti::app

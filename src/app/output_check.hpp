#pragma once

#include <string>
#include <string_view>

namespace tutti::app {

/// Called before the work, so that errors come early: the output must not be the instance, and must be
/// writable ("-" is standard output and always is). `what` would be written. Throws InputError.
void check_output(const std::string& target, const std::string& instance_file,
                  std::string_view what = "the schedule");

}  // namespace tutti::app

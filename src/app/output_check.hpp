#pragma once

#include <string>
#include <string_view>

namespace tutti::app {

/// Called before the work, so that errors come early: the output must not be the input (an instance unless
/// `input` says otherwise), and must be writable ("-" is standard output and always is). `what` would be
/// written. Throws InputError.
void check_output(const std::string& target, const std::string& input_file,
                  std::string_view what = "the schedule", std::string_view input = "instance");

}  // namespace tutti::app

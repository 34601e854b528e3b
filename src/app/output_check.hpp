#pragma once

#include <string>

namespace tutti::app {

/// Found out before the work, not after it: the output must not be the instance, and must be writable ("-"
/// is a stream, and always is). Throws InputError.
void check_output(const std::string& target, const std::string& instance_file);

}  // namespace tutti::app

#pragma once

#include <string>

namespace tutti::models {

/// The file from which the code or data at `address` was loaded, symbolic links resolved: a shared library,
/// or the program itself. Empty if no file holds it.
[[nodiscard]] std::string library_file(const void* address);

}  // namespace tutti::models

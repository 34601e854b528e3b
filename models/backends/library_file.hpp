#pragma once

#include <string>

namespace tutti::models {

/// The file from which `symbol` was loaded, symbolic links resolved; empty if nothing loaded has it. `handle`
/// is what dlopen gave, or RTLD_DEFAULT for a library that is linked.
[[nodiscard]] std::string library_file(void* handle, const char* symbol);

}  // namespace tutti::models

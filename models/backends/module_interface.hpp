#pragma once

// What a module and the program that opens it agree on. Included by the two sides: module.cpp (in the
// program) and module_entry.cpp (in each module).
//
// The backend crosses the boundary as a C++ object: its virtual functions, and the std::string and
// std::vector in its answers, must look the same on both sides. So both carry a text that names the
// interface, and a module with another text is refused before any C++ type is touched.

#include "models/backends/registry.hpp"

namespace tutti::models {

#define TUTTI_TEXT_OF(macro) TUTTI_TEXT(macro)
#define TUTTI_TEXT(value) #value

/// TUTTI_BACKEND_INTERFACE is a hash of the headers that registry.hpp includes, so it changes whenever they
/// do.
inline constexpr const char* kModuleInterface =
    TUTTI_BACKEND_INTERFACE ", compiler " __VERSION__ ", libstdc++ ABI " TUTTI_TEXT_OF(_GLIBCXX_USE_CXX11_ABI)
#ifdef _GLIBCXX_DEBUG
        ", debug containers"
#endif
    ;

#undef TUTTI_TEXT_OF
#undef TUTTI_TEXT

/// The one function that a module exports. Returns the module's own kModuleInterface; fills `opened` only if
/// `interface`, the caller's, is the same text.
inline constexpr const char* kModuleFunction = "tutti_open_backend";
using ModuleFunction = const char*(const char* interface, OpenedBackend* opened);

}  // namespace tutti::models

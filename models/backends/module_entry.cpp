// The exported function of every module; linked into each module, not into the program.

#include "models/backends/module_interface.hpp"
#include "models/backends/open_backend.hpp"

#include <string_view>
#include <type_traits>

extern "C" const char* tutti_open_backend(const char* interface, tutti::models::OpenedBackend* opened) {
    using namespace tutti::models;
    if (interface == std::string_view(kModuleInterface)) *opened = open_backend();
    return kModuleInterface;
}

static_assert(std::is_same_v<decltype(tutti_open_backend), tutti::models::ModuleFunction>);

#include "models/backends/library_file.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace tutti::models {

std::string library_file(const void* address) {
    Dl_info info{};
    link_map* map = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
    // The main program has no name in the loader's list, and dladdr would give argv[0], which may be
    // anything.
    const std::string name = *map->l_name == '\0' ? "/proc/self/exe" : map->l_name;
    std::error_code error;
    const auto resolved = std::filesystem::canonical(name, error);
    return error ? name : resolved.string();
}

}  // namespace tutti::models

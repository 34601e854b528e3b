#include "models/backends/library_file.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

namespace tutti::models {

std::string library_file(void* handle, const char* symbol) {
    const void* const address = dlsym(handle, symbol);
    Dl_info info{};
    if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code error;
    const auto resolved = std::filesystem::canonical(info.dli_fname, error);
    return error ? std::string(info.dli_fname) : resolved.string();
}

}  // namespace tutti::models

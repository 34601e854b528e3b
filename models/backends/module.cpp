// Modules are found relative to the file that holds this very code, so that an installed tree, a wheel or a
// build folder can be moved. That file is the program where tutti is linked into it, else libtutti.so.

#include "models/backends/module.hpp"

#include "models/backends/library_file.hpp"
#include "models/backends/module_interface.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace tutti::models {

namespace fs = std::filesystem;

std::vector<fs::path> module_folders() {
    const char* const variable = std::getenv("TUTTI_MODULE_PATH");
    static constexpr char kHere = 0;  // any address in this file's code or data will do
    return module_folders(variable == nullptr ? "" : variable, library_file(&kHere));
}

std::vector<fs::path> module_folders(std::string_view path_variable, const fs::path& own_file) {
    std::vector<fs::path> folders;
    while (!path_variable.empty()) {
        const std::string_view folder = path_variable.substr(0, path_variable.find(':'));
        if (!folder.empty()) folders.emplace_back(folder);
        path_variable.remove_prefix(std::min(path_variable.size(), folder.size() + 1));
    }
    for (const char* const relative :
         {"modules", "tutti/modules", "../modules", TUTTI_MODULES_FROM_BIN, TUTTI_MODULES_FROM_LIBEXEC}) {
        folders.push_back((own_file.parent_path() / relative).lexically_normal());
    }
    return folders;
}

OpenedBackend open_module(const fs::path& file) {
    void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == nullptr) return {nullptr, fmt::format("cannot be loaded: {}", dlerror())};
    auto* const open = reinterpret_cast<ModuleFunction*>(dlsym(module, kModuleFunction));
    if (open == nullptr) {
        return {nullptr,
                fmt::format("{} is not a module of tutti: it has no {}", file.string(), kModuleFunction)};
    }
    OpenedBackend opened;
    const std::string_view interface = open(kModuleInterface, &opened);
    if (interface != kModuleInterface) {
        return {
            nullptr,
            fmt::format("{} was built for another version of tutti (its interface is {}; this one's is {})",
                        file.string(), interface, kModuleInterface)};
    }
    return opened;
}

}  // namespace tutti::models

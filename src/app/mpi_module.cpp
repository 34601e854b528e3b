#include "app/mpi_module.hpp"

#include "core/error.hpp"
#include "models/backends/module.hpp"
#include "run/mpi_interface.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tutti::app {

std::unique_ptr<run::MpiLibrary> open_mpi() {
    constexpr const char* kFile = "tutti_mpi.so";
    std::string searched;
    for (const std::filesystem::path& folder : models::module_folders()) {
        const std::filesystem::path file = folder / kFile;
        std::error_code error;
        if (!std::filesystem::exists(file, error)) {
            searched += fmt::format("{}{}", searched.empty() ? "" : ", ", folder.string());
            continue;
        }
        // Global, because libraries of MPI load plugins that use their symbols. Never closed.
        void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
        if (module == nullptr)
            throw InputError(fmt::format("the MPI module cannot be opened: {}", dlerror()));
        const auto open = reinterpret_cast<run::MpiModuleFunction*>(dlsym(module, run::kMpiModuleFunction));
        run::MpiLibrary* const library = open != nullptr ? open(run::kMpiInterface) : nullptr;
        if (library == nullptr)
            throw InputError(fmt::format("{} is of another version of tutti", file.string()));
        return std::unique_ptr<run::MpiLibrary>(library);
    }
    throw InputError(
        fmt::format("there is no {} in {}: tutti was built without MPI (scripts/setup --with-mpi "
                    "brings one), or TUTTI_MODULE_PATH may name its folder",
                    kFile, searched));
}

}  // namespace tutti::app

#include "app/scratch_folder.hpp"

#include "core/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace tutti::app {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder(const std::string& name) {
    std::error_code error;
    const fs::path folder = fs::temp_directory_path(error);
    std::string path = (folder / (name + "-XXXXXX")).string();
    if (error) throw OutputError("TMPDIR names no folder; temporary files need one");
    if (::mkdtemp(path.data()) == nullptr) {
        throw OutputError(fmt::format("no folder can be made in {} (TMPDIR names another)", folder.string()));
    }
    path_ = path;
}

ScratchFolder::~ScratchFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
}

}  // namespace tutti::app

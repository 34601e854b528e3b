#include "io/file_set.hpp"

#include "core/error.hpp"
#include "io/atomic_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tutti::io {
namespace {

[[noreturn]] void fail(const std::string& file, int error) {
    throw InputError("cannot be written: " + std::generic_category().message(error), {}, file);
}

void make_parent(const std::filesystem::path& path) {
    std::error_code error;
    if (!path.parent_path().empty()) std::filesystem::create_directories(path.parent_path(), error);
    if (error) fail(path.parent_path().string(), error.value());
}

}  // namespace

FileSet::FileSet(const std::string& directory) : directory_(directory) {
    for (int attempt = 0; hidden_.empty(); ++attempt) {
        const std::string path = place(fmt::format(".tutti-{}-{}.tmp", ::getpid(), attempt));
        if (::mkdir(path.c_str(), 0777) == 0) {
            hidden_ = path;
        } else if (errno != EEXIST) {
            fail(directory_.empty() ? "." : directory_, errno);
        }
    }
}

FileSet::~FileSet() {
    std::error_code ignored;
    std::filesystem::remove_all(hidden_, ignored);
}

std::string FileSet::place(const std::string& name) const {
    return directory_.empty() ? name : (std::filesystem::path(directory_) / name).string();
}

void FileSet::write(const std::string& name, std::string_view bytes) {
    const std::filesystem::path path = std::filesystem::path(hidden_) / name;
    make_parent(path);
    AtomicFile file(path.string());
    file.write(bytes);
    file.commit();
    names_.push_back(name);
}

void FileSet::commit() {
    // A directory of the same name is the only obstacle to a rename where writing beside it worked.
    for (const std::string& name : names_) {
        if (std::filesystem::is_directory(place(name))) fail(place(name), EISDIR);
        make_parent(place(name));
    }
    for (std::size_t i = 0; i < names_.size(); ++i) {
        const std::string from = (std::filesystem::path(hidden_) / names_[i]).string();
        if (std::rename(from.c_str(), place(names_[i]).c_str()) == 0) continue;
        const int error = errno;
        for (std::size_t j = 0; j < i; ++j) ::unlink(place(names_[j]).c_str());
        fail(place(names_[i]), error);
    }
}

}  // namespace tutti::io

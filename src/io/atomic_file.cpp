#include "io/atomic_file.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace tutti::io {
namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 18;

/// `path` with symbolic links resolved, so that the link stays and its target is replaced.
std::string followed(const std::string& path) {
    std::error_code error;
    const auto real = std::filesystem::weakly_canonical(path, error);
    return error ? path : real.string();
}

}  // namespace

AtomicFile::AtomicFile(const std::string& path) : name_(path == "-" ? "standard output" : path) {
    struct stat status {};
    if (path == "-") {
        descriptor_ = STDOUT_FILENO;
    } else if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        // A device or pipe (/dev/null) must not be replaced by a file. A directory fails here, as it should.
        descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (descriptor_ < 0) fail(errno);
    } else {
        open_beside(path);
    }
    buffer_.reserve(kBuffer);
}

void AtomicFile::open_beside(const std::string& path) {
    target_ = followed(path);
    const std::filesystem::path place(target_);
    for (int attempt = 0; descriptor_ < 0; ++attempt) {
        const auto name = fmt::format(".tutti-{}-{}.tmp", ::getpid(), attempt);
        temporary_ = (place.parent_path() / name).string();
        descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST) {
            const int error = errno;
            temporary_.clear();
            fail(error);
        }
    }
    struct stat status {};
    if (::stat(target_.c_str(), &status) == 0) (void)::fchmod(descriptor_, status.st_mode & 07777U);
}

AtomicFile::~AtomicFile() {
    if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail(int error) const {
    throw OutputError("cannot be written: " + std::generic_category().message(error), {}, name_);
}

void AtomicFile::write(std::string_view bytes) {
    size_ += bytes.size();
    buffer_ += bytes;
    if (buffer_.size() >= kBuffer) flush();
}

void AtomicFile::flush() {
    std::string_view left = buffer_;
    while (!left.empty()) {
        const ssize_t count = ::write(descriptor_, left.data(), left.size());
        if (count < 0 && errno != EINTR) fail(errno);
        if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
    }
    buffer_.clear();
}

void AtomicFile::commit() {
    flush();
    if (target_.empty()) return;
    if (::fsync(descriptor_) != 0) fail(errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
    temporary_.clear();
    sync_folder_of(target_);
}

void sync_folder_of(const std::string& path) {
    const std::string directory = std::filesystem::path(path).parent_path().string();
    const int handle =
        ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (handle >= 0) {
        (void)::fsync(handle);
        ::close(handle);
    }
}

void write_file(const std::string& path, std::string_view text) {
    AtomicFile file(path);
    file.write(text);
    file.commit();
}

}  // namespace tutti::io

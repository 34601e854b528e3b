#include "run/shared_memory.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace tutti::run {
namespace {

[[nodiscard]] LimitError no_memory(std::size_t bytes) {
    return LimitError(fmt::format("the system gives no shared memory of {} bytes: {}", bytes,
                                  std::generic_category().message(errno)));
}

}  // namespace

SharedMemory::SharedMemory(int file, std::size_t bytes) : file_(file), size_(bytes) {
    void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (mapped == MAP_FAILED) {
        const LimitError error = no_memory(bytes);
        close(file);
        throw error;
    }
    data_ = static_cast<std::byte*>(mapped);
    (void)madvise(mapped, bytes, MADV_HUGEPAGE);
    (void)madvise(mapped, bytes, MADV_DONTDUMP);
}

SharedMemory SharedMemory::create(std::size_t bytes) {
    const int file = memfd_create("tutti", MFD_CLOEXEC);
    if (file < 0) throw no_memory(bytes);
    if (ftruncate(file, static_cast<off_t>(bytes)) != 0) {
        const LimitError error = no_memory(bytes);
        close(file);
        throw error;
    }
    return {file, bytes};
}

SharedMemory SharedMemory::adopt(int file) {
    struct stat facts {};
    if (fstat(file, &facts) != 0) throw no_memory(0);
    return {file, static_cast<std::size_t>(facts.st_size)};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      size_(std::exchange(other.size_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

SharedMemory::~SharedMemory() {
    if (data_ != nullptr) munmap(data_, size_);
    if (file_ >= 0) close(file_);
}

// Record locks: they belong to the process (a child does not inherit them), and end with it.
void SharedMemory::take_seat(std::uint32_t seat) const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = seat;
    lock.l_len = 1;
    if (fcntl(file_, F_SETLK, &lock) != 0)
        throw LimitError(fmt::format("process {} of the team is there already", seat));
}

std::optional<std::int32_t> SharedMemory::holder_of(std::uint32_t seat) const {
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = seat;
    lock.l_len = 1;
    if (fcntl(file_, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return std::nullopt;
    return lock.l_pid;
}

void SharedMemory::forget(std::byte* first, std::size_t bytes) const {
    (void)madvise(first, bytes, MADV_REMOVE);
}

}  // namespace tutti::run

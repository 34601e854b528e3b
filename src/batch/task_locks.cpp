// Why bytes of one file, and not a file for each task: a million lock files would have to be made and
// removed. Why fcntl() and not flock(): only fcntl() locks bytes, and NFS and Lustre pass it on to the other
// machines. It is the older kind of lock, which a process loses when it closes any descriptor of the file;
// nothing else here opens that file. A child of ours does not inherit the lock; it dies with its parent.

#include "batch/task_locks.hpp"

#include "batch/fnv.hpp"
#include "batch/results_folder.hpp"
#include "batch/row_files.hpp"
#include "core/error.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tutti::batch {
namespace {

constexpr off_t kToTheEnd = 0;

off_t byte_of(const std::string& key) { return static_cast<off_t>(fnv(key) >> 2U); }

bool set_lock(int file, short kind, off_t begin, off_t length) {
    struct flock range {};
    range.l_type = kind;
    range.l_whence = SEEK_SET;
    range.l_start = begin;
    range.l_len = length;
    return ::fcntl(file, F_SETLK, &range) == 0 || (errno != EACCES && errno != EAGAIN);
}

}  // namespace

TaskLocks::TaskLocks(const std::string& results) {
    const std::filesystem::path path = tasks_folder(results) / "lock";
    make_folder(path.parent_path());
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0)
        throw OutputError("cannot be opened: " + std::generic_category().message(errno), {}, path.string());
}

TaskLocks::~TaskLocks() { ::close(file_); }

bool TaskLocks::lock(const std::string& key) const { return set_lock(file_, F_WRLCK, byte_of(key), 1); }
void TaskLocks::unlock(const std::string& key) const { (void)set_lock(file_, F_UNLCK, byte_of(key), 1); }
bool TaskLocks::lock_all() const { return set_lock(file_, F_WRLCK, 0, kToTheEnd); }
void TaskLocks::unlock_all() const { (void)set_lock(file_, F_UNLCK, 0, kToTheEnd); }

}  // namespace tutti::batch
